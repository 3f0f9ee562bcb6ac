import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { describeLimiters, inProcess, type MakeLimiter } from "../../test/support/limiters.ts";
import type { Clock } from "../lib/clock.ts";
import { type Bucket, draw, fill, fullBucket } from "./bucket.ts";
import { giveToSource, MAX_SOURCES, newClaims } from "./claims.ts";
import { capacityOf } from "./fair-share.ts";
import type { LimiterDecision } from "./limiter.ts";

/** A store with one key that has a floor, one without, and what nobody has reserved. */
function buildOn(makeLimiter: MakeLimiter, floor: number, pool: number) {
  const clock = handClock();
  const startMs = clock.monotonicMs();
  const limiter = makeLimiter({ clock });
  const take = async (keyId: string, source: string | undefined): Promise<LimiterDecision> => {
    const reserved = keyId === "own" ? floor : 0;
    const allowance = { revision: 1, rateLimit: floor + pool, totalReserved: floor, reserved };
    return limiter.take({ storeId: "store", keyId, source, allowance, administration: false });
  };
  const countServed = async (decisions: Promise<LimiterDecision>[]): Promise<number> =>
    (await Promise.all(decisions)).filter(({ allowed }) => allowed).length;
  return {
    clock,
    limiter,
    take,
    nowMs: () => clock.monotonicMs() - startMs,
    served: (asked: number, source: string | undefined, keyId = "own"): Promise<number> =>
      countServed(Array.from({ length: asked }, () => take(keyId, source))),
    /** How many of `sources` sources are served that ask once each, all at once. */
    servedOfMany: (sources: number): Promise<number> =>
      countServed(Array.from({ length: sources }, (_, at) => take("own", `one of many ${at}`))),
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

describeLimiters((makeLimiter, runs) => {
  const build = (floor: number, pool: number) => buildOn(makeLimiter, floor, pool);

  describe("for any order of programs and sources", () => {
    test("a key within its floor is never refused, by any sources (I6)", async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 30 }), rate, events, async (floor, pool, events) => {
          const { clock, take, nowMs } = build(floor, pool);
          const askedAtMs: number[] = [];
          for (const { gapMs, caller, asked } of events) {
            clock.advance(gapMs);
            for (let i = 0; i < asked; i++) await take("other", caller);
            for (let i = 0; i < asked; i++) {
              const before = askedAtMs.at(-floor);
              if (before !== undefined && nowMs() < before + 1000) break;
              askedAtMs.push(nowMs());
              expect(await take("own", caller)).toMatchObject({ allowed: true, bucket: "reserved" });
            }
          }
        }),
        runs(100),
      );
    });

    test("a refusal leaves at most the reserve in either bucket: no other tokens are held back", async () => {
      await fc.assert(
        fc.asyncProperty(rate, rate, events, async (floor, pool, events) => {
          const { clock, take } = build(floor, pool);
          const [ofFloor, ofPool] = [shadowOf(clock, floor), shadowOf(clock, pool)];
          for (const { gapMs, caller, keyId, asked } of events) {
            clock.advance(gapMs);
            for (let i = 0; i < asked; i++) {
              const { allowed, bucket } = await take(keyId, caller);
              if (allowed) draw(bucket === "reserved" ? ofFloor : ofPool, clock.monotonicMs());
              else
                for (const shadow of keyId === "own" ? [ofFloor, ofPool] : [ofPool])
                  expectOnlyReserve(clock, shadow);
            }
          }
        }),
        runs(100),
      );
    });

    test("a program within its key's floor, evenly spaced or with a tenth at once, is never refused, whatever the key's public does", async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 60 }), events, async (floor, events) => {
          const { clock, take } = build(floor, 0);
          const own = fullBucket(floor, Math.ceil(floor / 10), clock.monotonicMs());
          for (const { gapMs, caller, asked } of events) {
            clock.advance(gapMs);
            for (let i = 0; i < asked; i++)
              for (const source of ["a", "b", `${i}`]) await take("own", source);
            if (caller !== undefined) continue;
            while (draw(own, clock.monotonicMs())) expect((await take("own", undefined)).allowed).toBe(true);
          }
        }),
        runs(100),
      );
    });

    test("sweeping changes no decision", async () => {
      const step = fc.record({ gapMs: fc.oneof(gapMs, fc.nat(15_000)), caller, asked: fc.nat(40) });
      await fc.assert(
        fc.asyncProperty(rate, rate, fc.array(step, { maxLength: 40 }), async (floor, pool, steps) => {
          const [swept, left] = [build(floor, pool), build(floor, pool)];
          for (const { gapMs, caller, asked } of steps) {
            for (const { clock } of [swept, left]) clock.advance(gapMs);
            await swept.limiter.sweep();
            for (let i = 0; i < asked; i++) {
              const { allowed, bucket } = await left.take("own", caller);
              expect(await swept.take("own", caller)).toMatchObject({ allowed, bucket });
            }
          }
        }),
        runs(100),
      );
    });
  });

  describe("a source that is alone", () => {
    test.each([
      [20, 0],
      [0, 100],
      [20, 100],
    ])(
      "with a floor of %d and a pool of %d gets a second's worth of both at once, and every second",
      async (floor, pool) => {
        const { clock, served } = build(floor, pool);
        for (let second = 0; second < 5; second++) {
          expect(await served(1000, "server")).toBe(floor + pool);
          clock.advance(1000);
        }
      },
    );

    test("leaves a fifth more for the others: half of it to newcomers, in a floor the rest to the key's own program", async () => {
      const { served, servedOfMany } = build(100, 0);
      await served(1000, "server");
      expect(await servedOfMany(500)).toBe(10);
      expect(await served(1000, undefined)).toBe(10);
    });

    test("sees in the headers its own rest, without the part kept for others", async () => {
      const { served, take } = build(0, 100);
      await served(1000, "server");
      expect(await take("own", "server")).toMatchObject({ allowed: false, shared: { quota: 100, left: 0 } });
      expect(await take("own", "shopper")).toMatchObject({ allowed: true, shared: { quota: 100, left: 9 } });
    });

    test("gets a Retry-After until a token is free in addition to those kept for others", async () => {
      const { served, take } = build(0, 1);
      await served(10, "server");
      await served(10, undefined, "other");
      expect(await take("own", "server")).toMatchObject({ allowed: false, retryAfterSeconds: 2 });
    });
  });
});

