import { expect, test } from "vitest";
import { whyNoMore } from "./delivery-words.ts";

test.each([
  ["waiting", null, true, undefined],
  ["waiting", null, false, "Waits until the integration is enabled."],
  ["delivered", null, false, undefined],
  ["failed", "gone", false, "Given up: the receiver answered 410 (gone)."],
  ["failed", "event_forgotten", true, "Given up: the event was deleted from the log, so there is nothing to send."],
] as const)("%s, %s, enabled: %j: %s", (status, reason, isEnabled, words) => {
  expect(whyNoMore({ status, reason }, isEnabled)).toBe(words);
});
