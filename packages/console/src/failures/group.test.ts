import type { SignOn } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { groupFailures } from "./group.ts";

const failed = (reason: string, profile: string | null, at: string) =>
  ({
    reason,
    profile_id: profile,
    profile_name: profile,
    meta: { timestamps: { started_at: at, updated_at: at } },
  }) as SignOn;

test("failures are grouped by reason and provider, what fails most first, with the newest as the example", () => {
  const groups = groupFailures([
    failed("id_token.aud", "a", "2026-01-03"),
    failed("claims.email", "a", "2026-01-01"),
    failed("claims.email", "a", "2026-01-05"),
    failed("claims.email", "b", "2026-01-04"),
  ]);
  expect(groups.map(({ reason, profileId, count }) => [reason, profileId, count])).toEqual([
    ["claims.email", "a", 2],
    ["claims.email", "b", 1],
    ["id_token.aud", "a", 1],
  ]);
  expect(groups[0]?.example.meta.timestamps.started_at).toBe("2026-01-05");
});
