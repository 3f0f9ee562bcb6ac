import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { readUses } from "../../test/support/uses.ts";
import { capacityOf } from "./fair-share.ts";
import { type Allowance, createLimiter, type Decision } from "./limiter.ts";
import { createUseLog } from "./use-log.ts";

type Floors = Record<string, number>;
type Options = { administration?: boolean; storeId?: string };

/** A limiter, and a store with these limits. */
function build(rateLimit: number, floors: Floors = {}) {
  const clock = handClock();
  const useLog = createUseLog();
  const limiter = createLimiter({ clock, useLog });
  const allowanceOf = (keyId: string): Allowance => ({
    revision: 1,
    rateLimit,
    totalReserved: Object.values(floors).reduce((sum, floor) => sum + floor, 0),
    reserved: floors[keyId] ?? 0,
  });
  const take = (keyId: string, options: Options = {}): Decision =>
    limiter.take({
      storeId: "store",
      keyId,
      allowance: allowanceOf(keyId),
      source: undefined,
      administration: false,
      ...options,
    });

  return {
    clock,
    limiter,
    useLog,
    take,
    served: (keyId: string, asked: number, options?: Options): number =>
      Array.from({ length: asked }, () => take(keyId, options)).filter(({ allowed }) => allowed).length,
    /** How many of `keys` keys are served that ask once each, all at once. */
    servedOfMany: (keys: number): number =>
      Array.from({ length: keys }, (_, index) => take(`one of many ${index}`)).filter(
        ({ allowed }) => allowed,
      ).length,
  };
}

describe("floors", () => {
  test("a request draws on its key's floor first, then on what is shared", () => {
    const { take } = build(100, { a: 1 });
    expect([1, 2, 3, 4].map(() => take("a").bucket)).toEqual(["reserved", "reserved", "reserved", "shared"]);
    expect(take("b").bucket).toBe("shared");
  });

  test.each([
    [1, 3],
    [10, 12],
    [11, 15],
    [100, 120],
  ])("a floor of %d serves %d at once: a fifth more, an even number", (floor, atOnce) => {
    const { served } = build(floor, { a: floor });
    expect(served("a", 1000)).toBe(atOnce);
  });

  test("a floor is never lent", () => {
    const { served } = build(100, { a: 60 });
    expect(served("b", 1000)).toBeLessThanOrEqual(48);
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
    [2, 4],
    [3, 5],
    [10, 12],
    [100, 120],
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
      expect(total).toBeLessThanOrEqual(100 * pool + capacityOf(pool));
    },
  );

  test("loses nothing of what is left for keys that do not want it", () => {
    const { clock, served, take } = build(100);
    let total = 0;
    for (let tick = 0; tick < 2000; tick++) {
      total += served("flood", 3);
      if (tick % 50 === 0 && take("seldom").allowed) total++;
      clock.advance(10);
    }
    expect(total).toBeGreaterThanOrEqual(2000);
    expect(total).toBeLessThanOrEqual(2120);
  });

  test("does not hold back for keys that have gone", () => {
    const { clock, served, servedOfMany } = build(1);
    expect(served("a", 2)).toBe(2);
    servedOfMany(50);
    clock.advance(6000);
    expect(served("a", 2)).toBe(2);
  });

  test("says what is left, never more than can be had", () => {
    const { take } = build(100, { a: 10 });
    expect(take("a")).toMatchObject({ reserved: { quota: 10, left: 10 }, shared: { quota: 90, left: 90 } });
    expect(take("b")).toMatchObject({ reserved: { quota: 0, left: 0 }, shared: { quota: 90, left: 89 } });
  });

  test("is one for each store", () => {
    const { served } = build(10);
    served("a", 1000);
    expect(served("a", 1000, { storeId: "another store" })).toBeGreaterThanOrEqual(9);
  });

  test("says what is left now, also to a request that its floor served", () => {
    const { clock, servedOfMany, take } = build(100, { a: 10 });
    servedOfMany(200);
    clock.advance(1000);
    // A second's worth has come in, of which 18 are the reserve.
    expect(take("a")).toMatchObject({ bucket: "reserved", shared: { left: 72 } });
  });

  test("gives a second's worth and a tenth at once to a key that is alone, and has another tenth for newcomers", () => {
    const { served, servedOfMany } = build(100);
    expect(served("a", 1000)).toBe(110);
    expect(servedOfMany(100)).toBe(10);
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
    served("a", 2);
    expect(take("a", { administration: true }).bucket).toBe("reserved");
    expect(take("a", { administration: true }).bucket).toBe("shared");
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

  test("tells administration when administration is served again", () => {
    const { served, take } = build(10, { a: 10 });
    served("b", 2, { administration: true });
    expect(take("b", { administration: true })).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
  });
});

describe("use", () => {
  const start = 1000;

  test("is written down by key and second, when the next second has begun or when somebody wants to read", () => {
    const { clock, limiter, useLog, served } = build(5);
    served("a", 10);
    clock.advance(1000);
    served("a", 3);
    expect(readUses(useLog, "store", 0)).toEqual([{ keyId: "a", second: start, asked: 10 }]);
    limiter.settle("store");
    limiter.settle("store");
    expect(readUses(useLog, "store", 0).at(-1)).toEqual({ keyId: "a", second: start + 1, asked: 3 });
    expect(readUses(useLog, "store", 0)).toHaveLength(2);
  });

  test("is not lost when its key is forgotten", () => {
    const { clock, limiter, useLog, served } = build(5);
    served("a", 10);
    clock.advance(60_000);
    limiter.sweep();
    expect(readUses(useLog, "store", 0)).toEqual([{ keyId: "a", second: start, asked: 10 }]);
  });

  test("is still counted after it was written down: settling does not change what the key asked for in this second", () => {
    const { limiter, useLog, served, take } = build(5);
    served("a", 10);
    limiter.settle("store");
    expect(take("a").asked).toBe(11);
    limiter.settle("store");
    expect(readUses(useLog, "store", 0).map(({ asked }) => asked)).toEqual([10, 1]);
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
    expect(limiter.size()).toEqual({ stores: 1, keys: 2, sources: 0 });
    clock.advance(1);
    limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 1, sources: 0 });
    clock.advance(10_000);
    limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 0, keys: 0, sources: 0 });
  });

  test("does not forget a store before its pool is full again", () => {
    const { clock, limiter, servedOfMany, take } = build(1);
    clock.advance(999);
    servedOfMany(10);
    clock.advance(9001);
    take("a");
    limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 1, sources: 0 });
    expect(servedOfMany(10)).toBe(2);
  });
});
