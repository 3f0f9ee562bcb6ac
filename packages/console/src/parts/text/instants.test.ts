import { expect, test } from "vitest";
import { duration, exactly, inWords } from "./instants.ts";

const now = Date.parse("2026-11-16T12:00:00.000Z");

test.each([
  ["2026-11-16T11:59:30.000Z", "just now"],
  ["2026-11-16T12:00:20.000Z", "in a moment"],
  ["2026-11-16T11:57:00.000Z", "3 minutes ago"],
  ["2026-11-16T14:00:00.000Z", "in 2 hours"],
  ["2026-11-15T12:00:00.000Z", "1 day ago"],
  ["2026-11-14T13:00:00.000Z", "1 day ago"],
  ["2026-11-01T12:00:00.000Z", "15 days ago"],
])("%s is %s", (at, words) => {
  expect(inWords(at, now)).toBe(words);
});

test("an exact time has its time zone", () => {
  expect(exactly("2026-11-16T12:00:00.000Z")).toMatch(/2026.* [A-Z]{2,5}([+-]\d+(:\d+)?)?$/);
  expect(exactly("2026-11-16T12:00:00.000Z")).not.toMatch(/[AP]M$/);
});

test.each([
  [423, "423 ms"],
  [1400, "1.4 s"],
  [120_000, "2 min"],
])("%d milliseconds are %s", (ms, words) => {
  expect(duration(ms)).toBe(words);
});
