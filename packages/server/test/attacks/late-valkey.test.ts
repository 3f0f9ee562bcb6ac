import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { openValkey, type Valkey } from "../../src/counters/valkey.ts";
import { steadyClock } from "../../src/lib/clock.ts";
import { capacityOf } from "../../src/rate-limit/fair-share.ts";
import { createSharedLimiter } from "../../src/rate-limit/shared-limiter.ts";
import { createUseLog } from "../../src/rate-limit/use-log.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { silentLog } from "../support/silent-log.ts";
import { until } from "../support/until.ts";
import { hasValkey, NO_VALKEY, startValkey } from "../support/valkey-server.ts";

/** The attack: a store is flooded with 720 requests in 6 s at a limit of 60 a second, while Valkey answers late. */

const LIMIT = 60;
const INSTANCES = 3;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test("three instances with a late Valkey serve the limit and one burst, and no new burst for each outage", async ({
  skip,
}) => {
  if (!hasValkey) return skip(NO_VALKEY);
  const server = await startValkey();
  const proxy = await startFaultProxy(server.port);
  closing.push(server.remove, proxy.close);
  const clock = steadyClock();
  const valkeys: Valkey[] = [];
  for (let at = 0; at < INSTANCES; at++) {
    const valkey = await openValkey({ urls: [proxy.via(server.url)], log: silentLog });
    valkeys.push(valkey);
    closing.push(valkey.close);
  }
  await until(() => valkeys.every((valkey) => !valkey.isAway() && valkey.instances() === INSTANCES));
  const limiters = valkeys.map((valkey) => createSharedLimiter({ valkey, clock, useLog: createUseLog() }));
  const allowance = { revision: 1, rateLimit: LIMIT, totalReserved: 0, reserved: 0 };
  const draw = { storeId: "store", keyId: "key", source: undefined, allowance, administration: false };

  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  let served = 0;
  const flood = async (limiter: (typeof limiters)[number]) => {
    while (elapsedMs() < 6000) {
      const decisions = await Promise.all(Array.from({ length: 5 }, () => limiter.take(draw)));
      served += decisions.filter(({ allowed }) => allowed).length;
      await sleep(5);
    }
  };
  const disturb = async () => {
    while (elapsedMs() < 6000) {
      proxy.toClient.delayMs = elapsedMs() % 1000 < 300 ? 100 : 0;
      await sleep(10);
    }
    proxy.toClient.delayMs = 0;
  };
  await Promise.all([...limiters.map(flood), disturb()]);

  expect(valkeys.every((valkey) => valkey.counts().losses > 0)).toBe(true);
  expect(served).toBeLessThanOrEqual((LIMIT * elapsedMs()) / 1000 + 2 * capacityOf(LIMIT));
});
