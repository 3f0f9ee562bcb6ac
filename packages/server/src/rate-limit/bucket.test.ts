import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { draw, fill, fullBucket, isFull, resize, secondsUntilToken, wholeTokens } from "./bucket.ts";

/** What a draw may be short of and still be served; so many draws may sum up to so many times it. */
const HAIR = 1e-6;

const rate = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.double({ min: 0.2, max: 50, noNaN: true }));
const gapMs = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 50 }),
  fc.double({ min: 0, max: 3000, noNaN: true }),
);

/** The most that was given in any window, above what `rate` brings in that window. */
function mostAboveRate(givenAtMs: readonly number[], rate: number): number {
  let most = 0;
  let least = Number.POSITIVE_INFINITY;
  givenAtMs.forEach((atMs, index) => {
    least = Math.min(least, index - (rate * atMs) / 1000);
    most = Math.max(most, index + 1 - (rate * atMs) / 1000 - least);
  });
  return most;
}

describe("for any rate, size, and sequence of draws", () => {
  test("no window passes more than the capacity plus the inflow", () => {
    const demand = fc.array(fc.record({ gapMs, draws: fc.nat(20) }), { maxLength: 60 });
    fc.assert(
      fc.property(rate, fc.integer({ min: 1, max: 60 }), demand, (rate, capacity, demand) => {
        const bucket = fullBucket(rate, capacity, 0);
        const givenAtMs: number[] = [];
        let nowMs = 0;
        for (const { gapMs, draws } of demand) {
          nowMs += gapMs;
          for (let i = 0; i < draws; i++) if (draw(bucket, nowMs)) givenAtMs.push(nowMs);
        }
        expect(mostAboveRate(givenAtMs, rate)).toBeLessThanOrEqual(capacity + givenAtMs.length * HAIR + 1e-9);
      }),
    );
  });

  test("a demand of at most the rate in any second is never refused, if the bucket holds a second's worth", () => {
    const gaps = fc.array(gapMs, { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(3), gaps, (rate, more, gaps) => {
        const bucket = fullBucket(rate, rate + more, 0);
        const askedAtMs: number[] = [];
        let nowMs = 0;
        for (const gapMs of gaps) {
          nowMs += gapMs;
          // The one `rate` places back must be a second ago; otherwise this one waits until it is.
          const before = askedAtMs.at(-rate);
          if (before !== undefined) nowMs = Math.max(nowMs, before + 1000);
          askedAtMs.push(nowMs);
          expect(draw(bucket, nowMs)).toBe(true);
        }
      }),
    );
  });

  test("a bucket under constant demand gives its rate", () => {
    fc.assert(
      fc.property(rate, fc.integer({ min: 2, max: 10 }), (rate, capacity) => {
        const bucket = fullBucket(rate, capacity, 0);
        let given = 0;
        for (let nowMs = 0; nowMs <= 10_000; nowMs += 1) if (draw(bucket, nowMs)) given++;
        expect(Math.abs(given - (capacity + rate * 10))).toBeLessThan(1 + HAIR);
      }),
      { numRuns: 30 },
    );
  });

  test("a clock that goes back changes nothing", () => {
    fc.assert(
      fc.property(rate, fc.nat(5), fc.nat(100_000), (rate, draws, backMs) => {
        const bucket = fullBucket(rate, 5, 100_000);
        for (let i = 0; i < draws; i++) draw(bucket, 100_000);
        const before = { ...bucket };
        fill(bucket, 100_000 - backMs);
        expect(bucket).toEqual(before);
        expect(draw(bucket, 100_000 - backMs)).toBe(draws < 5);
        expect(bucket.filledAtMs).toBe(100_000);
      }),
    );
  });
});

test("a new bucket is full: it gives its capacity at once, and no more", () => {
  const bucket = fullBucket(10, 3, 0);
  expect(isFull(bucket)).toBe(true);
  expect([1, 2, 3, 4].map(() => draw(bucket, 0))).toEqual([true, true, true, false]);
  expect(isFull(bucket)).toBe(false);
});

test("tokens come at the rate, as whole tokens, up to the capacity", () => {
  const bucket = fullBucket(10, 3, 0);
  for (let i = 0; i < 3; i++) draw(bucket, 0);
  expect(draw(bucket, 99)).toBe(false);
  expect(draw(bucket, 100)).toBe(true);
  fill(bucket, 100_000);
  expect(wholeTokens(bucket)).toBe(3);
});

test("a bucket is full only at its capacity", () => {
  const bucket = fullBucket(10, 3, 0);
  draw(bucket, 0);
  fill(bucket, 99);
  expect(isFull(bucket)).toBe(false);
  fill(bucket, 100);
  expect(isFull(bucket)).toBe(true);
});

test("ten tenths are a whole token: a rounding error does not refuse", () => {
  const bucket = fullBucket(0.1, 1, 0);
  draw(bucket, 0);
  for (let nowMs = 1000; nowMs < 10_000; nowMs += 1000) fill(bucket, nowMs);
  fill(bucket, 10_000);
  expect(bucket.tokens).toBeLessThan(1);
  expect(wholeTokens(bucket)).toBe(1);
  expect(draw(bucket, 10_000)).toBe(true);
  expect(bucket.tokens).toBe(0);
});

test.each([
  ["what is added is not there yet: it fills up", 10, 10, 20, 0],
  ["also when some were left", 10, 4, 20, 6],
  ["what is taken away is gone at once", 20, 0, 5, 5],
  ["what was left stays, if there is room", 20, 17, 5, 3],
  ["to nothing", 20, 0, 0, 0],
  ["from nothing", 0, 0, 7, 0],
  ["to the same size", 10, 6, 10, 4],
])("a new size creates no tokens: %s", (_, before, drawn, after, left) => {
  const bucket = fullBucket(before, before, 0);
  for (let i = 0; i < drawn; i++) draw(bucket, 0);
  resize(bucket, after, after);
  expect(wholeTokens(bucket)).toBe(left);
  expect([bucket.rate, bucket.capacity]).toEqual([after, after]);
});

test.each([
  [10, 0, 1],
  [1, 0, 1],
  [0.8, 0, 2],
  [0.2, 0, 5],
  [0.2, 0.9, 1],
  [0.2, 0.5, 3],
  [5, 5, 1],
])(
  "at %d a second, a bucket with %d tokens has one within %d s, and the window is a second",
  (rate, tokens, seconds) => {
    expect(secondsUntilToken({ rate, tokens, capacity: 5, filledAtMs: 0 })).toBe(seconds);
  },
);

test("a bucket that never fills returns no time", () => {
  expect(secondsUntilToken(fullBucket(0, 0, 0))).toBeUndefined();
});
