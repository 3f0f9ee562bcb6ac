import { expect, test } from "vitest";
import { createLongLists } from "./long-lists.ts";

test("a list counts as long for a minute, however often it is read", () => {
  let nowMs = 5;
  const longLists = createLongLists(() => nowMs);
  expect(longLists.has("customers")).toBe(false);
  longLists.add("customers");
  for (const at of [5, 30_000, 60_004]) {
    nowMs = at;
    expect(longLists.has("customers"), String(at)).toBe(true);
    expect(longLists.has("keys"), String(at)).toBe(false);
  }
  nowMs = 60_005;
  expect(longLists.has("customers")).toBe(false);
});
