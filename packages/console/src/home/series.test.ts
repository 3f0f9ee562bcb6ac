import { describe, expect, test } from "vitest";
import type { Entry, Figures } from "./figures.ts";
import { barsOf, changeInWords, comparedOf, stepsInBar, sumOf, totalOf } from "./series.ts";

const HOUR = 3_600_000;
const FROM = Date.parse("2026-01-01T00:00Z");
const entry = (hour: number, id: string | null, outcomes: Record<string, number>): Entry => ({
  at: FROM + hour * HOUR,
  id,
  outcomes,
  idpMs: { p50: null, p95: null },
});
/** Four hours, the last one under way, and the four hours before. */
const figures = (more: Partial<Figures> = {}): Figures => ({
  step: "hour",
  from: FROM,
  to: FROM + 4 * HOUR,
  doneTo: FROM + 3 * HOUR,
  shiftMs: 4 * HOUR,
  hasBefore: true,
  keptFrom: 0,
  entries: [
    entry(-4, "a", { exchanged: 7, started: 9 }),
    entry(-1, "a", { exchanged: 100 }),
    entry(1, "a", { exchanged: 3, failed: 1, started: 6 }),
    entry(1, "b", { exchanged: 2, expired: 1 }),
    entry(3, "a", { code_issued: 1, something_new: 9 }),
  ],
  ...more,
});
const countsOf = (of: Figures, id?: string) =>
  barsOf(of, id).map(({ signedIn, unfinished, failed }) => [signedIn, unfinished, failed]);

describe("bars", () => {
  test("every step has one, even without sign-ons; providers are summed; `started` is no sign-on", () => {
    expect(countsOf(figures())).toEqual([
      [0, 0, 0],
      [5, 1, 1],
      [0, 0, 0],
      [0, 1, 0],
    ]);
    const sum = sumOf(barsOf(figures()));
    expect([sum, totalOf(sum)]).toEqual([{ signedIn: 5, unfinished: 2, failed: 1 }, 8]);
  });

  test("one provider alone leaves the others out", () => {
    expect(countsOf(figures(), "b")).toEqual([
      [0, 0, 0],
      [2, 1, 0],
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  test("each has the same step of the time before, or none where no figures are kept", () => {
    expect(barsOf(figures()).map(({ before }) => before)).toEqual([7, 0, 0, 100]);
    expect(barsOf(figures({ hasBefore: false })).map(({ before }) => before)).toEqual(
      Array(4).fill(undefined),
    );
  });

  test("the step that is not over is marked", () => {
    expect(barsOf(figures()).map(({ isUnderWay }) => isUnderWay)).toEqual([false, false, false, true]);
    const over = figures({ doneTo: FROM + 4 * HOUR });
    expect(barsOf(over).some(({ isUnderWay }) => isUnderWay)).toBe(false);
  });

  test("have several steps if there are many, and no sign-on is lost", () => {
    const entries = Array.from({ length: 168 }, (_, hour) => entry(hour, "a", { exchanged: 1 }));
    const week = figures({ to: FROM + 168 * HOUR, doneTo: FROM + 167 * HOUR, entries });
    expect(stepsInBar(week)).toBe(3);
    const bars = barsOf(week);
    expect(bars).toHaveLength(56);
    expect(bars.every(({ signedIn }) => signedIn === 3)).toBe(true);
    expect(bars.at(-1)).toMatchObject({ to: week.to, isUnderWay: true });
    expect(barsOf({ ...week, to: FROM + 167 * HOUR }).at(-1)?.to).toBe(FROM + 167 * HOUR);
  });

  test("a day of 23 or 25 hours has a bar for each of its hours", () => {
    for (const hours of [23, 25]) expect(barsOf(figures({ to: FROM + hours * HOUR }))).toHaveLength(hours);
  });
});

describe("the comparison", () => {
  test("leaves out the step under way, in both times", () => {
    expect(comparedOf(figures())).toEqual({ now: 7, before: 7 });
    expect(comparedOf(figures(), "b")).toEqual({ now: 3, before: 0 });
  });

  test("is none without a step that is over, or without figures of the time before", () => {
    expect(comparedOf(figures({ doneTo: FROM }))).toBeUndefined();
    expect(comparedOf(figures({ hasBefore: false }))).toBeUndefined();
  });

  test.each([
    [0, 0, "None in the hour before"],
    [5, 0, "None in the hour before"],
    [5, 5, "As many as in the hour before"],
    [112, 100, "12 % more than in the hour before"],
    [299, 100, "199 % more than in the hour before"],
    [300, 100, "3 times as many as in the hour before"],
    [1234, 100, "12 times as many as in the hour before"],
    [88, 100, "12 % fewer than in the hour before"],
    [0, 100, "100 % fewer than in the hour before"],
    [1, 1000, "Over 99 % fewer than in the hour before"],
    [100_001, 100_000, "Almost as many as in the hour before"],
  ])("%d after %d: %s", (now, before, words) => {
    expect(changeInWords({ now, before }, "the hour before")).toBe(words);
  });
});
