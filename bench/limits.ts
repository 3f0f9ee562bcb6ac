import { randomBytes } from "node:crypto";
import { createApp } from "../packages/server/src/app.ts";
import { createStore } from "../packages/server/src/create-store.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { createKeyring } from "../packages/server/src/lib/keyring.ts";
import { createLimiter, type Draw, type Limiter } from "../packages/server/src/rate-limit/limiter.ts";
import { createUseLog } from "../packages/server/src/rate-limit/use-log.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";
import { silentLog } from "../packages/server/test/support/silent-log.ts";

/**
 * What the limiter costs. Run it with `npm run bench:limits`.
 *
 * 1. One decision, with 1, 1,000 and 100,000 keys in one store, and with as many sources of public tokens: should be
 *    flat, and below 3 microseconds.
 * 2. An authenticated read with the limiter, against the same read without it, turn about in one process: should be
 *    less than 3 % more. There is no network in it, so a real request's share is smaller than what is printed.
 */

const clock = steadyClock();
const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
const collect = (globalThis as { gc?: () => void }).gc ?? (() => {});

function drawsOf(keys: number): Draw[] {
  const allowance = { revision: 1, rateLimit: 1_000_000, totalReserved: keys, reserved: 1 };
  const all = Array.from({ length: keys }, (_, index) => ({
    storeId: "store",
    keyId: `01890000-0000-7000-8000-${index.toString(16).padStart(12, "0")}`,
    allowance,
    source: undefined,
    administration: false,
  }));
  // In an order that the processor cannot foresee.
  return Array.from({ length: 200_000 }, () => all[Math.floor(Math.random() * keys)] as Draw);
}

/** Public tokens, used from so many addresses, a thousand to a key. */
function publicDrawsOf(sources: number): Draw[] {
  const allowance = { revision: 1, rateLimit: 1_000_000, totalReserved: 0, reserved: 0 };
  return Array.from({ length: 200_000 }, () => {
    const source = Math.floor(Math.random() * sources);
    return {
      storeId: "store",
      keyId: `01890000-0000-7000-8000-${(source % Math.ceil(sources / 1000)).toString(16).padStart(12, "0")}`,
      source: `2001:db8:${source.toString(16)}:0::/64`,
      allowance,
      administration: false,
    };
  });
}

function costOfDecision(draws: Draw[]): { ns: number; bytesPerKey: number; bytesPerSource: number } {
  collect();
  const heapBefore = process.memoryUsage().heapUsed;
  const limiter = createLimiter({ clock, useLog: createUseLog() });
  for (const draw of draws) limiter.take(draw);
  collect();
  const bytes = process.memoryUsage().heapUsed - heapBefore;
  const { keys, sources } = limiter.size();
  const rounds = Array.from({ length: 15 }, () => {
    const startedAt = process.hrtime.bigint();
    for (const draw of draws) limiter.take(draw);
    return Number(process.hrtime.bigint() - startedAt) / draws.length;
  });
  return { ns: median(rounds), bytesPerKey: bytes / keys, bytesPerSource: bytes / sources };
}

/** What any limiter with a state per key must at least do: find the state, read the clock, write a number. */
function costOfLookup(keys: number): number {
  const draws = drawsOf(keys);
  const states = new Map<string, { count: number; atMs: number }>();
  const rounds = Array.from({ length: 15 }, () => {
    const startedAt = process.hrtime.bigint();
    for (const { keyId } of draws) {
      let state = states.get(keyId);
      if (!state) {
        state = { count: 0, atMs: 0 };
        states.set(keyId, state);
      }
      state.count++;
      state.atMs = clock.monotonicMs();
    }
    return Number(process.hrtime.bigint() - startedAt) / draws.length;
  });
  return median(rounds);
}

const nothing = { reserved: { quota: 0, left: 0 }, shared: { quota: 1, left: 1 }, asked: 1 };

