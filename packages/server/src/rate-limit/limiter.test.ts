import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { type Allowance, createLimiter, type Decision } from "./limiter.ts";
import { createUseLog } from "./use-log.ts";

type Floors = Record<string, number>;
type Options = { administration?: boolean; allowance?: Allowance; storeId?: string };

/** A limiter, and a store whose limits can be changed. */
function build(rateLimit: number, floors: Floors = {}) {
  const clock = handClock();
  const useLog = createUseLog();
  const limiter = createLimiter({ clock, useLog });
  let plan = { revision: 1, rateLimit, floors };

  const allowanceOf = (keyId: string): Allowance => ({
    revision: plan.revision,
    rateLimit: plan.rateLimit,
    totalReserved: Object.values(plan.floors).reduce((sum, floor) => sum + floor, 0),
    reserved: plan.floors[keyId] ?? 0,
  });
  const take = (keyId: string, options: Options = {}): Decision =>
    limiter.take({
      storeId: "store",
      keyId,
      allowance: allowanceOf(keyId),
      administration: false,
      ...options,
    });

  return {
    clock,
    limiter,
    useLog,
    take,
    allowanceOf,
    served: (keyId: string, asked: number, options?: Options): number =>
      Array.from({ length: asked }, () => take(keyId, options)).filter(({ allowed }) => allowed).length,
    /** How many of `keys` keys are served that ask once each, all at once. */
    servedOfMany: (keys: number): number =>
      Array.from({ length: keys }, (_, index) => take(`one of many ${index}`)).filter(
        ({ allowed }) => allowed,
      ).length,
    change(rateLimit: number, floors: Floors) {
      plan = { revision: plan.revision + 1, rateLimit, floors };
    },
  };
}

describe("floors", () => {
  test("a request draws on its key's floor first, then on what is shared", () => {
    const { take } = build(100, { a: 3 });
    expect([1, 2, 3, 4, 5].map(() => take("a").bucket)).toEqual([
      "reserved",
      "reserved",
      "reserved",
      "reserved",
      "shared",
    ]);
    expect(take("b").bucket).toBe("shared");
  });

  test.each([
    [1, 2],
    [10, 11],
    [11, 13],
    [100, 110],
  ])("a floor of %d serves %d at once: a tenth more, at least one", (floor, atOnce) => {
    const { served } = build(floor, { a: floor });
    expect(served("a", 1000)).toBe(atOnce);
  });

  test("a floor is never lent", () => {
    const { served } = build(100, { a: 60 });
    expect(served("b", 1000)).toBeLessThanOrEqual(40);
    expect(served("a", 60)).toBe(60);
  });

  test("a floor comes back within the second", () => {
    const { clock, served } = build(20, { a: 20 });
    served("a", 1000);
    for (let second = 0; second < 5; second++) {
      clock.advance(1000);
      expect(served("a", 20)).toBe(20);
    }
  });
});

describe("the shared pool", () => {
  test.each([
    [0, 0],
    [1, 3],
    [2, 3],
    [3, 4],
    [10, 10],
    [100, 100],
  ])("of %d serves %d at once, when many keys ask", (pool, atOnce) => {
    const { servedOfMany } = build(100, { reserved: 100 - pool });
    expect(servedOfMany(500)).toBe(atOnce);
  });

  test.each([0, 1, 2, 3, 7, 100])(
    "of %d serves that many a second in the long run, be it to one key",
    (pool) => {
      const { clock, served } = build(100, { reserved: 100 - pool });
      let total = 0;
      for (let tick = 0; tick < 10_000; tick++) {
        total += served("a", 2);
        clock.advance(10);
      }
      expect(total).toBeGreaterThanOrEqual(100 * pool - 1);
      expect(total).toBeLessThanOrEqual(101 * pool + 3);
    },
  );

  test("loses nothing of what is dealt to keys that do not want it", () => {
    const { clock, served, take } = build(100);
    let total = 0;
    for (let tick = 0; tick < 2000; tick++) {
      total += served("flood", 3);
      if (tick % 50 === 0 && take("seldom").allowed) total++;
      clock.advance(10);
    }
    expect(total).toBeGreaterThanOrEqual(2000);
    expect(total).toBeLessThanOrEqual(2100);
  });

  test("says what is left, never more than can be had", () => {
    const { take } = build(100, { a: 10 });
    expect(take("a")).toMatchObject({ reserved: { quota: 10, left: 10 }, shared: { quota: 90, left: 72 } });
    expect(take("b")).toMatchObject({ reserved: { quota: 0, left: 0 }, shared: { quota: 90, left: 71 } });
  });

  test("is one for each store", () => {
    const { served } = build(10);
    served("a", 1000);
    expect(served("a", 1000, { storeId: "another store" })).toBeGreaterThanOrEqual(9);
  });
});

