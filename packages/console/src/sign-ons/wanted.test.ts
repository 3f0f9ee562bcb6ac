import { expect, test } from "vitest";
import { filterOf, isNarrowed, outcomesOf, readWanted } from "./wanted.ts";

const PROFILE = "019a0000-0000-7000-8000-000000000001";
const read = (search: string) => readWanted(new URLSearchParams(search));

test.each([
  ["", "eq(purpose,customers):eq(test,false):eq(outcome,sign_on)"],
  ["people=members", "eq(purpose,members):eq(test,false):eq(outcome,sign_on)"],
  ["outcome=logout_refused", "eq(purpose,customers):eq(test,false):eq(outcome,logout_refused)"],
  ["people=tests&outcome=tested", "eq(test,true):eq(outcome,tested)"],
  ["outcome=signed_in", "eq(purpose,customers):eq(test,false):eq(outcome,exchanged)"],
  ["outcome=not_finished", "eq(purpose,customers):eq(test,false):eq(outcome,not_finished)"],
  ["outcome=code_issued", "eq(purpose,customers):eq(test,false):eq(outcome,code_issued)"],
  [
    `outcome=failed&provider=${PROFILE}&reason=claims.email_missing`,
    `eq(purpose,customers):eq(test,false):eq(outcome,failed):eq(profile_id,${PROFILE}):eq(reason,claims.email_missing)`,
  ],
  [`key=${PROFILE}`, `eq(purpose,customers):eq(test,false):eq(outcome,sign_on):eq(key_id,${PROFILE})`],
  [
    "from=2026-11-19T08:00:00.000Z&to=2026-11-19T09:00:00.000Z",
    "eq(purpose,customers):eq(test,false):eq(outcome,sign_on):ge(started_at,2026-11-19T08:00:00.000Z):lt(started_at,2026-11-19T09:00:00.000Z)",
  ],
])("%j asks for %s", (search, filter) => {
  expect(filterOf(read(search))).toBe(filter);
});

test("what the console does not know is dropped, and no text ends the filter's condition", () => {
  expect(read("people=all&outcome=lost&provider=x&key=y&from=now")).toEqual(read(""));
  expect(filterOf(read("reason=a):eq(test,true)"))).toBe(
    "eq(purpose,customers):eq(test,false):eq(outcome,sign_on):eq(reason,a) :eq(test,true))",
  );
});

test("people alone do not narrow the list", () => {
  expect([isNarrowed(read("people=tests")), isNarrowed(read("reason=idp_error"))]).toEqual([false, true]);
});

test("a test sign-on has an outcome of its own", () => {
  const values = (people: "shoppers" | "tests") => outcomesOf(people).map(({ value }) => value);
  expect(values("tests")).toContain("tested");
  expect(values("shoppers")).not.toContain("tested");
});
