import { expect, test } from "vitest";
import { signOnReasons } from "../../../server/src/contract/sign-on-reasons.ts";
import { checkInWords } from "./check-words.ts";

/** A check that fails is called as its reason, but for these, which are one check with two. */
const NO_CHECKS = ["id_token.auth_time_missing"];

test.each(
  Object.keys(signOnReasons).filter((reason) => /^id_token\./.test(reason) && !NO_CHECKS.includes(reason)),
)("the check %s of an ID token is said in words", (check) => {
  expect(checkInWords(check)).not.toBe(check);
});
