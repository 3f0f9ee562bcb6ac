import { expect, test } from "vitest";
import { lastAnswer, whyNoMore } from "./delivery-words.ts";

test.each([
  ["waiting", null, true, undefined],
  ["waiting", null, false, "Waits until the integration is enabled."],
  ["delivered", null, false, undefined],
  ["failed", "gone", false, "Given up: the receiver answered 410 (gone)."],
  [
    "failed",
    "event_forgotten",
    true,
    "Given up: the event was deleted from the log, so there is nothing to send.",
  ],
] as const)("%s, %s, enabled: %j: %s", (status, reason, isEnabled, words) => {
  expect(whyNoMore({ status, reason }, isEnabled)).toBe(words);
});

test("the last answer is its status, or that there was none", () => {
  expect([undefined, { status: null }, { status: 503 }].map(lastAnswer)).toEqual(["", "no answer", "503"]);
});
