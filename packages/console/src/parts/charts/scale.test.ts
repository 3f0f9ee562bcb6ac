import { describe, expect, test } from "vitest";
import { countTicks, tickCount, timeTicks } from "./scale.ts";
import { utcMidnight, whenInWords } from "./when.ts";

const HOUR = 3_600_000;
const at = (instant: string) => Date.parse(instant);
const labels = (from: string, to: string, step: "minute" | "hour" | "day", zone = "UTC") =>
  timeTicks(at(from), at(to), step, { zone, locale: "en-GB" }).map(({ label }) => label);

describe("the ticks of counts", () => {
  test.each([
    [0, [0, 1, 2]],
    [1, [0, 1, 2]],
    [3, [0, 1, 2, 3]],
    [5, [0, 2, 4, 6]],
    [11, [0, 5, 10, 15]],
    [21, [0, 10, 20, 30]],
    [400, [0, 100, 200, 300, 400]],
    [100_001, [0, 50_000, 100_000, 150_000]],
  ])("to %d are %j", (top, ticks) => expect(countTicks(top)).toEqual(ticks));

  test("are 3 to 5, whole, evenly apart, and reach the top", () => {
    for (let top = 0; top < 3000; top++) {
      const ticks = countTicks(top);
      expect(ticks.length, String(top)).toBeGreaterThanOrEqual(3);
      expect(ticks.length, String(top)).toBeLessThanOrEqual(5);
      expect(ticks.at(-1), String(top)).toBeGreaterThanOrEqual(top);
      expect(ticks.every(Number.isInteger), String(top)).toBe(true);
      expect(new Set(ticks.slice(1).map((tick, i) => tick - (ticks[i] ?? 0))).size, String(top)).toBe(1);
    }
  });

  test("are all short, if the highest is ten thousand or more", () => {
    const words = (...ticks: number[]) => ticks.map((tick) => tickCount(tick, ticks.at(-1) ?? 0));
    expect(words(0, 2000, 4000)).toEqual(["0", "2,000", "4,000"]);
    expect(words(0, 5000, 10_000)).toEqual(["0", "5K", "10K"]);
    expect(words(0, 1_000_000, 2_500_000)).toEqual(["0", "1M", "2.5M"]);
  });
});

describe("the ticks of time", () => {
  test("are round on the reader's clock, and midnight shows the day", () => {
    const day = ["2026-01-01T14:00Z", "2026-01-02T14:00Z"] as const;
    expect(labels(...day, "hour")).toEqual([
      "15:00",
      "18:00",
      "21:00",
      "2 Jan",
      "03:00",
      "06:00",
      "09:00",
      "12:00",
    ]);
    expect(labels(...day, "hour", "America/New_York")).toContain("2 Jan");
    expect(labels("2026-01-01T10:07Z", "2026-01-01T11:07Z", "minute")).toEqual([
      "10:10",
      "10:20",
      "10:30",
      "10:40",
      "10:50",
      "11:00",
    ]);
  });

  test("are round also where the clock is half an hour or a quarter off", () => {
    const ticks = (zone: string) => labels("2026-01-01T14:00Z", "2026-01-02T14:00Z", "hour", zone);
    for (const zone of ["Asia/Kolkata", "Asia/Kathmandu"])
      for (const label of ticks(zone)) expect(label).toMatch(/^(\d\d:00|2 Jan)$/);
  });

  test("stay round when summer time begins and ends", () => {
    for (const day of ["2026-03-29", "2026-10-25"]) {
      const ticks = timeTicks(at(`${day}T00:00Z`) - HOUR, at(`${day}T00:00Z`) + 24 * HOUR, "hour", {
        zone: "Europe/Berlin",
        locale: "en-GB",
      });
      expect(ticks.length).toBeLessThanOrEqual(9);
      for (const { label } of ticks) expect(label).toMatch(/^(\d\d:00|\d+ \w+)$/);
    }
  });

  test("of days are UTC days, whatever the reader's zone", () => {
    const days = ["2026-01-01T00:00Z", "2026-01-31T00:00Z"] as const;
    expect(labels(...days, "day", "Pacific/Auckland")).toEqual([
      "1 Jan",
      "8 Jan",
      "15 Jan",
      "22 Jan",
      "29 Jan",
    ]);
    expect(labels(...days, "day", "America/Los_Angeles")).toEqual(labels(...days, "day"));
  });
});

describe("the time of a bar", () => {
  const reader = { zone: "Europe/Berlin", locale: "en-GB" };

  test("has hours of the reader's clock", () => {
    const words = whenInWords(at("2026-01-01T14:00Z"), at("2026-01-01T15:00Z"), "hour", reader);
    expect(words.replaceAll(/\s/g, " ")).toMatch(/^Thu,? 1 Jan, 15:00 ?– ?16:00$/);
  });

  test("has UTC days, and the last day is part of it", () => {
    const days = (to: string) => whenInWords(at("2026-01-01T00:00Z"), at(to), "day", reader);
    expect(days("2026-01-02T00:00Z")).toMatch(/^Thu,? 1 Jan$/);
    expect(days("2026-01-08T00:00Z")).toMatch(/7 Jan$/);
  });

  test("says at which hour a UTC day begins, if that is not midnight", () => {
    const winter = at("2026-01-01T00:00Z");
    expect(utcMidnight(winter, reader)).toBe("01:00");
    expect(utcMidnight(winter, { ...reader, zone: "Europe/London" })).toBeUndefined();
  });
});
