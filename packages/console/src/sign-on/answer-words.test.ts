import { expect, test } from "vitest";
import { answerInWords } from "./answer-words.ts";

test.each([
  [{ status: 400, fault: null, error: "invalid_grant" }, "HTTP 400"],
  [{ status: 200, fault: "not_json", error: null }, "HTTP 200 (not json)"],
  [{ status: null, fault: "timed_out", error: null }, "no answer (timed out)"],
  [{ status: null, fault: null, error: "access_denied" }, ""],
])("%j: %j; an error is an answer, even without a status", (answer, words) => {
  expect(answerInWords(answer)).toBe(words);
});
