import { expect, test } from "vitest";
import { inShort } from "./foresight.ts";

const key = (name: string, before: number, after: number) => ({
  id: name,
  name,
  reserved_rate_limit: { before: 0, after: 0 },
  asked: 100,
  refused: { before, after },
});

test.each([
  [[key("A", 0, 0)], "No request was refused, and none would have been."],
  [[key("A", 3, 3)], "The same requests would have been refused."],
  [[key("A", 3, 0)], "A would have had fewer requests refused."],
  [[key("A", 0, 3)], "A would have had more requests refused."],
  [
    [key("A", 9, 0), key("B", 0, 9), key("C", 1, 2)],
    "A would have had fewer requests refused, B and C more.",
  ],
])("the sentence names the keys that gain and lose (%#)", (keys, words) => {
  expect(inShort({ keys })).toBe(words);
});
