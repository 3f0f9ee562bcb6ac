import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { describeLimiters, inProcess, type MakeLimiter } from "../../test/support/limiters.ts";
import { readUses } from "../../test/support/uses.ts";
import { capacityOf } from "./fair-share.ts";
import type { LimiterDecision } from "./limiter.ts";
import type { KeyAllowance } from "./limiter-state.ts";
import { createUseLog } from "./use-log.ts";

type Floors = Record<string, number>;
type Options = { administration?: boolean; storeId?: string };

/** A limiter, and a store with these limits. */
function buildOn(makeLimiter: MakeLimiter, rateLimit: number, floors: Floors = {}) {
  const clock = handClock();
  const useLog = createUseLog();
  const limiter = makeLimiter({ clock, useLog });
  const allowanceOf = (keyId: string): KeyAllowance => ({
    revision: 1,
    rateLimit,
    totalReserved: Object.values(floors).reduce((sum, floor) => sum + floor, 0),
    reserved: floors[keyId] ?? 0,
  });
  const take = async (keyId: string, options: Options = {}): Promise<LimiterDecision> =>
    limiter.take({
      storeId: "store",
      keyId,
      allowance: allowanceOf(keyId),
      source: undefined,
      administration: false,
      ...options,
    });
  const countServed = async (decisions: Promise<LimiterDecision>[]): Promise<number> =>
    (await Promise.all(decisions)).filter(({ allowed }) => allowed).length;

  return {
    clock,
    limiter,
    useLog,
    take,
    served: (keyId: string, asked: number, options?: Options): Promise<number> =>
      countServed(Array.from({ length: asked }, () => take(keyId, options))),
    /** How many of `keys` keys are served that ask once each, all at once. */
    servedOfMany: (keys: number): Promise<number> =>
      countServed(Array.from({ length: keys }, (_, index) => take(`one of many ${index}`))),
  };
}

