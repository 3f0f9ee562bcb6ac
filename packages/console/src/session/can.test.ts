import { expect, test } from "vitest";
import { type Act, may, whyNot } from "./can.ts";

const acts: Act[] = ["revoke_tokens", "run_checks", "test_sign_on", "redeliver", "administer"];

test.each([
  ["viewer", []],
  ["support", ["revoke_tokens", "run_checks", "test_sign_on", "redeliver"]],
  ["administrator", acts],
] as const)("%s may do %j and nothing else", (role, allowed) => {
  expect(acts.filter((act) => may(role, act))).toEqual(allowed);
});

test("an act that is not offered names the role that may use it", () => {
  expect(whyNot("viewer", "run_checks")).toContain("support and administrators");
  expect(whyNot("support", "administer")).toContain("for administrators");
});
