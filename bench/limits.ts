import { randomBytes } from "node:crypto";
import { createApp } from "../packages/server/src/app.ts";
import { createStore } from "../packages/server/src/create-store.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { createKeyring } from "../packages/server/src/lib/keyring.ts";
import { createLimiter, type Draw, type Limiter } from "../packages/server/src/rate-limit/limiter.ts";
import { createUseLog } from "../packages/server/src/rate-limit/use-log.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";
import { silentLog } from "../packages/server/test/support/silent-log.ts";
import { figureOf, inTurn } from "./measure/figures.ts";

/**
 * The cost of the limiter: `npm run bench:limits`.
 *
 * 1. A decision with 1, 1,000 and 100,000 keys in one store, and with as many sources of public tokens. Goal: below 3
 *    microseconds for any number.
 * 2. An authenticated read with the limiter and without, by turns in one process. Goal: less than 3 % more. The read
 *    does not use the network, so the limiter's share of a real request is smaller.
 */

const clock = steadyClock();
const DRAWS = 200_000;
const ROUNDS = 15;
const collect = (globalThis as { gc?: () => void }).gc ?? (() => {});
const keyIdOf = (index: number) => `01890000-0000-7000-8000-${index.toString(16).padStart(12, "0")}`;

/** In random order, which the processor cannot predict. */
function drawsOf(keys: number): Draw[] {
  const allowance = { revision: 1, rateLimit: 1_000_000, totalReserved: keys, reserved: 1 };
  const common = { storeId: "store", allowance, source: undefined, administration: false };
  const all = Array.from({ length: keys }, (_, index) => ({ ...common, keyId: keyIdOf(index) }));
  return Array.from({ length: DRAWS }, () => all[Math.floor(Math.random() * keys)] as Draw);
}

/** Public tokens from `sources` addresses, a thousand addresses to a key. */
function publicDrawsOf(sources: number): Draw[] {
  const allowance = { revision: 1, rateLimit: 1_000_000, totalReserved: 0, reserved: 0 };
  const common = { storeId: "store", allowance, administration: false };
  return Array.from({ length: DRAWS }, () => {
    const source = Math.floor(Math.random() * sources);
    const keyId = keyIdOf(source % Math.ceil(sources / 1000));
    return { ...common, keyId, source: `2001:db8:${source.toString(16)}:0::/64` };
  });
}

/** Nanoseconds for one draw, the median of the rounds. */
function timeOf(draws: Draw[], work: (draw: Draw) => void): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const startedAt = process.hrtime.bigint();
    for (const draw of draws) work(draw);
    return Number(process.hrtime.bigint() - startedAt) / draws.length;
  });
  return figureOf(rounds).median;
}

function costOfDecision(draws: Draw[]): { ns: number; bytesPerKey: number; bytesPerSource: number } {
  collect();
  const heapBefore = process.memoryUsage().heapUsed;
  const limiter = createLimiter({ clock, useLog: createUseLog() });
  for (const draw of draws) limiter.take(draw);
  collect();
  const bytes = process.memoryUsage().heapUsed - heapBefore;
  const { keys, sources } = limiter.size();
  const ns = timeOf(draws, (draw) => limiter.take(draw));
  return { ns, bytesPerKey: bytes / keys, bytesPerSource: bytes / sources };
}

/** The least work of any limiter with a state per key: find the state, read the clock, write a number. */
function costOfLookup(keys: number): number {
  const states = new Map<string, { count: number; atMs: number }>();
  return timeOf(drawsOf(keys), ({ keyId }) => {
    let state = states.get(keyId);
    if (!state) {
      state = { count: 0, atMs: 0 };
      states.set(keyId, state);
    }
    state.count++;
    state.atMs = clock.monotonicMs();
  });
}

const nothing = { reserved: { quota: 0, left: 0 }, shared: { quota: 1, left: 1 }, asked: 1 };

const noLimiter: Limiter = {
  take: () => ({ allowed: true, bucket: "shared", ...nothing, retryAfterSeconds: 0 }),
  look: () => nothing,
  async settle() {},
  async sweep() {},
  size: () => ({ stores: 0, keys: 0, sources: 0 }),
};

const READ_ROUNDS = 200;
const WARM_READS = 3000;
const READS = 100;

async function costInRequest(): Promise<{ withUs: number; withoutUs: number; ratio: number }> {
  const storage = await openStorage({ clock }, "sqlite::memory:");
  const keyring = createKeyring([randomBytes(32)]);
  const common = { publicUrl: "http://localhost", storage, clock, keyring, log: silentLog };
  const made = await createStore({ storage, clock }, { name: "Bench", rate_limit: 1_000_000 });
  const { clientId, clientSecret, id } = made.key;
  const limited = { app: createApp(common), times: [] as number[] };
  const unlimited = { app: createApp({ ...common, limiter: noLimiter }), times: [] as number[] };
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const answer = await limited.app.fetch(
    new Request("http://x/oauth/access_token", { method: "POST", body: new URLSearchParams(form) }),
  );
  const { access_token } = (await answer.json()) as { access_token: string };

  const round = async ({ app }: typeof limited, reads: number): Promise<number> => {
    const startedAt = process.hrtime.bigint();
    for (let i = 0; i < reads; i++) {
      const headers = { authorization: `Bearer ${access_token}` };
      const response = await app.fetch(new Request(`http://x/v2/application-keys/${id}`, { headers }));
      if (response.status !== 200) throw new Error(`the read answered ${response.status}`);
      await response.text();
    }
    return Number(process.hrtime.bigint() - startedAt) / reads / 1000;
  };
  for (const side of [limited, unlimited]) await round(side, WARM_READS);
  for (let i = 0; i < READ_ROUNDS; i++)
    for (const side of inTurn([limited, unlimited], i)) side.times.push(await round(side, READS));
  await storage.close();
  const ratios = limited.times.map((time, index) => time / (unlimited.times[index] as number));
  const [withUs, withoutUs, ratio] = [limited.times, unlimited.times, ratios].map(
    (values) => figureOf(values).median,
  ) as [number, number, number];
  return { withUs, withoutUs, ratio };
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
