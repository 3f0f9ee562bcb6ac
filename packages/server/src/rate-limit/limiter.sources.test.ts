import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import type { Clock } from "../lib/clock.ts";
import { type Bucket, draw, fill, fullBucket } from "./bucket.ts";
import { MAX_SOURCES } from "./claims.ts";
import { capacityOf } from "./fair-share.ts";
import { createLimiter, type Decision } from "./limiter.ts";
import { createUseLog } from "./use-log.ts";

/** A store with one key that has a floor, one without, and what nobody has reserved. */
function build(floor: number, pool: number) {
  const clock = handClock();
  const startMs = clock.monotonicMs();
  const limiter = createLimiter({ clock, useLog: createUseLog() });
  const take = (keyId: string, source: string | undefined): Decision => {
    const reserved = keyId === "own" ? floor : 0;
    const allowance = { revision: 1, rateLimit: floor + pool, totalReserved: floor, reserved };
    return limiter.take({ storeId: "store", keyId, source, allowance, administration: false });
  };
  return {
    clock,
    limiter,
    take,
    nowMs: () => clock.monotonicMs() - startMs,
    served: (asked: number, source: string | undefined, keyId = "own"): number =>
      Array.from({ length: asked }, () => take(keyId, source)).filter(({ allowed }) => allowed).length,
    /** How many of `sources` sources are served that ask once each, all at once. */
    servedOfMany: (sources: number): number =>
      Array.from({ length: sources }, (_, at) => take("own", `one of many ${at}`)).filter((d) => d.allowed)
        .length,
  };
}

const gapMs = fc.oneof(fc.constant(0), fc.nat(30), fc.nat(400), fc.nat(3000));
const rate = fc.oneof(fc.nat(3), fc.nat(60));
const caller = fc.constantFrom(undefined, "a", "b", "c", "d");
const event = fc.record({ gapMs, caller, keyId: fc.constantFrom("own", "other"), asked: fc.nat(40) });
const events = fc.array(event, { maxLength: 50 });

/** A bucket beside the limiter's own, from which the same is drawn. */
const shadowOf = (clock: Clock, rate: number): Bucket =>
  fullBucket(rate, capacityOf(rate), clock.monotonicMs());

function expectOnlyReserve(clock: Clock, bucket: Bucket): void {
  fill(bucket, clock.monotonicMs());
  expect(bucket.tokens).toBeLessThan(1 + bucket.capacity - bucket.rate);
}

describe("for any order of programs and sources", () => {
  test("a key that asks for at most its floor in any second is never refused, whoever asks in its name (I6)", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), rate, events, (floor, pool, events) => {
        const { clock, take, nowMs } = build(floor, pool);
        const askedAtMs: number[] = [];
        for (const { gapMs, caller, asked } of events) {
          clock.advance(gapMs);
          for (let i = 0; i < asked; i++) take("other", caller);
          for (let i = 0; i < asked; i++) {
            const before = askedAtMs.at(-floor);
            if (before !== undefined && nowMs() < before + 1000) break;
            askedAtMs.push(nowMs());
            expect(take("own", caller)).toMatchObject({ allowed: true, bucket: "reserved" });
          }
        }
      }),
    );
  });

  test("a refusal leaves at most the reserve in either bucket: nothing else is held back", () => {
    fc.assert(
      fc.property(rate, rate, events, (floor, pool, events) => {
        const { clock, take } = build(floor, pool);
        const [ofFloor, ofPool] = [shadowOf(clock, floor), shadowOf(clock, pool)];
        for (const { gapMs, caller, keyId, asked } of events) {
          clock.advance(gapMs);
          for (let i = 0; i < asked; i++) {
            const { allowed, bucket } = take(keyId, caller);
            if (allowed) draw(bucket === "reserved" ? ofFloor : ofPool, clock.monotonicMs());
            else
              for (const shadow of keyId === "own" ? [ofFloor, ofPool] : [ofPool])
                expectOnlyReserve(clock, shadow);
          }
        }
      }),
    );
  });

  test("a program within its key's floor, spaced or a tenth at once, is never refused, whatever the key's public does", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), events, (floor, events) => {
        const { clock, take } = build(floor, 0);
        const own = fullBucket(floor, Math.ceil(floor / 10), clock.monotonicMs());
        for (const { gapMs, caller, asked } of events) {
          clock.advance(gapMs);
          for (let i = 0; i < asked; i++) for (const source of ["a", "b", `${i}`]) take("own", source);
          if (caller !== undefined) continue;
          while (draw(own, clock.monotonicMs())) expect(take("own", undefined).allowed).toBe(true);
        }
      }),
    );
  });

  test("sweeping changes no decision", () => {
    const step = fc.record({ gapMs: fc.oneof(gapMs, fc.nat(15_000)), caller, asked: fc.nat(40) });
    fc.assert(
      fc.property(rate, rate, fc.array(step, { maxLength: 40 }), (floor, pool, steps) => {
        const [swept, left] = [build(floor, pool), build(floor, pool)];
        for (const { gapMs, caller, asked } of steps) {
          for (const { clock } of [swept, left]) clock.advance(gapMs);
          swept.limiter.sweep();
          for (let i = 0; i < asked; i++) {
            const { allowed, bucket } = left.take("own", caller);
            expect(swept.take("own", caller)).toMatchObject({ allowed, bucket });
          }
        }
      }),
    );
  });
});

