import { expect, test } from "vitest";
import { addDays, dayOf, dayStart, offsetMs, utcDay } from "./zone.ts";

const HOUR = 3_600_000;
const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());

test("the offset is that of the instant, in summer and in winter", () => {
  expect(offsetMs(Date.parse("2026-01-01T12:00Z"), "Europe/Berlin")).toBe(HOUR);
  expect(offsetMs(Date.parse("2026-07-01T12:00Z"), "Europe/Berlin")).toBe(2 * HOUR);
  expect(offsetMs(Date.parse("2026-07-01T12:00:00.750Z"), "Asia/Kathmandu")).toBe(5.75 * HOUR);
  expect(offsetMs(Date.parse("2026-01-01T12:00Z"), "America/New_York")).toBe(-5 * HOUR);
});

test.each([
  ["2026-01-01", "UTC", "2026-01-01T00:00:00.000Z"],
  ["2026-01-01", "Europe/Berlin", "2025-12-31T23:00:00.000Z"],
  ["2026-01-01", "Asia/Kolkata", "2025-12-31T18:30:00.000Z"],
  ["2026-01-01", "America/New_York", "2026-01-01T05:00:00.000Z"],
  // The clock changes within these days, so the day before and after have other offsets.
  ["2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00.000Z"],
  ["2026-03-30", "Europe/Berlin", "2026-03-29T22:00:00.000Z"],
  ["2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00.000Z"],
  ["2026-10-26", "Europe/Berlin", "2026-10-25T23:00:00.000Z"],
])("%s in %s begins at %s", (day, zone, start) => {
  expect(iso(dayStart(day, zone))).toBe(start);
  expect(dayOf(Date.parse(start), zone)).toBe(day);
  expect(dayOf(Date.parse(start) - 1, zone)).toBe(addDays(day, -1));
});

test("a day that is not in the calendar is none", () => {
  for (const day of ["2026-02-30", "2026-13-01", "26-01-01", "", "today"]) {
    expect(utcDay(day), day).toBeUndefined();
    expect(dayStart(day, "UTC"), day).toBeUndefined();
  }
});

test("days are counted over the ends of months and years", () => {
  expect([addDays("2026-02-28", 1), addDays("2024-02-28", 1), addDays("2026-01-01", -1)]).toEqual([
    "2026-03-01",
    "2024-02-29",
    "2025-12-31",
  ]);
});