const noLimiter: Limiter = {
  take: () => ({ allowed: true, bucket: "shared", ...nothing, retryAfterSeconds: 0 }),
  look: () => nothing,
  async settle() {},
  async sweep() {},
  size: () => ({ stores: 0, keys: 0, sources: 0 }),
};

async function costInRequest(): Promise<{ withUs: number; withoutUs: number; ratio: number }> {
  const storage = await openStorage({ clock }, "sqlite::memory:");
  const keyring = createKeyring([randomBytes(32)]);
  const log = silentLog;
  const common = { publicUrl: "http://localhost", storage, clock, keyring, log };
  const made = await createStore({ storage, clock }, { name: "Bench", rate_limit: 1_000_000 });
  const { clientId, clientSecret, id } = made.key;
  const apps = { limited: createApp(common), unlimited: createApp({ ...common, limiter: noLimiter }) };
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
  });
  const answer = await apps.limited.fetch(
    new Request("http://x/oauth/access_token", { method: "POST", body: form }),
  );
  const { access_token } = (await answer.json()) as { access_token: string };

  const round = async (app: typeof apps.limited, requests: number): Promise<number> => {
    const startedAt = process.hrtime.bigint();
    for (let i = 0; i < requests; i++) {
      const headers = { authorization: `Bearer ${access_token}` };
      const response = await app.fetch(new Request(`http://x/v2/application-keys/${id}`, { headers }));
      if (response.status !== 200) throw new Error(`the read answered ${response.status}`);
      await response.text();
    }
    return Number(process.hrtime.bigint() - startedAt) / requests / 1000;
  };
  await round(apps.limited, 3000);
  await round(apps.unlimited, 3000);
  const limited: number[] = [];
  const unlimited: number[] = [];
  for (let i = 0; i < 200; i++) {
    // Whoever goes second profits from warm caches, so they take turns at it.
    const order =
      i % 2 === 0
        ? ([
            ["limited", limited],
            ["unlimited", unlimited],
          ] as const)
        : ([
            ["unlimited", unlimited],
            ["limited", limited],
          ] as const);
    for (const [name, times] of order) times.push(await round(apps[name], 100));
  }
  await storage.close();
  const ratios = limited.map((time, index) => time / (unlimited[index] as number));
  return { withUs: median(limited), withoutUs: median(unlimited), ratio: median(ratios) };
}

const verdict = (isMet: boolean) => (isMet ? "met" : "MISSED");

console.log(`Node ${process.version}\n\nOne decision`);
for (const keys of [1, 1000, 100_000]) {
  const { ns, bytesPerKey } = costOfDecision(drawsOf(keys));
  const lookup = costOfLookup(keys);
  const memory = keys >= 1000 ? `   ${Math.round(bytesPerKey)} bytes a key in memory` : "";
  console.log(
    `  ${String(keys).padStart(7)} keys   ${ns.toFixed(0).padStart(5)} ns, ${(ns / lookup).toFixed(1)} times a bare lookup (${lookup.toFixed(0)} ns)   below 3,000 ns: ${verdict(ns < 3000)}${memory}`,
  );
}
for (const sources of [1, 1000, 100_000]) {
  const { ns, bytesPerSource } = costOfDecision(publicDrawsOf(sources));
  const memory = sources > 1000 ? `   ${Math.round(bytesPerSource)} bytes a source in memory` : "";
  console.log(
    `  ${String(sources).padStart(7)} sources ${ns.toFixed(0).padStart(5)} ns   below 3,000 ns: ${verdict(ns < 3000)}${memory}`,
  );
}
const { withUs, withoutUs, ratio } = await costInRequest();
console.log(`\nAn authenticated read, in process
  without the limiter  ${withoutUs.toFixed(1)} µs
  with the limiter     ${withUs.toFixed(1)} µs   ratio ${ratio.toFixed(3)}   below 1.03: ${verdict(ratio < 1.03)}`);
