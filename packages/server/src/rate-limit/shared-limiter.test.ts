import fc from "fast-check";
import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { describeLimiters } from "../../test/support/limiters.ts";
import type { LimiterDecision } from "./limiter.ts";
import { createLimiter } from "./limiter.ts";
import { createUseLog } from "./use-log.ts";

/** What is written twice, in TypeScript and in Lua, must be the same twice. */
describeLimiters((makeLimiter, runs) => {
  const what = fc.record({
    keyId: fc.constantFrom("a", "b", "c"),
    source: fc.constantFrom(undefined, undefined, "x", "y", "z"),
    administration: fc.boolean(),
    times: fc.integer({ min: 1, max: 12 }),
  });
  const step = fc.record({
    gapMs: fc.oneof(fc.constant(0), fc.nat(30), fc.nat(400), fc.nat(12_000)),
    draws: fc.array(what, { maxLength: 6 }),
    change: fc.option(
      fc.record({ pool: fc.nat(30), floors: fc.dictionary(fc.constantFrom("a", "b"), fc.nat(15)) }),
      { freq: 6 },
    ),
    isOld: fc.boolean(),
  });

  // Whoever has had three of the four that another had leaves 1.5 tokens, which both must round alike.
  const one = { source: undefined, administration: false, times: 1 };
  const threeOfFour: [number, (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]] = [
    7,
    [
      {
        gapMs: 0,
        draws: [
          { ...one, keyId: "b", times: 4 },
          { ...one, keyId: "a", source: "y", times: 8 },
        ],
        change: null,
        isOld: false,
      },
      {
        gapMs: 152,
        draws: [{ ...one, keyId: "a", source: "z" }],
        change: { pool: 20, floors: {} },
        isOld: false,
      },
    ],
  ];

  test("every decision has the same figures as that of the limiter in process", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(30), fc.array(step, { maxLength: 40 }), async (pool, steps) => {
        const clock = handClock();
        const limiter = makeLimiter({ clock });
        const model = createLimiter({ clock, useLog: createUseLog() });
        const plans: { pool: number; floors: Record<string, number> }[] = [{ pool, floors: { a: 5 } }];
        for (const { gapMs, draws, change, isOld } of steps) {
          clock.advance(gapMs);
          if (change) plans.push(change);
          const revision = isOld && plans.length > 1 ? plans.length - 1 : plans.length;
          const { pool, floors } = plans[revision - 1] as (typeof plans)[number];
          const totalReserved = Object.values(floors).reduce((sum, floor) => sum + floor, 0);
          const all = draws.flatMap(({ times, ...draw }) => Array.from({ length: times }, () => draw));
          const asked = all.map((draw) => {
            const reserved = floors[draw.keyId] ?? 0;
            const allowance = { revision, rateLimit: pool + totalReserved, totalReserved, reserved };
            return { ...draw, storeId: "store", allowance };
          });
          const expected: LimiterDecision[] = asked.map((draw) => model.take(draw));
          expect(await Promise.all(asked.map((draw) => limiter.take(draw)))).toEqual(expected);
          for (const draw of asked.slice(0, 3))
            expect(await limiter.look(draw)).toMatchObject(model.look(draw));
        }
      }),
      { ...runs(300), examples: [threeOfFour] },
    );
  });
});
