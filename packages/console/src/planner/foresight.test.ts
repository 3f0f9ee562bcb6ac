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
  [[key("A", 0, 0)], "Nobody was refused anything, and nobody would have been."],
  [[key("A", 3, 3)], "It would have changed nothing of what was refused."],
  [[key("A", 3, 0)], "A would have been refused less."],
  [[key("A", 0, 3)], "A would have been refused more."],
  [[key("A", 9, 0), key("B", 0, 9), key("C", 1, 2)], "A would have been refused less, B and C more."],
])("the sentence names the keys that gain and lose (%#)", (keys, words) => {
  expect(inShort({ keys })).toBe(words);
});
