import fc from "fast-check";
import { expect, test } from "vitest";
import { refusedIn } from "./foresee.ts";
import { type Plan, plan } from "./plan.ts";

type Asked = Record<string, number>;

const planOf = (rateLimit: number, floors: Asked): Plan =>
  plan(
    rateLimit,
    Object.entries(floors).map(([keyId, reserved]) => ({ keyId, reserved })),
  );

type Use = { keyId: string; asked: number };

const inSecond = (asked: Asked): Use[] => Object.entries(asked).map(([keyId, asked]) => ({ keyId, asked }));

const foresee = (uses: readonly Use[], plan: Plan): Map<string, number> => {
  const asked = new Map(uses.map((use) => [use.keyId, use.asked]));
  return new Map(refusedIn(asked, plan).map(({ keyId, refused }) => [keyId, refused]));
};

test.each<[string, number, Asked, Asked, Asked]>([
  ["a quiet second", 100, {}, { a: 10, b: 20 }, {}],
  ["just the limit", 100, {}, { a: 60, b: 40 }, {}],
  ["one key over the limit", 100, {}, { a: 130 }, { a: 30 }],
  ["the pool is dealt evenly", 100, {}, { a: 80, b: 80 }, { a: 30, b: 30 }],
  ["a small wish is met in full", 100, {}, { a: 10, b: 500 }, { b: 410 }],
  ["what one leaves goes to the others", 90, {}, { a: 10, b: 35, c: 100 }, { c: 55 }],
  [
    "a remainder that cannot be divided evenly is given out too",
    10,
    {},
    { a: 10, b: 10, c: 10 },
    { a: 7, b: 7, c: 6 },
  ],
  ["a floor comes first", 100, { a: 20 }, { a: 20, b: 500 }, { b: 420 }],
  ["above its floor a key competes like the others", 100, { a: 20 }, { a: 100, b: 100 }, { a: 40, b: 60 }],
  ["a floor is not lent", 100, { a: 60 }, { b: 100 }, { b: 60 }],
  ["a part of a floor is not lent", 100, { a: 60 }, { a: 10, b: 50 }, { b: 10 }],
  ["all is reserved", 100, { a: 100 }, { a: 100, b: 5 }, { b: 5 }],
  ["an unused floor", 100, { a: 10 }, { b: 90 }, {}],
])("%s", (_, rateLimit, floors, asked, refused) => {
  expect(Object.fromEntries(foresee(inSecond(asked), planOf(rateLimit, floors)))).toEqual(refused);
});

test("without requests there is no refusal", () => {
  expect(foresee([], planOf(100, { a: 10 }))).toEqual(new Map());
});

const keyId = fc.constantFrom("a", "b", "c", "d", "e");
const somePlan = fc
  .record({ floors: fc.dictionary(keyId, fc.nat(30)), free: fc.nat(60) })
  .map(({ floors, free }) => {
    const reserved = Object.values(floors).reduce((sum, floor) => sum + floor, 0);
    return { rateLimit: reserved + free, plan: planOf(reserved + free, floors) };
  });
const oneSecond = fc.dictionary(keyId, fc.integer({ min: 1, max: 120 })).map((asked) => inSecond(asked));

/** What each key asked, had refused, and asked above its floor, in one second. */
const judge = (uses: readonly Use[], plan: Plan) => {
  const refused = foresee(uses, plan);
  return uses.map(({ keyId, asked }) => ({
    asked,
    refused: refused.get(keyId) ?? 0,
    over: Math.max(0, asked - (plan.floors.get(keyId) ?? 0)),
  }));
};
const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

test("no second serves more than the limit", () => {
  fc.assert(
    fc.property(somePlan, oneSecond, ({ rateLimit, plan }, uses) => {
      const served = total(judge(uses, plan).map(({ asked, refused }) => asked - refused));
      expect(served).toBeLessThanOrEqual(rateLimit);
    }),
  );
});

test("no key is refused within its floor, or more than it requested above it", () => {
  fc.assert(
    fc.property(somePlan, oneSecond, ({ plan }, uses) => {
      for (const { refused, over } of judge(uses, plan)) {
        expect(refused).toBeGreaterThanOrEqual(0);
        expect(refused).toBeLessThanOrEqual(over);
      }
    }),
  );
});

test("refusals are exactly the requests above the floors that do not fit into the shared pool", () => {
  fc.assert(
    fc.property(somePlan, oneSecond, ({ plan }, uses) => {
      const judged = judge(uses, plan);
      const over = total(judged.map(({ over }) => over));
      expect(total(judged.map(({ refused }) => refused))).toBe(Math.max(0, over - plan.shared));
    }),
  );
});

test("a refused key got at least as much of the pool as any other key, minus one", () => {
  fc.assert(
    fc.property(somePlan, oneSecond, ({ plan }, uses) => {
      const judged = judge(uses, plan);
      const most = Math.max(0, ...judged.map(({ over, refused }) => over - refused));
      for (const { over, refused } of judged) {
        if (refused > 0) expect(over - refused).toBeGreaterThanOrEqual(most - 1);
      }
    }),
  );
});

test("without reservations, a second with at most the limit of requests has no refusal", () => {
  fc.assert(
    fc.property(oneSecond, fc.nat(50), (uses, more) => {
      const rateLimit = total(uses.map(({ asked }) => asked)) + more;
      expect(foresee(uses, planOf(rateLimit, {}))).toEqual(new Map());
    }),
  );
});

test("the order of log entries does not change the result", () => {
  fc.assert(
    fc.property(somePlan, oneSecond, ({ plan }, uses) => {
      const sorted = (map: Map<string, number>) => total([...map.values()]);
      expect(sorted(foresee(uses.toReversed(), plan))).toBe(sorted(foresee(uses, plan)));
    }),
  );
});
