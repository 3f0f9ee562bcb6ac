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
  expect(whyNot("run_checks")).toBe("Only support and administrators can do this.");
  expect(whyNot("administer")).toBe("Read-only: only administrators can change this.");
  expect(whyNot("administer", true)).toBe("Only administrators can use this page.");
});