describeLimiters((makeLimiter, runs) => {
  const build = (rateLimit: number, floors?: Floors) => buildOn(makeLimiter, rateLimit, floors);

  describe("floors", () => {
    test("a request draws on its key's floor first, then on the pool", async () => {
      const { take } = build(100, { a: 1 });
      const buckets = (await Promise.all([1, 2, 3, 4].map(() => take("a")))).map(({ bucket }) => bucket);
      expect(buckets).toEqual(["reserved", "reserved", "reserved", "shared"]);
      expect((await take("b")).bucket).toBe("shared");
    });

    test.each([
      [1, 3],
      [10, 12],
      [11, 15],
      [100, 120],
    ])("a floor of %d serves %d at once: a fifth more, an even number", async (floor, atOnce) => {
      const { served } = build(floor, { a: floor });
      expect(await served("a", 1000)).toBe(atOnce);
    });

    test("a floor is never lent", async () => {
      const { served } = build(100, { a: 60 });
      expect(await served("b", 1000)).toBeLessThanOrEqual(48);
      expect(await served("a", 60)).toBe(60);
    });

    test("a floor is full again within the second", async () => {
      const { clock, served } = build(20, { a: 20 });
      await served("a", 1000);
      for (let second = 0; second < 5; second++) {
        clock.advance(1000);
        expect(await served("a", 20)).toBe(20);
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
    ])("of %d serves %d at once, if many keys send requests", async (pool, atOnce) => {
      const { servedOfMany } = build(100, { reserved: 100 - pool });
      expect(await servedOfMany(500)).toBe(atOnce);
    });

    test.each([0, 1, 2, 3, 7, 100])(
      "of %d serves that many a second in the long run, also to a single key",
      async (pool) => {
        const { clock, served } = build(100, { reserved: 100 - pool });
        const seconds = runs(100).numRuns;
        let total = 0;
        for (let tick = 0; tick < 100 * seconds; tick++) {
          total += await served("a", 2);
          clock.advance(10);
        }
        expect(total).toBeGreaterThanOrEqual(seconds * pool - 1);
        expect(total).toBeLessThanOrEqual(seconds * pool + capacityOf(pool));
      },
    );

    test("serves its whole rate although some tokens are kept for other keys", async () => {
      const { clock, served, take } = build(100);
      let total = 0;
      for (let tick = 0; tick < 2000; tick++) {
        total += await served("flood", 3);
        if (tick % 50 === 0 && (await take("seldom")).allowed) total++;
        clock.advance(10);
      }
      expect(total).toBeGreaterThanOrEqual(2000);
      expect(total).toBeLessThanOrEqual(2120);
    });

    test("keeps no tokens for keys that stopped sending", async () => {
      const { clock, served, servedOfMany } = build(1);
      expect(await served("a", 2)).toBe(2);
      await servedOfMany(50);
      clock.advance(6000);
      expect(await served("a", 2)).toBe(2);
    });

    test("reports the rest, never more than the key can draw", async () => {
      const { take } = build(100, { a: 10 });
      expect(await take("a")).toMatchObject({
        reserved: { quota: 10, left: 10 },
        shared: { quota: 90, left: 90 },
      });
      expect(await take("b")).toMatchObject({
        reserved: { quota: 0, left: 0 },
        shared: { quota: 90, left: 89 },
      });
    });

    test("is separate for each store", async () => {
      const { served } = build(10);
      await served("a", 1000);
      expect(await served("a", 1000, { storeId: "another store" })).toBeGreaterThanOrEqual(9);
    });

    test("reports the present rest, also to a request that the floor served", async () => {
      const { clock, servedOfMany, take } = build(100, { a: 10 });
      await servedOfMany(200);
      clock.advance(1000);
      // A second's worth has come in, of which 18 are the reserve.
      expect(await take("a")).toMatchObject({ bucket: "reserved", shared: { left: 72 } });
    });

    test("gives a second's worth and a tenth at once to a single key, and keeps another tenth for newcomers", async () => {
      const { served, servedOfMany } = build(100);
      expect(await served("a", 1000)).toBe(110);
      expect(await servedOfMany(100)).toBe(10);
    });
  });

  describe("administration", () => {
    test("gets two a second if everything is reserved and used up", async () => {
      const { clock, served, take } = build(10, { a: 10 });
      await served("a", 1000);
      expect((await take("a")).allowed).toBe(false);
      expect(await take("a", { administration: true })).toMatchObject({
        allowed: true,
        bucket: "administration",
      });
      expect(await served("b", 10, { administration: true })).toBe(1);
      clock.advance(500);
      expect(await served("b", 10, { administration: true })).toBe(1);
    });

    test("gives nothing to other requests", async () => {
      const { take } = build(10, { a: 10 });
      expect((await take("b")).allowed).toBe(false);
    });

    test("uses the key's own share first", async () => {
      const { served, take } = build(10, { a: 1 });
      await served("a", 2);
      expect((await take("a", { administration: true })).bucket).toBe("reserved");
      expect((await take("a", { administration: true })).bucket).toBe("shared");
    });
  });

  describe("a refusal", () => {
    test.each([
      ["a pool of 100", 100, {}, 1],
      ["a pool of 1", 1, {}, 2],
      ["a floor", 10, { a: 10 }, 1],
      ["nothing at all", 10, { b: 10 }, 60],
    ])("has a Retry-After, never before the second is over: %s", async (_, rateLimit, floors, seconds) => {
      const { served, servedOfMany, take } = build(rateLimit, floors);
      expect((await take("a")).retryAfterSeconds).toBe("b" in floors ? 60 : 0);
      await served("a", 1000);
      await servedOfMany(200);
      expect(await take("a")).toMatchObject({ allowed: false, retryAfterSeconds: seconds });
    });

    test("counts the key's requests in this second, served or not", async () => {
      const { clock, served, take } = build(5);
      await served("a", 99);
      expect((await take("a")).asked).toBe(100);
      expect((await take("b")).asked).toBe(1);
      clock.advance(1000);
      expect((await take("a")).asked).toBe(1);
    });

    test("Retry-After of administration follows its own bucket", async () => {
      const { served, take } = build(10, { a: 10 });
      await served("b", 2, { administration: true });
      expect(await take("b", { administration: true })).toMatchObject({
        allowed: false,
        retryAfterSeconds: 1,
      });
    });
  });
});

/** What the limiter in process has in memory. */
const build = (rateLimit: number, floors?: Floors) => buildOn(inProcess, rateLimit, floors);

describe("use", () => {
  const start = 1000;

  test("is logged by key and second, when the next second begins or a reader needs it", async () => {
    const { clock, limiter, useLog, served } = build(5);
    await served("a", 10);
    clock.advance(1000);
    await served("a", 3);
    expect(readUses(useLog, "store", 0)).toEqual([{ keyId: "a", second: start, asked: 10 }]);
    await limiter.settle("store");
    await limiter.settle("store");
    expect(readUses(useLog, "store", 0).at(-1)).toEqual({ keyId: "a", second: start + 1, asked: 3 });
    expect(readUses(useLog, "store", 0)).toHaveLength(2);
  });

  test("is not lost when its key is forgotten", async () => {
    const { clock, limiter, useLog, served } = build(5);
    await served("a", 10);
    clock.advance(60_000);
    await limiter.sweep();
    expect(readUses(useLog, "store", 0)).toEqual([{ keyId: "a", second: start, asked: 10 }]);
  });

  test("is still counted after it was written: settling does not change the count of this second", async () => {
    const { limiter, useLog, served, take } = build(5);
    await served("a", 10);
    await limiter.settle("store");
    expect((await take("a")).asked).toBe(11);
    await limiter.settle("store");
    expect(readUses(useLog, "store", 0).map(({ asked }) => asked)).toEqual([10, 1]);
    // Six are there for a key that is alone.
    expect(useLog.read("store").flatMap(({ refused }) => Array.from(refused).slice(0, 2))).toEqual([4, 1]);
  });
});

describe("sweeping", () => {
  test("forgets keys that have been idle for ten seconds, and stores without any", async () => {
    const { clock, limiter, take } = build(100, { a: 10 });
    await take("a");
    await take("b");
    clock.advance(9_999);
    await take("b");
    await limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 2, sources: 0 });
    clock.advance(1);
    await limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 1, sources: 0 });
    clock.advance(10_000);
    await limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 0, keys: 0, sources: 0 });
  });

  test("does not forget a store before its pool is full again", async () => {
    const { clock, limiter, servedOfMany, take } = build(1);
    clock.advance(999);
    await servedOfMany(10);
    clock.advance(9001);
    await take("a");
    await limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 1, sources: 0 });
    expect(await servedOfMany(10)).toBe(2);
  });

  test("keeps a store whose pool was emptied by changes of its limit until the pool is full again", async () => {
    const { clock, limiter, take } = build(100);
    await take("a");
    clock.advance(60_000);
    const look = (revision: number, totalReserved: number) => {
      const allowance = { revision, rateLimit: 100, totalReserved, reserved: 0 };
      return limiter.look({
        storeId: "store",
        keyId: "a",
        allowance,
        source: undefined,
        administration: false,
      });
    };
    await look(2, 100);
    await look(3, 0);
    await limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 1, keys: 0, sources: 0 });
    clock.advance(1200);
    await limiter.sweep();
    expect(limiter.size()).toEqual({ stores: 0, keys: 0, sources: 0 });
  });

  test("and writing the use of a store with many keys yield to requests", async () => {
    const { clock, limiter, take, useLog } = build(1_000_000);
    for (let key = 0; key < 10_000; key++) await take(`key ${key}`);
    /** How many turns the event loop has had meanwhile. */
    const turnsOf = async (work: () => void | Promise<void>): Promise<number> => {
      let [turns, isOver] = [0, false];
      const onTurn = () => {
        turns++;
        if (!isOver) setImmediate(onTurn);
      };
      setImmediate(onTurn);
      await work();
      isOver = true;
      return turns;
    };
    expect(await turnsOf(() => limiter.settle("store"))).toBeGreaterThanOrEqual(4);
    expect(readUses(useLog, "store", 0)).toHaveLength(10_000);
    clock.advance(60_000);
    expect(await turnsOf(limiter.sweep)).toBeGreaterThanOrEqual(4);
    expect(limiter.size()).toEqual({ stores: 0, keys: 0, sources: 0 });
  });
});
