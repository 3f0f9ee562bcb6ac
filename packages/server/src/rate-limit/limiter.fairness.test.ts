import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { describeLimiters, type MakeLimiter } from "../../test/support/limiters.ts";

/**
 * Somebody who asks about once every `everyMs` from `firstMs` on: a key's program, or a source of the one public key.
 */
type Pace = { keyId: string; source: string | undefined; firstMs: number; everyMs: number };
type Rates = { floor: number; pool: number };

type Play = Parameters<typeof playOn> extends [unknown, ...infer Rest] ? Rest : never;

const PUBLIC = "public";

const program = (keyId: string, everyMs: number, firstMs = 0): Pace => ({
  keyId,
  source: undefined,
  firstMs,
  everyMs,
});
const source = (name: string, everyMs: number, firstMs = 0): Pace => ({
  keyId: PUBLIC,
  source: name,
  firstMs,
  everyMs,
});

/** Lets all ask, each at its pace, in the order of time. The floor is that of the public key. */
async function playOn(
  makeLimiter: MakeLimiter,
  { floor, pool }: Rates,
  paces: readonly Pace[],
  endMs: number,
  see: (who: Pace, nowMs: number, allowed: boolean) => void,
  jitter: () => number = () => 1,
): Promise<void> {
  const clock = handClock();
  const limiter = makeLimiter({ clock });
  const due = paces.map((pace) => ({ pace, atMs: pace.firstMs }));
  for (let nowMs = 0; nowMs <= endMs; ) {
    const nextMs = Math.min(...due.map(({ atMs }) => atMs));
    clock.advance(nextMs - nowMs);
    nowMs = nextMs;
    const asking = due.filter(({ atMs }) => atMs === nextMs);
    const decisions = asking.map((next) => {
      next.atMs += next.pace.everyMs * jitter();
      const { keyId, source } = next.pace;
      const reserved = keyId === PUBLIC ? floor : 0;
      const allowance = { revision: 1, rateLimit: pool + floor, totalReserved: floor, reserved };
      return limiter.take({ storeId: "store", keyId, source, allowance, administration: false });
    });
    for (const [at, { allowed }] of (await Promise.all(decisions)).entries())
      see((asking[at] as (typeof due)[number]).pace, nowMs, allowed);
  }
}

/** Between a half and one and a half, in an order that the seed decides (a linear congruential generator). */
function irregular(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 0.5 + state / 2 ** 32;
  };
}

/**
 * The same rules hold between keys that share a pool, between sources that share a pool, and between sources in a
 * floor.
 */
const rivals: [string, (rate: number) => Rates, typeof program][] = [
  ["keys in a pool", (rate) => ({ floor: 0, pool: rate }), program],
  ["sources in a pool", (rate) => ({ floor: 0, pool: rate }), source],
  ["sources in a floor", (rate) => ({ floor: rate, pool: 0 }), source],
];

/** n rivals in a bucket that gives each of them at least five a second; all but the quiet ones ask without pause. */
const crowd = fc.integer({ min: 2, max: 8 }).chain((n) =>
  fc.record({
    n: fc.constant(n),
    rate: fc.integer({ min: 5 * n, max: 15 * n }),
    everyMs: fc.array(fc.integer({ min: 2, max: 12 }), { minLength: n, maxLength: n }),
    quiet: fc.integer({ min: 1, max: n - 1 }),
    firstMs: fc.nat(3000),
    moreMs: fc.oneof(fc.constant(0), fc.nat(1000), fc.nat(5000)),
    apart: fc.double({ min: 1.05, max: 3, noNaN: true }),
  }),
);

