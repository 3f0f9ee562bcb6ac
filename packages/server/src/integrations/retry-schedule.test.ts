import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DELAYS_MS, delayAfter, readRetryAfter } from "./retry-schedule.ts";

const HOUR = 3600_000;

describe("the next attempt", () => {
  test("comes after 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h (wire 17)", () => {
    expect(DELAYS_MS.map((ms) => ms / 1000)).toEqual([
      0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]);
    expect(delayAfter(1, undefined, () => 0.5)).toBe(5000);
    expect(delayAfter(9, undefined, () => 0.5)).toBe(24 * HOUR);
  });

  test("does not come after the tenth", () => {
    expect(delayAfter(10, undefined, Math.random)).toBeUndefined();
    expect(delayAfter(10, HOUR, Math.random)).toBeUndefined();
  });

  test("is up to a fifth sooner or later", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (tries, chance) => {
          const delay = delayAfter(tries, undefined, () => chance) ?? 0;
          const usual = DELAYS_MS[tries] ?? 0;
          expect(delay).toBeGreaterThanOrEqual(Math.floor(usual * 0.8));
          expect(delay).toBeLessThanOrEqual(Math.ceil(usual * 1.2));
        },
      ),
    );
  });

  test("waits for what the receiver asks, where that is longer, but a day at most", () => {
    expect(delayAfter(1, 60_000, () => 0.5)).toBe(60_000);
    expect(delayAfter(3, 60_000, () => 0.5)).toBe(HOUR / 2);
    expect(delayAfter(1, 1e15, () => 0.5)).toBe(24 * HOUR);
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  test.each([
    ["120", 120_000],
    ["0", 0],
    ["Thu, 01 Jan 2026 00:10:00 GMT", 600_000],
    ["Wed, 31 Dec 2025 00:10:00 GMT", 0],
    [undefined, undefined],
    ["soon", undefined],
    ["-5", undefined],
    ["1e9", undefined],
    ["99999999999999", undefined],
    ["2027", 2_027_000],
  ])("%s is %s ms", (value, expected) => expect(readRetryAfter(value, now)).toBe(expected));
});
