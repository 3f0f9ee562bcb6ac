import fc from "fast-check";
import { expect, test } from "vitest";
import { describeTogether } from "../../test/support/counting.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { capacityOf } from "./fair-share.ts";
import type { Limiter, LimiterDecision } from "./limiter.ts";
import { createSharedLimiter } from "./shared-limiter.ts";
import { createUseLog } from "./use-log.ts";

const INSTANCES = 3;

/**
 * An instance whose way to Valkey the test has in hand. `late`: it asks once more, is heard, and the answer comes too
 * late.
 */
type Way = "there" | "away" | "late";
type Instance = { limiter: Limiter; set(way: Way): void };

function startInstance(clock: Clock, valkey: Valkey): Instance {
  let way: Way = "there";
  let tellReturn = () => {};
  const limiter = createSharedLimiter({
    clock,
    useLog: createUseLog(),
    valkey: {
      async run(script, slot, item) {
        if (way === "away") return undefined;
        const answer = await valkey.run(script, slot, item);
        if (way === "there") return answer;
        way = "away";
        return undefined;
      },
      isAway: () => way === "away",
      instances: () => INSTANCES,
      onReturn(listener) {
        tellReturn = listener;
      },
    },
  });
  return {
    limiter,
    set(next) {
      const isBack = way !== "there" && next === "there";
      way = next;
      if (isBack) tellReturn();
    },
  };
}

describeTogether((begin, runs) => {
  function build(pool: number, floor = 0) {
    const { clock, valkey } = begin();
    const instances = Array.from({ length: INSTANCES }, () => startInstance(clock, valkey));
    const allowance = { revision: 1, rateLimit: pool + floor, totalReserved: floor, reserved: floor };
    const draw = { storeId: "store", keyId: "key", source: undefined, allowance, administration: false };
    const take = async (at: number): Promise<LimiterDecision> =>
      (instances[at] as Instance).limiter.take(draw);
    return { clock, instances, take };
  }

  /** How many more were let in over any time than flowed in. */
  const mostOver = (letIn: readonly number[], rate: number): number => {
    let most = 0;
    letIn.forEach((fromMs, from) => {
      for (let to = from; to < letIn.length; to++)
        most = Math.max(most, to - from + 1 - (rate * ((letIn[to] as number) - fromMs)) / 1000);
    });
    return most;
  };

  const way = fc.constantFrom<Way>("there", "there", "away", "late");
  const step = fc.record({
    gapMs: fc.oneof(fc.nat(100), fc.nat(700), fc.nat(3000)),
    ways: fc.tuple(way, way, way),
    asks: fc.array(fc.record({ at: fc.nat(INSTANCES - 1), times: fc.nat(90) }), { maxLength: 4 }),
  });

  test("over any time a pool gives at most its rate and three times its capacity, however often Valkey is away", async () => {
    const rate = 60;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const { clock, instances, take } = build(rate);
        const letIn: number[] = [];
        for (const { gapMs, ways, asks } of steps) {
          clock.advance(gapMs);
          ways.forEach((next, at) => {
            instances[at]?.set(next);
          });
          for (const { at, times } of asks)
            for (let asked = 0; asked < times; asked++)
              if ((await take(at)).allowed) letIn.push(clock.monotonicMs());
        }
        expect(mostOver(letIn, rate)).toBeLessThanOrEqual(3 * capacityOf(rate));
      }),
      runs(150),
    );
  });

  test("three instances that lose Valkey for half of each second give the limit and a burst under full demand", async () => {
    const { clock, instances, take } = build(60);
    let letIn = 0;
    for (let tick = 0; tick < 600; tick++) {
      const isAway = tick % 100 >= 50;
      for (const instance of instances) instance.set(isAway ? "away" : "there");
      for (let at = 0; at < INSTANCES; at++)
        for (let i = 0; i < 4; i++) if ((await take(at)).allowed) letIn++;
      clock.advance(10);
    }
    expect(letIn).toBeGreaterThan(340);
    expect(letIn).toBeLessThanOrEqual(60 * 6 + 2 * capacityOf(60));
  });

  test("a key within its floor is never refused, on any instance and however often Valkey is away", async () => {
    const floor = 20;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ gapMs: fc.nat(200), at: fc.nat(2), ways: fc.tuple(way, way, way) }), {
          maxLength: 150,
        }),
        async (steps) => {
          const { clock, instances, take } = build(0, floor);
          const asked: number[] = [];
          for (const { gapMs, at, ways } of steps) {
            clock.advance(gapMs);
            const nowMs = clock.monotonicMs();
            ways.forEach((next, which) => {
              instances[which]?.set(next);
            });
            while (asked.filter((ms) => ms > nowMs - 1000).length < floor) {
              asked.push(nowMs);
              expect((await take(at)).allowed).toBe(true);
              if (asked.length % 3 === 0) break;
            }
          }
        },
      ),
      runs(150),
    );
  });

  test("a store that uses half of its pool finds it full after an absence of a minute", async () => {
    const { clock, instances, take } = build(60);
    for (let at = 0; at < INSTANCES; at++) await take(at);
    for (const instance of instances) instance.set("away");
    for (let second = 0; second < 60; second++) {
      for (let asked = 0; asked < 30; asked++) expect((await take(asked % INSTANCES)).allowed).toBe(true);
      clock.advance(1000);
    }
    for (const instance of instances) instance.set("there");
    for (let asked = 0; asked < 60; asked++) expect((await take(asked % INSTANCES)).allowed).toBe(true);
  });
});
