import { expect, test } from "vitest";
import { joinRecords, type RecordRow } from "./write-records.ts";

const row = (id: string, outcome: string, rest: Partial<RecordRow> = {}): RecordRow => ({
  id,
  store_id: "store",
  realm_id: "realm",
  profile_id: null,
  profile_name: null,
  reference: "ABCD-EFGH",
  outcome,
  reason: null,
  error: null,
  checks: "[]",
  timings: "{}",
  customer_id: null,
  by_stranger: 0,
  counted: 1,
  redirect_uri: null,
  browser: null,
  operating_system: null,
  network: null,
  email_digest: null,
  test: null,
  idp_answer: null,
  request_id: null,
  key_id: null,
  of_members: null,
  started_at: 1,
  updated_at: 1,
  ...rest,
});

test("an attempt and its exchange that both wait become one record", () => {
  const attempt = row("a", "code_issued", { checks: '["seen"]', timings: '{"token":3}', profile_name: "Co" });
  const exchange = row("a", "exchanged", { customer_id: "ada", updated_at: 5, started_at: 4 });
  expect(joinRecords([attempt], [exchange])).toEqual({
    attempts: [{ ...attempt, outcome: "exchanged", customer_id: "ada", updated_at: 5 }],
    exchanges: [],
  });
});

test("the last of several exchanges of one code is kept", () => {
  const replayed = row("a", "exchanged", { reason: "code_replayed", customer_id: "ada", updated_at: 9 });
  const { attempts } = joinRecords(
    [row("a", "code_issued")],
    [row("a", "exchanged", { updated_at: 5 }), replayed],
  );
  expect(attempts[0]).toMatchObject({ reason: "code_replayed", updated_at: 9 });
});

test("an exchange is written alone if it failed, or if its attempt is elsewhere or has failed", () => {
  const attempts = [row("a", "code_issued"), row("b", "failed")];
  const exchanges = [row("a", "failed"), row("b", "exchanged"), row("c", "exchanged")];
  expect(joinRecords(attempts, exchanges)).toEqual({ attempts, exchanges });
});
