import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const words = ["store", "key", "realm", "restore", "after-restore", "rotate-keys", "prove-limits"];

test.each([
  ["stor", "store"],
  ["stores", "store"],
  ["sotre", "store"],
  ["KEY", "key"],
  ["rotate-kesy", "rotate-keys"],
  ["prove", "prove-limits"],
  ["after", "after-restore"],
])("for %s the suggestion is %s", (given, meant) => expect(nearest(given, words)).toBe(meant));

test.each(["paint", "constructor", "", "x", "re"])("%j is like none of them, or like several", (given) =>
  expect(nearest(given, words)).toBeUndefined(),
);