describe("memory", () => {
  const build = (floor: number, pool: number) => buildOn(inProcess, floor, pool);

  test("a thousand sources of a key are remembered; the next one replaces the source served longest ago", async () => {
    const { limiter, served, servedOfMany } = build(0, 10_000);
    await served(500, "flood");
    await servedOfMany(MAX_SOURCES - 1);
    expect(limiter.size().sources).toBe(MAX_SOURCES);
    await served(1, "flood");
    await servedOfMany(5 * MAX_SOURCES);
    expect(limiter.size().sources).toBe(MAX_SOURCES);
  });

  test("a source that is served again is not the next to be forgotten", () => {
    const claims = newClaims();
    const serve = (source: number) => giveToSource(claims, `source ${source}`, 0, 1000);
    for (let at = 0; at < MAX_SOURCES; at++) serve(at);
    for (const at of [1, MAX_SOURCES, MAX_SOURCES + 1]) serve(at);
    const isKnown = [0, 1, 2, 3].map((at) => claims.public?.sources.has(`source ${at}`));
    expect(isKnown).toEqual([false, true, false, true]);
  });

  test("refused sources take no memory: a million addresses take only as much as the limit serves", async () => {
    const { limiter, servedOfMany } = build(0, 20);
    expect(await servedOfMany(100_000)).toBe(limiter.size().sources);
    expect(limiter.size().sources).toBeLessThanOrEqual(24);
  });

  test("sweeping forgets sources that were quiet for nine seconds, though their key is in use", async () => {
    const { clock, limiter, take } = build(0, 100);
    await take("own", "a");
    await take("own", "b");
    clock.advance(5000);
    await take("own", "b");
    clock.advance(4000);
    await take("own", undefined);
    await limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 1, sources: 1 });
  });
});
