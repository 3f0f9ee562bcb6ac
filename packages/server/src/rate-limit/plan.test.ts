import fc from "fast-check";
import { expect, test } from "vitest";
import { fits, mostReservable, plan } from "./plan.ts";

const limit = fc.integer({ min: 1, max: 1_000_000 });

/** A limit, and reservations of keys that fit in it together. */
const reservedWithin = limit.chain((rateLimit) =>
  fc.record({
    rateLimit: fc.constant(rateLimit),
    reservations: fc.array(fc.nat(rateLimit), { maxLength: 8 }).map((wishes) => {
      let left = rateLimit;
      return wishes.map((wish, index) => {
        const reserved = Math.min(wish, left);
        left -= reserved;
        return { keyId: `key ${index}`, reserved };
      });
    }),
  }),
);

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);

test.each([
  ["nothing reserved: all is shared", 100, [], 100],
  ["some reserved", 100, [20, 30], 50],
  ["all reserved: nothing is shared", 100, [60, 40], 0],
  ["all reserved by one", 1, [1], 0],
  ["a key without reservation has no floor", 100, [0, 20, 0], 80],
])("%s", (_, rateLimit, reserved, shared) => {
  const made = plan(
    rateLimit,
    reserved.map((reserved, index) => ({ keyId: `${index}`, reserved })),
  );
  expect(made.shared).toBe(shared);
  expect([...made.floors.values()]).toEqual(reserved.filter((floor) => floor > 0));
});

test("floors and pool add up to the limit, and none is negative", () => {
  fc.assert(
    fc.property(reservedWithin, ({ rateLimit, reservations }) => {
      const { floors, shared } = plan(rateLimit, reservations);
      expect(sum(floors.values()) + shared).toBe(rateLimit);
      expect(Math.min(shared, ...floors.values())).toBeGreaterThanOrEqual(0);
      for (const { keyId, reserved } of reservations) expect(floors.get(keyId) ?? 0).toBe(reserved);
    }),
  );
});

test("more than the limit cannot be reserved", () => {
  fc.assert(
    fc.property(reservedWithin, fc.integer({ min: 1, max: 1000 }), ({ rateLimit, reservations }, tooMany) => {
      const left = rateLimit - sum(reservations.map(({ reserved }) => reserved));
      const over = [...reservations, { keyId: "one more", reserved: left + tooMany }];
      expect(() => plan(rateLimit, over)).toThrow(RangeError);
    }),
  );
});

test("random accepted changes keep the sum within the limit, and refused ones would have exceeded it", () => {
  const change = fc.record({ keyId: fc.constantFrom("a", "b", "c", "d"), reserved: fc.nat(120) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.array(change), (rateLimit, changes) => {
      const current = new Map<string, number>();
      for (const { keyId, reserved } of changes) {
        const byOthers = sum([...current].filter(([other]) => other !== keyId).map(([, floor]) => floor));
        if (fits(rateLimit, byOthers, reserved)) current.set(keyId, reserved);
        else expect(byOthers + reserved).toBeGreaterThan(rateLimit);
        const { floors, shared } = plan(
          rateLimit,
          [...current].map(([keyId, reserved]) => ({ keyId, reserved })),
        );
        expect(sum(floors.values()) + shared).toBe(rateLimit);
        expect(shared).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});

test("the highest possible reservation fits, and one more does not", () => {
  fc.assert(
    fc.property(limit, fc.nat(1_000_000), (rateLimit, byOthers) => {
      const most = mostReservable(rateLimit, byOthers);
      expect(most).toBe(byOthers > rateLimit ? 0 : rateLimit - byOthers);
      expect(fits(rateLimit, byOthers, most)).toBe(true);
      expect(fits(rateLimit, byOthers, most + 1)).toBe(false);
    }),
  );
});
