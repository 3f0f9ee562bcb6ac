import { describe, expect, test } from "vitest";
import { faultOf, lastWeek, periodOf } from "./period.ts";

const now = { atMs: Date.parse("2026-11-19T22:30Z"), zone: "Europe/Berlin" };
const of = (search: string, at = now) => periodOf(new URLSearchParams(search), at);
const iso = (at: number) => new Date(at).toISOString();
const timesOf = (search: string, at = now) => {
  const period = of(search, at);
  if (period.id !== "dates") throw new Error("no days");
  return [period.step, iso(period.from), iso(period.to)];
};

describe("the period of an address", () => {
  test("is the last 24 hours, or another known range", () => {
    expect(of("")).toMatchObject({ id: "day", step: "hour", name: "the last 24 hours" });
    expect(of("range=month")).toMatchObject({ id: "month", step: "day", beforeName: "the 30 days before" });
    for (const search of ["range=constructor", "range=dates", "from=2026-11-01", "from=x&to=y"])
      expect(of(search).id, search).toBe("day");
  });

  test("a few days are hours from the reader's midnight to midnight", () => {
    expect(timesOf("from=2026-11-18&to=2026-11-19")).toEqual([
      "hour",
      "2026-11-17T23:00:00.000Z",
      "2026-11-19T23:00:00.000Z",
    ]);
    expect(of("from=2026-11-18&to=2026-11-18").beforeName).toBe("the day before");
    expect(of("from=2026-11-17&to=2026-11-19").beforeName).toBe("the 3 days before");
  });

  test("the day on which summer time ends has 25 hours, the day on which it begins 23", () => {
    expect(timesOf("from=2026-10-25&to=2026-10-25")).toEqual([
      "hour",
      "2026-10-24T22:00:00.000Z",
      "2026-10-25T23:00:00.000Z",
    ]);
    const spring = { ...now, atMs: Date.parse("2026-04-01T12:00Z") };
    expect(timesOf("from=2026-03-29&to=2026-03-29", spring)).toEqual([
      "hour",
      "2026-03-28T23:00:00.000Z",
      "2026-03-29T22:00:00.000Z",
    ]);
  });

  test("more days, and days whose hours are not kept, are UTC days", () => {
    expect(timesOf("from=2026-11-01&to=2026-11-19")).toEqual([
      "day",
      "2026-11-01T00:00:00.000Z",
      "2026-11-20T00:00:00.000Z",
    ]);
    expect(timesOf("from=2026-02-01&to=2026-02-02")[0]).toBe("day");
  });
});

describe("days that are no period", () => {
  test.each([
    ["", "2026-11-19", "Enter both days."],
    ["2026-11-19", "2026-11-18", "The first day comes after the last day. Exchange them."],
    ["2024-01-01", "2026-01-01", "These are 732 days. Choose at most 400."],
    // 23:30 in Berlin: the next day has not begun there.
    ["2026-11-20", "2026-11-20", "This time has not come yet."],
  ])("from %s to %s: %s", (from, to, fault) => expect(faultOf({ from, to }, now)).toBe(fault));

  test("today is one, on the reader's calendar", () => {
    expect(faultOf({ from: "2026-11-19", to: "2026-11-19" }, now)).toBeUndefined();
    expect(faultOf({ from: "2026-11-20", to: "2026-11-20" }, { ...now, zone: "Asia/Tokyo" })).toBeUndefined();
  });

  test("the fields begin with the last seven days", () => {
    expect(lastWeek(now)).toEqual({ from: "2026-11-13", to: "2026-11-19" });
  });
});
