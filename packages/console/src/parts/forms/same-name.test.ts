import { expect, test } from "vitest";
import { isSameName } from "./same-name.ts";

test.each([
  ["several spaces, which a page shows as one", "Till  2", "Till 2"],
  ["spaces around it", " Till ", "Till"],
  ["a space that does not break", "Till\u00a02", "Till 2"],
  ["an accent that is a sign of its own", "Cafe\u0301", "Café"],
  ["a mark of direction, which nobody sees", "\u200fמפתח", "מפתח"],
  ["nothing but a sign that nobody sees, which can be pasted", "\u200b", "\u200b"],
])("a name matches as it is displayed, with %s", (_, name, typed) => {
  expect(isSameName(typed, name)).toBe(true);
});

test.each([
  ["Till", "till"],
  ["Till 2", "Till2"],
  ["Till", ""],
  ["\u200b", ""],
])("%j does not match %j", (name, typed) => {
  expect(isSameName(typed, name)).toBe(false);
});
