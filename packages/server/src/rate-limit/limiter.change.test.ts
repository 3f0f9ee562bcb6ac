import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { describeLimiters, type MakeLimiter } from "../../test/support/limiters.ts";
import type { LimiterDecision } from "./limiter.ts";
import type { KeyAllowance } from "./limiter-state.ts";

type Floors = Record<string, number>;

/** A limiter, and a store whose limits can be changed. */
function buildOn(makeLimiter: MakeLimiter, rateLimit: number, floors: Floors = {}) {
  const clock = handClock();
  const limiter = makeLimiter({ clock });
  let plan = { revision: 1, rateLimit, floors };

  const allowanceOf = (keyId: string): KeyAllowance => ({
    revision: plan.revision,
    rateLimit: plan.rateLimit,
    totalReserved: Object.values(plan.floors).reduce((sum, floor) => sum + floor, 0),
    reserved: plan.floors[keyId] ?? 0,
  });
  const take = async (keyId: string, allowance = allowanceOf(keyId)): Promise<LimiterDecision> =>
    limiter.take({ storeId: "store", keyId, source: undefined, allowance, administration: false });
  const countServed = async (keyIds: readonly string[]): Promise<number> =>
    (await Promise.all(keyIds.map((keyId) => take(keyId)))).filter(({ allowed }) => allowed).length;

  return {
    clock,
    take,
    allowanceOf,
    served: (keyId: string, asked: number): Promise<number> => countServed(Array(asked).fill(keyId)),
    /** How many of `keys` keys are served that ask once each, all at once. */
    servedOfMany: (keys: number): Promise<number> =>
      countServed(Array.from({ length: keys }, (_, at) => `one of many ${at}`)),
    change(rateLimit: number, floors: Floors) {
      plan = { revision: plan.revision + 1, rateLimit, floors };
    },
  };
}

describeLimiters((makeLimiter) => {
  const build = (rateLimit: number, floors?: Floors) => buildOn(makeLimiter, rateLimit, floors);

  test.each<[string, Floors, Floors, number]>([
    ["a first floor", {}, { a: 20 }, 24],
    ["a higher floor, which fills up", { a: 10 }, { a: 30 }, 0],
    ["a lower floor", { a: 30 }, { a: 10 }, 0],
    ["no floor any more", { a: 30 }, {}, 0],
  ])("a change takes effect at the next request: %s", async (_, before, after, more) => {
    const { served, servedOfMany, change, take } = build(100, { ...before, rest: 100 - (before.a ?? 0) });
    await served("a", 1000);
    await servedOfMany(200);
    change(100, { ...after, rest: 100 - (after.a ?? 0) });
    expect((await take("a")).reserved.quota).toBe(after.a ?? 0);
    expect(await served("a", 1000)).toBe(Math.max(0, more - 1));
  });

  test("a change of the shared pool takes effect within a second, also if another key brings it", async () => {
    const { clock, take, served, change } = build(10);
    await served("a", 1000);
    expect((await take("a")).allowed).toBe(false);
    change(1000, {});
    expect((await take("b")).shared.quota).toBe(1000);
    clock.advance(1000);
    expect(await served("a", 500)).toBe(500);
    change(5, {});
    expect((await take("b")).shared).toMatchObject({ quota: 5 });
    expect(await served("a", 1000)).toBeLessThanOrEqual(5);
  });

  test("a change creates no tokens: a larger pool fills at its new rate", async () => {
    const { clock, servedOfMany, change } = build(10);
    expect(await servedOfMany(500)).toBe(12);
    change(1000, {});
    expect(await servedOfMany(2000)).toBe(0);
    clock.advance(100);
    expect(await servedOfMany(2000)).toBe(100);
  });

  test.each<[string, number, Floors]>([
    ["a higher limit", 1, {}],
    ["a floor that was given up", 100, { a: 100 }],
  ])("a change takes effect after a second without requests: %s", async (_, before, floors) => {
    const { clock, take, servedOfMany, change } = build(before, floors);
    await take("a");
    clock.advance(10_000);
    change(100, {});
    clock.advance(1000);
    expect(await servedOfMany(100)).toBe(100);
  });

  test("tokens earned before a change are kept, up to the new capacity", async () => {
    const { clock, served, servedOfMany, change } = build(130, { a: 30 });
    await served("a", 1000);
    await servedOfMany(500);
    clock.advance(500);
    change(20, { a: 10 });
    expect(await servedOfMany(500)).toBe(12);
    expect(await served("a", 1000)).toBe(12);
  });

  test("a lowered floor stays lowered", async () => {
    const { clock, served, change } = build(30, { a: 30 });
    change(30, { a: 10, rest: 20 });
    await served("a", 1000);
    clock.advance(1000);
    expect(await served("a", 1000)).toBe(10);
  });

  test("a request that still has the older limits does not undo a change", async () => {
    const { take, allowanceOf, change } = build(100, { a: 10 });
    const older = allowanceOf("a");
    await take("a");
    change(50, { a: 20 });
    await take("a");
    expect(await take("a", older)).toMatchObject({ reserved: { quota: 20 }, shared: { quota: 30 } });
    expect(await take("a")).toMatchObject({ reserved: { quota: 20 }, shared: { quota: 30 } });
  });

  test("a change to the same figures adds no tokens", async () => {
    const { served, servedOfMany, change } = build(20, { a: 10 });
    await served("a", 1000);
    await servedOfMany(100);
    change(20, { a: 10 });
    expect((await served("a", 100)) + (await servedOfMany(100))).toBe(0);
  });

  test("a key has its floor even if its first request still has the limits from before a change", async () => {
    const { allowanceOf, change, take } = build(10, { a: 10 });
    const older = allowanceOf("a");
    change(10, { a: 9, b: 1 });
    await take("b");
    expect((await take("a", older)).allowed).toBe(true);
  });
});
