import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openValkey, type Valkey } from "../../src/counters/valkey.ts";
import { capacityOf } from "../../src/rate-limit/fair-share.ts";
import type { Limiter, LimiterDecision } from "../../src/rate-limit/limiter.ts";
import { createSharedLimiter } from "../../src/rate-limit/shared-limiter.ts";
import { createUseLog } from "../../src/rate-limit/use-log.ts";
import { handClock } from "../support/clock.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { silentLog } from "../support/silent-log.ts";
import { quickest, until } from "../support/until.ts";
import { hasValkey, NO_VALKEY, startValkey, type ValkeyServer } from "../support/valkey-server.ts";

/** Limits of several instances on one Valkey, with every fault of Valkey. */

const POOL = 10;
const FLOOR = 20;
const PATIENT_MS = 30_000;
const AS_IN_PRODUCTION_MS = 50;

type Instance = { valkey: Valkey; limiter: Limiter };

let server: ValkeyServer;
let proxy: FaultProxy;
let clock: ReturnType<typeof handClock>;
let instances: Instance[];

beforeEach(async ({ skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  server = await startValkey();
  proxy = await startFaultProxy(server.port);
  clock = handClock();
  instances = [];
});
afterEach(async () => {
  server?.resume();
  for (const { valkey } of instances ?? []) await valkey.close();
  await proxy?.close();
  await server?.remove();
});

async function start(answerWithinMs: number, nowMs?: () => number): Promise<Instance> {
  const urls = [`redis://127.0.0.1:${proxy.port}`];
  const log = silentLog;
  const valkey = await openValkey({ urls, log, answerWithinMs, ...(nowMs && { nowMs }) });
  const instance = { valkey, limiter: createSharedLimiter({ valkey, clock, useLog: createUseLog() }) };
  instances.push(instance);
  return instance;
}

/** Two instances that count each other, with the clock of the test. */
async function startTwo(answerWithinMs: number): Promise<[Instance, Instance]> {
  const nowMs = () => clock.monotonicMs();
  const two: [Instance, Instance] = [await start(answerWithinMs, nowMs), await start(answerWithinMs, nowMs)];
  await until(() => two.every(({ valkey }) => valkey.instances() === 2));
  return two;
}

const take = async ({ limiter }: Instance, keyId = "flood"): Promise<LimiterDecision> =>
  limiter.take({
    storeId: "store",
    keyId,
    source: undefined,
    allowance: {
      revision: 1,
      rateLimit: POOL + FLOOR,
      totalReserved: FLOOR,
      reserved: keyId === "own" ? FLOOR : 0,
    },
    administration: false,
  });

/** The number of served requests, sent to all instances in turn. */
async function served(of: readonly Instance[], asked: number, keyId?: string): Promise<number> {
  const all = Array.from({ length: asked }, (_, at) => take(of[at % of.length] as Instance, keyId));
  return (await Promise.all(all)).filter(({ allowed }) => allowed).length;
}

/** Half of the reserve is kept for keys other than the one with most requests. */
const ALONE = POOL + Math.ceil(POOL / 10);

describe("several instances", () => {
  test("serve together as much as one instance would, at once and in every later second", async () => {
    const two = await startTwo(PATIENT_MS);
    expect(await served(two, 100)).toBe(ALONE);
    for (let second = 0; second < 5; second++) {
      clock.advance(1000);
      expect(await served(two, 100)).toBe(POOL);
    }
  });

  test("share a reservation: the key has it once, on any instance", async () => {
    const two = await startTwo(PATIENT_MS);
    await served(two, 100);
    // And the request that the pool still has for a new source.
    expect(await served(two, 100, "own")).toBe(capacityOf(FLOOR) + 1);
  });

  test("that find Valkey empty serve one more second's worth and the reserve, all together", async () => {
    const two = await startTwo(PATIENT_MS);
    await served(two, 100);
    await server.say("FLUSHALL");
    expect(await served(two, 100)).toBe(ALONE);
    expect(await served(two, 100)).toBe(0);
  });
});

test("the state of a store expires ten seconds after its last use", async () => {
  const instance = await start(PATIENT_MS);
  // Several in one second, of which only the first moves the expiry.
  for (const source of ["192.0.2.1", "192.0.2.2", "192.0.2.1"])
    await instance.limiter.take({
      storeId: "store",
      keyId: "public",
      source,
      allowance: { revision: 1, rateLimit: 10, totalReserved: 1, reserved: 1 },
      administration: false,
    });
  for (const name of ["limits", "key:public", "sources:public"]) {
    const [, ms] = /:(-?\d+)/.exec(await server.say(`PTTL lk:{store}:2:${name}`)) ?? [];
    expect(Number(ms), name).toBeGreaterThan(0);
    expect(Number(ms), name).toBeLessThanOrEqual(10_000);
  }
});

test("a key has at most a thousand remembered sources, also in Valkey", async () => {
  const { limiter } = await start(PATIENT_MS, () => clock.monotonicMs());
  const allowance = { revision: 1, rateLimit: 100_000, totalReserved: 0, reserved: 0 };
  const draw = { storeId: "store", keyId: "public", allowance, administration: false };
  await Promise.all(
    Array.from({ length: 1500 }, (_, at) => limiter.take({ ...draw, source: `source ${at}` })),
  );
  expect(await server.say("HLEN lk:{store}:2:sources:public")).toBe(":1000\r\n");
});

test("a source stays remembered while it is served, also when the key's program is the first in every second", async () => {
  const { limiter } = await start(PATIENT_MS, () => clock.monotonicMs());
  const allowance = { revision: 1, rateLimit: 100, totalReserved: 0, reserved: 0 };
  const draw = { storeId: "store", keyId: "both", allowance, administration: false };
  await limiter.take({ ...draw, source: "192.0.2.1" });
  // Shortens the time for which the sources are kept, as if most of it had passed.
  await server.say("PEXPIRE lk:{store}:2:sources:both 5000");
  clock.advance(1000);
  await limiter.take({ ...draw, source: undefined });
  await limiter.take({ ...draw, source: "192.0.2.1" });
  const leftMs = Number((await server.say("PTTL lk:{store}:2:sources:both")).slice(1));
  expect(leftMs).toBeGreaterThan(5000);
});

test("a server's clock that is set back does not stop refilling", async () => {
  let aheadMs = 0;
  const instance = await start(PATIENT_MS, () => clock.monotonicMs() + aheadMs);
  await served([instance], 100);
  aheadMs = -500_000;
  expect(await served([instance], 100)).toBe(0);
  clock.advance(1000);
  expect(await served([instance], 100)).toBe(POOL);
});

test("a server's clock that is set back excludes no source: the largest one still shares with a new one", async () => {
  let aheadMs = 0;
  const instance = await start(PATIENT_MS, () => clock.monotonicMs() + aheadMs);
  await served([instance], 100, "before");
  aheadMs = -3_600_000;
  const had = { before: 0, new: 0 };
  for (let tenths = 0; tenths < 100; tenths++) {
    clock.advance(100);
    for (const keyId of ["before", "new"] as const) had[keyId] += await served([instance], 3, keyId);
  }
  expect(Math.min(had.before, had.new)).toBeGreaterThan(3 * POOL);
});

const faults: [string, () => unknown, () => unknown][] = [
  ["stopped", () => server.stop(), () => server.start()],
  ["standing still", () => server.pause(), () => server.resume()],
  ["behind a line that takes 100 ms", () => (proxy.toServer.delayMs = 100), () => proxy.mend()],
  ["in a black hole", () => proxy.blackHole(), () => proxy.mend()],
];

describe.each(faults)("Valkey that is %s", (_, begin, end) => {
  test("floors are served, each of two instances gives half of the pool, then the limit is exact again (T47)", async () => {
    const two = await startTwo(AS_IN_PRODUCTION_MS);
    const [one] = two;
    /** Each decision reports the quota to share. A busy machine can miss an answer, so several attempts may be needed. */
    const untilShared = (quota: number) =>
      until(async () => {
        clock.advance(1000);
        // No more than the floor in any second: all of it is served, whether Valkey or an instance decides.
        expect(await served(two, FLOOR, "own")).toBe(FLOOR);
        const decisions = await Promise.all(two.map((instance) => take(instance)));
        return decisions.every(({ shared }) => shared.quota === quota);
      });
    await untilShared(POOL);
    await begin();
    await untilShared(POOL / 2);
    clock.advance(10_000);
    expect(await served([one], 100)).toBe(POOL / 2 + 1);
    await end();
    await untilShared(POOL);
    await until(async () => {
      clock.advance(10_000);
      return (await served(two, 100)) === ALONE;
    });
  });
});

describe("waiting for Valkey", () => {
  test("takes at most 50 ms, and no time after the first failure", async () => {
    const instance = await start(AS_IN_PRODUCTION_MS);
    const waitedMs = await quickest(100, async () => {
      server.resume();
      await until(() => !instance.valkey.isAway());
      server.pause();
      const startedMs = performance.now();
      await take(instance);
      return performance.now() - startedMs;
    });
    expect(waitedMs).toBeLessThan(100);
    await until(instance.valkey.isAway);
    // Decided in this turn of the event loop.
    const draw = { storeId: "store", keyId: "a", source: undefined, administration: false };
    const allowance = { revision: 1, rateLimit: 10, totalReserved: 0, reserved: 0 };
    expect(instance.limiter.take({ ...draw, allowance })).not.toBeInstanceOf(Promise);
  });

  test.each(faults)("ends within a second of the return of a Valkey that was %s", async (_, begin, end) => {
    const { valkey } = await start(AS_IN_PRODUCTION_MS);
    const tookMs = await quickest(1000, async () => {
      await until(() => !valkey.isAway());
      await begin();
      await until(valkey.isAway);
      await end();
      return until(() => !valkey.isAway());
    });
    expect(tookMs).toBeLessThan(1000);
  });
});
