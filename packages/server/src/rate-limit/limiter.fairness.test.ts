import fc from "fast-check";
import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { createLimiter } from "./limiter.ts";
import { createUseLog } from "./use-log.ts";

/**
 * A key that asks once every `everyMs` from `firstMs` on. These rules hold while all keys keep asking, each at least
 * once a second: who draws on the pool is counted by the second.
 */
type Pace = { keyId: string; firstMs: number; everyMs: number };

/** Lets all keys ask a pool of `pool`, each at its pace, in the order of time. */
function play(
  pool: number,
  paces: readonly Pace[],
  endMs: number,
  see: (keyId: string, nowMs: number, allowed: boolean) => void,
): void {
  const clock = handClock();
  const limiter = createLimiter({ clock, useLog: createUseLog() });
  const allowance = { revision: 1, rateLimit: pool, totalReserved: 0, reserved: 0 };
  const due = paces.map((pace) => ({ ...pace, atMs: pace.firstMs }));
  for (let nowMs = 0; nowMs <= endMs; ) {
    const next = due.reduce((first, key) => (key.atMs < first.atMs ? key : first));
    clock.advance(next.atMs - nowMs);
    nowMs = next.atMs;
    next.atMs += next.everyMs;
    const { allowed } = limiter.take({
      storeId: "store",
      keyId: next.keyId,
      allowance,
      administration: false,
    });
    see(next.keyId, nowMs, allowed);
  }
}

const flood = (everyMs: readonly number[]): Pace[] =>
  everyMs.map((everyMs, index) => ({ keyId: `flood ${index}`, firstMs: 0, everyMs }));

test("with at least five a second for each of n keys, who asks at most once every 5n/P seconds is always served", () => {
  const store = fc.integer({ min: 2, max: 8 }).chain((n) =>
    fc.record({
      pool: fc.integer({ min: 5 * n, max: 15 * n }),
      flood: fc.array(fc.integer({ min: 1, max: 10 }), { minLength: n - 1, maxLength: n - 1 }).map(flood),
      firstMs: fc.nat(3000),
      moreMs: fc.oneof(fc.constant(0), fc.nat(1000), fc.nat(5000)),
    }),
  );
  fc.assert(
    fc.property(store, ({ pool, flood, firstMs, moreMs }) => {
      const everyMs = Math.ceil((5000 * (flood.length + 1)) / pool) + moreMs;
      play(pool, [...flood, { keyId: "quiet", firstMs, everyMs }], 15_000, (keyId, _, allowed) => {
        if (keyId === "quiet") expect(allowed).toBe(true);
      });
    }),
    { numRuns: 40 },
  );
});

test("with any number n of keys, who asks twice a second is not refused for longer than 10n/P seconds on end", () => {
  const pace = fc.oneof(fc.integer({ min: 10, max: 50 }), fc.integer({ min: 100, max: 500 }));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.array(pace, { minLength: 2, maxLength: 12 }),
      (pool, everyMs) => {
        const keys = flood(everyMs);
        const mostMs = (10_000 * keys.length) / pool;
        const refusedSinceMs = new Map<string, number>();
        play(pool, keys, Math.min(4 * mostMs, 120_000), (keyId, nowMs, allowed) => {
          if (allowed) refusedSinceMs.delete(keyId);
          else if (!refusedSinceMs.has(keyId)) refusedSinceMs.set(keyId, nowMs);
          // It may come just before its turn, and again just before there is something for it: half a second each.
          expect(nowMs - (refusedSinceMs.get(keyId) ?? nowMs)).toBeLessThanOrEqual(mostMs + 1000);
        });
      },
    ),
    { numRuns: 40 },
  );
});

test.each([
  [10, 1],
  [100, 4],
  [100, 19],
])("in a pool of %d, %d floods do not take from who asks once a second", (pool, floods) => {
  let refused = 0;
  const keys = [...flood(Array(floods).fill(25)), { keyId: "quiet", firstMs: 500, everyMs: 1000 }];
  play(pool, keys, 600_000, (keyId, _, allowed) => {
    if (keyId === "quiet" && !allowed) refused++;
  });
  expect(refused).toBe(0);
});
