import { expect, test } from "vitest";
import { duration, exactly, formsOf, inWords } from "./instants.ts";

const now = Date.parse("2026-11-16T12:00:00.000Z");
const forms = formsOf(["en-GB"], "UTC");

test.each([
  ["2026-11-16T11:59:30.000Z", "just now"],
  ["2026-11-16T11:57:00.000Z", "3 minutes ago"],
  ["2026-11-15T12:00:00.000Z", "1 day ago"],
  ["2026-11-14T13:00:00.000Z", "1 day ago"],
  ["2026-11-10T12:00:00.000Z", "6 days ago"],
  ["2026-11-01T12:00:00.000Z", "1 Nov 2026"],
])("%s is %s", (at, words) => {
  expect(inWords(at, now, { forms })).toBe(words);
});

test.each([
  ["2026-11-16T12:00:20.000Z", "in a moment"],
  ["2026-11-16T14:00:00.000Z", "in 2 hours"],
  ["2026-12-16T12:00:00.000Z", "16 Dec 2026"],
  ["2026-11-16T11:59:50.000Z", "just now"],
])("%s, which lies ahead, is %s", (at, words) => {
  expect(inWords(at, now, { isAhead: true, forms })).toBe(words);
});

test("an instant of the past is never ahead, even if this machine's clock is slow", () => {
  expect(inWords("2026-11-16T12:00:20.000Z", now, { forms })).toBe("just now");
  expect(inWords("2026-11-16T14:00:00.000Z", now, { forms })).toBe("16 Nov 2026, 14:00:00 UTC");
});

test.each([
  ["de-DE", "Europe/Berlin", "16.11.2026", "16.11.2026, 13:00:00 MEZ"],
  ["en-US", "America/New_York", "Nov 16, 2026", "Nov 16, 2026, 7:00:00 AM EST"],
  ["en-GB", "Asia/Kolkata", "16 Nov 2026", "16 Nov 2026, 17:30:00 GMT+5:30"],
  ["ja-JP", "Asia/Tokyo", "2026/11/16", "2026/11/16 21:00:00 JST"],
  ["fr-FR", "America/St_Johns", "16 nov. 2026", "16 nov. 2026, 08:30:00 UTC−3:30"],
])("a reader of %s in %s gets dates in their own form", (language, timeZone, day, exact) => {
  const own = formsOf([language], timeZone);
  expect([inWords(now, now + 9e9, { forms: own }), exactly(now, own).replaceAll("\u{202f}", " ")]).toEqual([
    day,
    exact,
  ]);
});

test("the day is that of the reader's time zone", () => {
  const at = "2026-11-01T23:30:00.000Z";
  const dayIn = (timeZone: string) => inWords(at, now, { forms: formsOf(["en-GB"], timeZone) });
  expect([dayIn("Europe/Berlin"), dayIn("America/New_York")]).toEqual(["2 Nov 2026", "1 Nov 2026"]);
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