describeLimiters((makeLimiter, runs) => {
  const play = (...how: Play) => playOn(makeLimiter, ...how);

  describe.each(rivals)(
    "%s: n of them share a bucket that gives each at least five a second",
    (_, rates, rival) => {
      // Two of them within the time of one token find one between them: the second is refused, which is not fair and is
      // still so.
      test("a claimant that evenly uses a third of its n-th part is never refused, unless another such claimant has just drawn a token", async () => {
        await fc.assert(
          fc.asyncProperty(crowd, async ({ n, rate, everyMs, quiet, firstMs, moreMs, apart }) => {
            const floods = everyMs.slice(quiet).map((everyMs, index) => rival(`flood ${index}`, everyMs));
            const quietMs = Math.ceil((3000 * n) / rate) + moreMs;
            const others = Array.from({ length: quiet }, (_, index) =>
              rival(`quiet ${index}`, quietMs, firstMs + Math.ceil((index * apart * 1000) / rate)),
            );
            await play(rates(rate), [...floods, ...others], 10_000, (who, nowMs, allowed) => {
              if (others.includes(who)) expect(allowed, `${JSON.stringify(who)} at ${nowMs} ms`).toBe(true);
            });
          }),
          runs(15),
        );
      });

      test("a greedy claimant gets at least two thirds of its n-th part over ten seconds", async () => {
        await fc.assert(
          fc.asyncProperty(crowd, async ({ n, rate, everyMs }) => {
            const all = everyMs.map((everyMs, index) => rival(`flood ${index}`, everyMs));
            const served = new Map(all.map((who) => [who, 0]));
            await play(rates(rate), all, 12_000, (who, nowMs, allowed) => {
              if (allowed && nowMs > 2000) served.set(who, (served.get(who) ?? 0) + 1);
            });
            for (const count of served.values())
              expect(count).toBeGreaterThanOrEqual(((rate / n) * 10 * 2) / 3);
          }),
          runs(15),
        );
      });

      test("for any rate r, up to eight claimants with irregular requests are not refused for longer than 10n/r seconds", async () => {
        const pace = fc.oneof(fc.integer({ min: 10, max: 50 }), fc.integer({ min: 100, max: 400 }));
        const paces = fc.array(pace, { minLength: 2, maxLength: 8 });
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 2, max: 40 }), paces, fc.nat(), async (rate, everyMs, seed) => {
            const all = everyMs.map((everyMs, index) => rival(`flood ${index}`, everyMs));
            const mostMs = (10_000 * all.length) / rate;
            const refusedSinceMs = new Map<Pace, number>();
            const see = (who: Pace, nowMs: number, allowed: boolean) => {
              if (allowed) refusedSinceMs.delete(who);
              else if (!refusedSinceMs.has(who)) refusedSinceMs.set(who, nowMs);
              expect(nowMs - (refusedSinceMs.get(who) ?? nowMs)).toBeLessThanOrEqual(mostMs + 1000);
            };
            await play(rates(rate), all, Math.min(3 * mostMs, 30_000), see, irregular(seed));
          }),
          runs(15),
        );
      });

      test.each([
        [10, 1],
        [100, 4],
        [100, 19],
      ])(
        "in a bucket of %d, %d floods do not take from a claimant with one request a second",
        async (rate, floods) => {
          let refused = 0;
          const flood = Array.from({ length: floods }, (_, index) => rival(`flood ${index}`, 25));
          await play(
            rates(rate),
            [...flood, rival("quiet", 1000, 500)],
            60_000,
            ({ everyMs }, _, allowed) => {
              if (everyMs === 1000 && !allowed) refused++;
            },
          );
          expect(refused).toBe(0);
        },
      );
    },
  );

  describe("rivals", () => {
    /** Requests a second that each was served, over ten seconds after the first two. */
    async function servedASecond(rates: Rates, paces: readonly Pace[]): Promise<number[]> {
      const served = paces.map(() => 0);
      await play(rates, paces, 12_000, (who, nowMs, allowed) => {
        const at = paces.indexOf(who);
        if (allowed && nowMs > 2000) served[at] = (served[at] ?? 0) + 0.1;
      });
      return served;
    }
    const hundredSources = Array.from({ length: 100 }, (_, index) => source(`flood ${index}`, 50, index));

    test("in a pool, a key's program is one claimant, and all of its public is another, with any number of sources", async () => {
      const paces = [program("other", 5), program(PUBLIC, 5), ...hundredSources];
      const [other = 0, own = 0, ...flood] = await servedASecond({ floor: 0, pool: 90 }, paces);
      const ofPublic = flood.reduce((sum, each) => sum + each, 0);
      for (const third of [other, own, ofPublic]) expect(Math.abs(third - 30)).toBeLessThan(5);
    });

    test("in a pool, a public with one source gets at least half of its part, even if programs take all they can get", async () => {
      const paces = [source("server", 1), program("one", 1), program("two", 1)];
      const [server = 0, one = 0, two = 0] = await servedASecond({ floor: 0, pool: 100 }, paces);
      expect(Math.abs(one - two)).toBeLessThan(5);
      expect(server).toBeGreaterThan(100 / 3 / 2);
    });

    test("in a floor, the program that holds the key's secret is served before the public", async () => {
      const [own = 0, ...flood] = await servedASecond({ floor: 30, pool: 0 }, [
        program(PUBLIC, 50),
        ...hundredSources,
      ]);
      expect(own).toBeCloseTo(20, 0);
      expect(flood.reduce((sum, each) => sum + each, 0)).toBeCloseTo(10, 0);
    });

    test("a source that wants more than its part gets the rest of the others", async () => {
      const paces = [source("server", 10), source("shopper", 500), source("flood", 1)];
      const [server = 0, shopper = 0, flood = 0] = await servedASecond({ floor: 0, pool: 100 }, paces);
      expect(shopper).toBeCloseTo(2, 0);
      expect(server).toBeGreaterThan(40);
      expect(server + shopper + flood).toBeCloseTo(100, 0);
    });
  });
});
