import type { SignOn, SignOnStatistics } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { groupFailures } from "./group.ts";

const entry = (profile_id: string | null, reasons: Record<string, number>) => ({
  from: "2026-01-01T00:00:00.000Z",
  profile_id,
  outcomes: {},
  reasons,
  idp_ms: { p50: null, p95: null },
});
const record = (reference: string, reason: string, profile_id: string) =>
  ({ reference, reason, profile_id }) as SignOn;

test("failures are summed by reason and provider, the largest first, with a record that explains the reason", () => {
  const statistics = {
    data: [
      entry("a", { "claims.email": 2, "id_token.aud": 1 }),
      entry("b", { "claims.email": 1 }),
      entry("a", { "claims.email": 3 }),
      entry(null, { scope_incomplete: 4 }),
    ],
  } as unknown as SignOnStatistics;
  const latest = [record("one", "claims.email", "b"), record("two", "claims.email", "a")];
  const groups = groupFailures(statistics, latest);
  expect(groups.map(({ reason, profileId, count }) => [reason, profileId, count])).toEqual([
    ["claims.email", "a", 5],
    ["scope_incomplete", null, 4],
    ["claims.email", "b", 1],
    ["id_token.aud", "a", 1],
  ]);
  expect(groups.map(({ example }) => example?.reference)).toEqual(["two", undefined, "one", undefined]);
});

test("a provider has the name in its own records, even if another provider's record explains the reason", () => {
  const statistics = {
    data: [entry("gone", { "id_token.exp": 2 }), entry("other", { "id_token.exp": 1 })],
  } as unknown as SignOnStatistics;
  const latest = [{ ...record("one", "id_token.exp", "other"), profile_name: "Other" }];
  const named = (records: SignOn[]) =>
    groupFailures(statistics, records).map(({ profileName, example }) => [profileName, example?.reference]);
  expect(named(latest)).toEqual([
    [undefined, "one"],
    ["Other", "one"],
  ]);
  const itsOwn = { ...record("two", "claims.email", "gone"), profile_name: "Gone" };
  expect(named([...latest, itsOwn])[0]).toEqual(["Gone", "one"]);
});