describe("administration", () => {
  test("has two a second when all is reserved and used up", () => {
    const { clock, served, take } = build(10, { a: 10 });
    served("a", 1000);
    expect(take("a").allowed).toBe(false);
    expect(take("a", { administration: true })).toMatchObject({ allowed: true, bucket: "administration" });
    expect(served("b", 10, { administration: true })).toBe(1);
    clock.advance(500);
    expect(served("b", 10, { administration: true })).toBe(1);
  });

  test("has nothing to give to other requests", () => {
    const { take } = build(10, { a: 10 });
    expect(take("b").allowed).toBe(false);
  });

  test("uses the key's own share first", () => {
    const { served, take } = build(10, { a: 1 });
    served("a", 1);
    expect(take("a", { administration: true }).bucket).toBe("reserved");
    expect(take("a", { administration: true }).bucket).toBe("shared");
  });
});

describe("a change", () => {
  test.each<[string, Floors, Floors, number]>([
    ["a first floor", {}, { a: 20 }, 22],
    ["a higher floor", { a: 10 }, { a: 30 }, 33 - 11],
    ["a lower floor", { a: 30 }, { a: 10 }, 0],
    ["no floor any more", { a: 30 }, {}, 0],
  ])("is in force at the next request: %s", (_, before, after, more) => {
    const { served, servedOfMany, change, take } = build(100, { ...before, rest: 100 - (before.a ?? 0) });
    served("a", 1000);
    servedOfMany(200);
    change(100, { ...after, rest: 100 - (after.a ?? 0) });
    expect(take("a").reserved.quota).toBe(after.a ?? 0);
    expect(served("a", 1000)).toBe(Math.max(0, more - 1));
  });

  test("is in force at once for the shared pool, also when another key brings it", () => {
    const { take, served, change } = build(10);
    served("a", 1000);
    expect(take("a").allowed).toBe(false);
    change(1000, {});
    expect(take("b").shared.quota).toBe(1000);
    expect(served("a", 500)).toBe(500);
    change(5, {});
    expect(take("b").shared).toMatchObject({ quota: 5 });
    expect(served("a", 1000)).toBeLessThanOrEqual(5);
  });

  test("of a floor that was lowered is kept from then on", () => {
    const { clock, served, change } = build(30, { a: 30 });
    change(30, { a: 10, rest: 20 });
    served("a", 1000);
    clock.advance(1000);
    expect(served("a", 1000)).toBe(10);
  });

  test("is not undone by a request that still carries the older limits", () => {
    const { take, allowanceOf, change } = build(100, { a: 10 });
    const older = allowanceOf("a");
    take("a");
    change(50, { a: 20 });
    take("a");
    expect(take("a", { allowance: older })).toMatchObject({ reserved: { quota: 20 }, shared: { quota: 30 } });
    expect(take("a")).toMatchObject({ reserved: { quota: 20 }, shared: { quota: 30 } });
  });

  test("that leaves the figures as they are gives nobody anything", () => {
    const { served, servedOfMany, change } = build(20, { a: 10 });
    served("a", 1000);
    servedOfMany(100);
    change(20, { a: 10 });
    expect(served("a", 100) + servedOfMany(100)).toBe(0);
  });
});

