import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { describeLimiters, type MakeLimiter } from "../../test/support/limiters.ts";
import type { Left, LimiterDecision } from "./limiter.ts";
import { ADMINISTRATION_FLOOR } from "./plan.ts";

type Floors = Record<string, number>;

/** A store with `pool` unreserved, and a clock that starts at 0 ms. */
function buildOn(makeLimiter: MakeLimiter, pool: number, floors: Floors = {}) {
  const clock = handClock();
  const startMs = clock.monotonicMs();
  const limiter = makeLimiter({ clock });
  let [revision, current] = [1, { pool, floors }];
  const drawOf = (keyId: string, administration: boolean) => {
    const totalReserved = sum(Object.values(current.floors));
    const reserved = current.floors[keyId] ?? 0;
    const allowance = { revision, rateLimit: current.pool + totalReserved, totalReserved, reserved };
    return { storeId: "store", keyId, source: undefined, allowance, administration };
  };
  return {
    clock,
    limiter,
    nowMs: () => clock.monotonicMs() - startMs,
    until: (ms: number) => clock.advance(startMs + ms - clock.monotonicMs()),
    ask: async (keyId: string, administration = false): Promise<LimiterDecision> =>
      limiter.take(drawOf(keyId, administration)),
    look: async (keyId: string): Promise<Left> => limiter.look(drawOf(keyId, false)),
    change(pool: number, floors: Floors) {
      revision++;
      current = { pool, floors };
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
/** What the page on rate limits says: a second's worth, and two for every ten that were begun. */
const burst = (rate: number): number => rate + 2 * Math.ceil(rate / 10);

/** The most that was served in any window, above what `rate` brings in that window. */
function mostAboveRate(servedAtMs: readonly number[], rate: number): number {
  let [most, least] = [0, Number.POSITIVE_INFINITY];
  servedAtMs.forEach((atMs, index) => {
    least = Math.min(least, index - (rate * atMs) / 1000);
    most = Math.max(most, index + 1 - (rate * atMs) / 1000 - least);
  });
  return most;
}

const gapMs = fc.oneof(fc.constant(0), fc.nat(30), fc.nat(400), fc.nat(3000));
const pool = fc.oneof(fc.nat(3), fc.nat(40));
const floorsOfOthers = fc.dictionary(fc.constantFrom("b", "c", "d"), fc.integer({ min: 1, max: 15 }));

describeLimiters((makeLimiter, runs) => {
  const build = (pool: number, floors?: Floors) => buildOn(makeLimiter, pool, floors);

  describe("a reservation is kept (I6)", () => {
    test("a key with at most its floor of requests in any second is never refused, whatever other keys do", async () => {
      const event = fc.record({
        gapMs,
        own: fc.nat(25),
        flood: fc.nat(20),
        also: fc.oneof(
          { weight: 6, arbitrary: fc.constant("nothing" as const) },
          { weight: 1, arbitrary: fc.constant("sweep" as const) },
          { weight: 1, arbitrary: fc.record({ pool, floors: floorsOfOthers }) },
        ),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 20 }),
          pool,
          fc.array(event, { maxLength: 50 }),
          async (floor, pool, events) => {
            const { limiter, clock, ask, nowMs, change } = build(pool, { own: floor });
            const askedAtMs: number[] = [];
            for (const { gapMs, own, flood, also } of events) {
              clock.advance(gapMs);
              if (also === "sweep") await limiter.sweep();
              else if (also !== "nothing") change(also.pool, { ...also.floors, own: floor });
              const floods = Array.from({ length: flood }, (_, i) =>
                ["b", "c", "d", "e"].map((keyId) => ask(keyId, i % 2 === 0)),
              );
              await Promise.all(floods.flat());
              for (let i = 0; i < own; i++) {
                const before = askedAtMs.at(-floor);
                if (before !== undefined && nowMs() < before + 1000) break;
                askedAtMs.push(nowMs());
                expect(await ask("own")).toMatchObject({ allowed: true, bucket: "reserved" });
              }
            }
          },
        ),
        runs(100),
      );
    });

    test("a changed reservation holds from one second after the change, however much was used before", async () => {
      const floor = fc.integer({ min: 0, max: 20 });
      const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat(100), fc.nat(700)), { maxLength: 80 });
      await fc.assert(
        fc.asyncProperty(floor, floor, gaps, async (before, after, gaps) => {
          fc.pre(after > 0);
          const { clock, ask, nowMs, change } = build(0, { own: before });
          for (let i = 0; i < 30; i++) await ask("own");
          clock.advance(gaps[0] ?? 0);
          const changedAtMs = nowMs();
          change(0, { own: after });
          const askedAtMs: number[] = [];
          for (const gapMs of gaps) {
            clock.advance(gapMs);
            const previous = askedAtMs.at(-after);
            if (previous !== undefined && nowMs() < previous + 1000) continue;
            askedAtMs.push(nowMs());
            const { allowed } = await ask("own");
            if (nowMs() >= changedAtMs + 1000) expect(allowed).toBe(true);
          }
        }),
        { ...runs(100), examples: [[1, 7, [446, 256, 22, 17, 92, 167, 0]]] },
      );
    });

    test("also if all of it comes at once, every second, beside a flood of fifty times as much (T46)", async () => {
      const { ask, clock } = build(80, { own: 20 });
      for (let second = 0; second < 60; second++) {
        await Promise.all(Array.from({ length: 1000 }, () => ask("flood")));
        for (let i = 0; i < 20; i++) expect((await ask("own")).allowed).toBe(true);
        clock.advance(1000);
      }
    });
  });

  describe("no more is served than the limits allow", () => {
    const event = fc.record({ gapMs, keyId: fc.constantFrom("a", "b", "c", "d", "e"), asked: fc.nat(60) });

    test("to a store: in any window its limit, administration, and the capacity of the buckets", async () => {
      const events = fc.array(fc.record({ gapMs, asked: fc.nat(20), sweep: fc.boolean() }), {
        maxLength: 40,
      });
      await fc.assert(
        fc.asyncProperty(pool, floorsOfOthers, events, async (pool, floors, events) => {
          const { limiter, clock, ask, nowMs } = build(pool, floors);
          const servedAtMs: number[] = [];
          for (const { gapMs, asked, sweep } of events) {
            clock.advance(gapMs);
            if (sweep) await limiter.sweep();
            const all = Array.from({ length: asked }, () =>
              ["a", "b", "c", "d", "e"].map((keyId) => ask(keyId, true)),
            );
            for (const { allowed } of await Promise.all(all.flat())) if (allowed) servedAtMs.push(nowMs());
          }
          const floorsHeld = Object.values(floors);
          const rate = pool + sum(floorsHeld) + ADMINISTRATION_FLOOR;
          const most = burst(pool) + sum(floorsHeld.map(burst)) + ADMINISTRATION_FLOOR;
          expect(mostAboveRate(servedAtMs, rate)).toBeLessThanOrEqual(most + 0.01);
        }),
        runs(100),
      );
    });

    test("to a key: its own floor and the pool, never the floor of another key", async () => {
      await fc.assert(
        fc.asyncProperty(
          pool,
          fc.nat(20),
          floorsOfOthers,
          fc.array(event),
          async (pool, floor, others, events) => {
            const { clock, ask, nowMs } = build(pool, { ...others, a: floor });
            const servedAtMs: number[] = [];
            for (const { gapMs, keyId, asked } of events) {
              clock.advance(gapMs);
              for (const { allowed } of await Promise.all(Array.from({ length: asked }, () => ask(keyId))))
                if (allowed && keyId === "a") servedAtMs.push(nowMs());
            }
            const most = burst(floor) + burst(pool);
            expect(mostAboveRate(servedAtMs, floor + pool)).toBeLessThanOrEqual(most + 0.01);
          },
        ),
        runs(100),
      );
    });
  });

  describe("parts without effect", () => {
    const step = fc.record({
      gapMs: fc.nat(15_000),
      keyId: fc.constantFrom("a", "b", "c"),
      asked: fc.nat(40),
      hoursOff: fc.integer({ min: -5, max: 5 }),
    });

    test("the time of day: only the monotonic clock counts (T48)", async () => {
      await fc.assert(
        fc.asyncProperty(pool, fc.array(step), async (pool, steps) => {
          const [stepped, steady] = [build(pool, { a: 5 }), build(pool, { a: 5 })];
          for (const { gapMs, keyId, asked, hoursOff } of steps) {
            for (const { clock } of [stepped, steady]) clock.advance(gapMs);
            stepped.clock.set(stepped.clock.now() + hoursOff * 3_600_000);
            for (let i = 0; i < asked; i++)
              expect(await stepped.ask(keyId, true)).toEqual(await steady.ask(keyId, true));
          }
        }),
        runs(100),
      );
    });

    test("sweeping, at any time", async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 2, max: 40 }), fc.array(step), async (pool, steps) => {
          const [swept, left] = [build(pool, { a: 5 }), build(pool, { a: 5 })];
          for (const { gapMs, keyId, asked } of steps) {
            for (const { clock } of [swept, left]) clock.advance(gapMs);
            await swept.limiter.sweep();
            for (let i = 0; i < asked; i++) {
              const { allowed, bucket } = await left.ask(keyId, true);
              expect(await swept.ask(keyId, true)).toMatchObject({ allowed, bucket });
            }
          }
        }),
        runs(100),
      );
    });

    test("`look` draws no token", async () => {
      await fc.assert(
        fc.asyncProperty(pool, fc.array(step), async (pool, steps) => {
          const [watched, left] = [build(pool, { a: 5 }), build(pool, { a: 5 })];
          for (const { gapMs, keyId, asked } of steps) {
            for (const { clock } of [watched, left]) clock.advance(gapMs);
            for (let i = 0; i < asked; i++) {
              for (const other of ["a", "b", "c", "never asks"]) await watched.look(other);
              expect(await watched.ask(keyId, true)).toEqual(await left.ask(keyId, true));
            }
          }
        }),
        runs(100),
      );
    });
  });

  test("reading the state gives the requests of this second, not of the last second with use", async () => {
    const { ask, look, clock } = build(10);
    await ask("a");
    clock.advance(5000);
    expect((await look("a")).asked).toBe(0);
  });
});