describe("a source that is alone", () => {
  test.each([
    [20, 0],
    [0, 100],
    [20, 100],
  ])(
    "with a floor of %d and a pool of %d has a second's worth of both at once, and every second",
    (floor, pool) => {
      const { clock, served } = build(floor, pool);
      for (let second = 0; second < 5; second++) {
        expect(served(1000, "server")).toBe(floor + pool);
        clock.advance(1000);
      }
    },
  );

  test("leaves a fifth more for the others: half of it to newcomers, in a floor the rest to the key's own program", () => {
    const { served, servedOfMany } = build(100, 0);
    served(1000, "server");
    expect(servedOfMany(500)).toBe(10);
    expect(served(1000, undefined)).toBe(10);
  });

  test("hears what is left for it, not what is kept for others", () => {
    const { served, take } = build(0, 100);
    served(1000, "server");
    expect(take("own", "server")).toMatchObject({ allowed: false, shared: { quota: 100, left: 0 } });
    expect(take("own", "shopper")).toMatchObject({ allowed: true, shared: { quota: 100, left: 9 } });
  });

  test("is told to come back when there is something for it besides what is kept for others", () => {
    const { served, take } = build(0, 1);
    served(10, "server");
    served(10, undefined, "other");
    expect(take("own", "server")).toMatchObject({ allowed: false, retryAfterSeconds: 2 });
  });
});

describe("memory", () => {
  test("a thousand sources of a key are remembered, and who was served longest ago makes room", () => {
    const { limiter, served, servedOfMany } = build(0, 10_000);
    served(500, "flood");
    servedOfMany(MAX_SOURCES - 1);
    expect(limiter.size().sources).toBe(MAX_SOURCES);
    served(1, "flood");
    servedOfMany(5 * MAX_SOURCES);
    expect(limiter.size().sources).toBe(MAX_SOURCES);
  });

  test("who is refused leaves nothing behind: a million addresses take no more room than the limit lets through", () => {
    const { limiter, servedOfMany } = build(0, 20);
    expect(servedOfMany(100_000)).toBe(limiter.size().sources);
    expect(limiter.size().sources).toBeLessThanOrEqual(24);
  });

  test("sweeping forgets sources that were quiet for nine seconds, though their key is in use", () => {
    const { clock, limiter, take } = build(0, 100);
    take("own", "a");
    take("own", "b");
    clock.advance(5000);
    take("own", "b");
    clock.advance(4000);
    take("own", undefined);
    limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 1, sources: 1 });
  });
});