describe("a refusal", () => {
  test.each([
    ["a pool of 100", 100, {}, 1],
    ["a pool of 1", 1, {}, 2],
    ["a floor", 10, { a: 10 }, 1],
    ["nothing at all", 10, { b: 10 }, 60],
  ])("says when to come back, never before the second is over: %s", (_, rateLimit, floors, seconds) => {
    const { served, servedOfMany, take } = build(rateLimit, floors);
    expect(take("a").retryAfterSeconds).toBe("b" in floors ? 60 : 0);
    served("a", 1000);
    servedOfMany(200);
    expect(take("a")).toMatchObject({ allowed: false, retryAfterSeconds: seconds });
  });

  test("counts what the key asked for in this second, served or not", () => {
    const { clock, served, take } = build(5);
    served("a", 99);
    expect(take("a").asked).toBe(100);
    expect(take("b").asked).toBe(1);
    clock.advance(1000);
    expect(take("a").asked).toBe(1);
  });
});

describe("use", () => {
  const start = 1000;

  test("is written down by key and second, when the next second has begun or when somebody wants to read", () => {
    const { clock, limiter, useLog, served } = build(5);
    served("a", 10);
    clock.advance(1000);
    served("a", 3);
    expect(useLog.read("store", 0)).toEqual([{ keyId: "a", second: start, asked: 10 }]);
    limiter.settle("store");
    limiter.settle("store");
    expect(useLog.read("store", 0).at(-1)).toEqual({ keyId: "a", second: start + 1, asked: 3 });
    expect(useLog.read("store", 0)).toHaveLength(2);
  });

  test("is not lost when its key is forgotten", () => {
    const { clock, limiter, useLog, served } = build(5);
    served("a", 10);
    clock.advance(60_000);
    limiter.sweep();
    expect(useLog.read("store", 0)).toEqual([{ keyId: "a", second: start, asked: 10 }]);
  });
});

describe("sweeping", () => {
  test("forgets keys that have been idle for ten seconds, and stores without any", () => {
    const { clock, limiter, take } = build(100, { a: 10 });
    take("a");
    take("b");
    clock.advance(9_999);
    take("b");
    limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 2 });
    clock.advance(1);
    limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 1 });
    clock.advance(10_000);
    limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 0, keys: 0 });
  });
});

describe("known faults", () => {
  test.fails("settling does not change what the key asked for in this second", () => {
    const { limiter, served, take } = build(5);
    served("a", 10);
    limiter.settle("store");
    expect(take("a").asked).toBe(11);
  });

  test.fails("a store is not forgotten before its pool is full again", () => {
    const { clock, limiter, servedOfMany } = build(1);
    clock.advance(999);
    servedOfMany(10);
    clock.advance(9001);
    limiter.sweep();
    expect(servedOfMany(10)).toBe(2);
  });

  test.fails("a key has its floor even if its first request still carries the limits from before a change", () => {
    const { allowanceOf, change, take } = build(10, { a: 10 });
    const older = allowanceOf("a");
    change(10, { a: 9, b: 1 });
    take("b");
    expect(take("a", { allowance: older }).allowed).toBe(true);
  });

  test.fails("administration that is refused is told when administration is served again", () => {
    const { served, take } = build(10, { a: 10 });
    served("b", 2, { administration: true });
    expect(take("b", { administration: true })).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
  });

  test.fails("a request that its floor served hears what is left of the pool now, not what was left some time ago", () => {
    const { clock, servedOfMany, take } = build(100, { a: 10 });
    servedOfMany(200);
    clock.advance(1000);
    expect(take("a")).toMatchObject({ bucket: "reserved", shared: { left: 72 } });
  });

  test.fails("a quiet store can be asked for a second's worth at once, be it by one key", () => {
    const { served } = build(100);
    expect(served("a", 100)).toBe(100);
  });
});
