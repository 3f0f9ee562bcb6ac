import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openValkey } from "../packages/server/src/counters/valkey.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { createSharedLimiter } from "../packages/server/src/rate-limit/shared-limiter.ts";
import { createSharedUseLog } from "../packages/server/src/rate-limit/shared-use-log.ts";
import { createUseLog } from "../packages/server/src/rate-limit/use-log.ts";
import { handClock } from "../packages/server/test/support/clock.ts";
import { silentLog } from "../packages/server/test/support/silent-log.ts";
import { hasValkey, NO_VALKEY, startValkey } from "../packages/server/test/support/valkey-server.ts";
import { createStore, envOf, serveLatchkey } from "./latchkey.ts";
import { type Figure, figureOf, measureRound, perSecond, type Round, type Runner } from "./measure.ts";
import { startServer } from "./processes.ts";
import { describeMachine, loadSoFar } from "./results.ts";
import { spread, time } from "./words.ts";
import { readKey } from "./workloads/reads.ts";

/**
 * What it costs to count together. Run it with `npm run bench:valkey`; Linux, two to three minutes.
 *
 * 1. An authenticated read (GET an application key, SQLite), by a service that counts for itself and by one that counts in
 *    Valkey, turn about: latency, requests a second, CPU time of the service and of Valkey for one request.
 * 2. Decisions alone, so many in one turn of the event loop: what one core of Valkey can decide in a second.
 * 3. What Valkey keeps in memory: of a key's limits, and of the log of use.
 */
const CONNECTIONS = [1, 16, 256];
const ROUNDS = 7;
const ROUND_SECONDS = 1.5;
const BATCHES = [1, 16, 200];

type Side = { p50Us: Figure; p99Us: Figure; perSecond: Figure; cpuUs: Figure; valkeyUs: Figure };
type Row = { connections: number; inProcess: Side; inValkey: Side; losses: number };
type Deciding = { stores: number; together: number; valkeyUs: number; ourUs: number };

if (!hasValkey) throw new Error(NO_VALKEY);
const folder = mkdtempSync(join(tmpdir(), "latchkey-bench-valkey-"));
const valkey = await startValkey();
/** Its only busy thread, whose time on a processor is the first number here, in nanoseconds. */
const valkeyCpuUs = () =>
  Number(readFileSync(`/proc/${valkey.pid()}/schedstat`, "utf8").split(" ")[0]) / 1000;

async function startRunner(name: string, more: Record<string, string>): Promise<Runner> {
  const env = { ...envOf(`sqlite:${join(folder, `${name}.db`)}`, "http://127.0.0.1:1"), ...more };
  const made = await createStore(env);
  const { server, url } = await serveLatchkey(env);
  const { id: keyId, client_id: clientId, client_secret: clientSecret } = made.application_key;
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const body = new URLSearchParams(form);
  const answer = await fetch(`${url}/oauth/access_token`, { method: "POST", body });
  const { access_token: accessToken } = (await answer.json()) as { access_token: string };
  const none = { realmId: "", profileId: "", implicitToken: "", idp: "" };
  const customer = { id: "", token: "", email: "", password: "" };
  const ids = { storeId: made.store.id, keyId, clientId, clientSecret };
  return { server, target: { contestant: "latchkey", url, ...ids, accessToken, ...none, customer } };
}

const sideOf = (rounds: readonly Round[]): Side => ({
  p50Us: figureOf(rounds.map(({ p50Us }) => p50Us)),
  p99Us: figureOf(rounds.map(({ p99Us }) => p99Us)),
  perSecond: figureOf(rounds.map(perSecond)),
  cpuUs: figureOf(rounds.map(({ cpuUs }) => cpuUs)),
  valkeyUs: figureOf(rounds.map(({ databaseUs }) => databaseUs)),
});

/** How often a service was not answered within 50 ms: it then counts for itself for 200 ms. */
async function lossesOf({ target }: Runner): Promise<number> {
  const metrics = await (await fetch(`${target.url}/metrics`)).text();
  return Number(/^latchkey_valkey_losses_total (\d+)/m.exec(metrics)?.[1]);
}

async function compareReads(): Promise<Row[]> {
  const load = await startServer("load.ts");
  const inProcess = await startRunner("in-process", {});
  const inValkey = await startRunner("in-valkey", { LATCHKEY_VALKEY_URL: valkey.url });
  const places = { databaseUsage: () => new Map([[valkey.pid(), valkeyCpuUs()]]) };
  const rows: Row[] = [];
  for (const connections of CONNECTIONS) {
    const workload = { ...readKey, concurrency: connections };
    const measure = (runner: Runner, count: number) =>
      measureRound({ load, places }, runner, workload, { count });
    let count = 500;
    for (const runner of [inProcess, inValkey, inProcess, inValkey])
      count = Math.round(perSecond(await measure(runner, count)) * ROUND_SECONDS);
    const before = await lossesOf(inValkey);
    const seen: { own: Round[]; shared: Round[] } = { own: [], shared: [] };
    for (let round = 0; round < ROUNDS; round++) {
      process.stderr.write(`${connections} connections, round ${round + 1} of ${ROUNDS}\n`);
      seen.own.push(await measure(inProcess, count));
      seen.shared.push(await measure(inValkey, count));
    }
    const losses = (await lossesOf(inValkey)) - before;
    rows.push({ connections, inProcess: sideOf(seen.own), inValkey: sideOf(seen.shared), losses });
  }
  for (const { server } of [inProcess, inValkey]) await server.stop();
  await load.stop();
  return rows;
}

/** Without HTTP: so many decisions in each turn, spread over so many stores. */
async function decideAlone(): Promise<Deciding[]> {
  const clock = steadyClock();
  const opened = await openValkey({
    urls: [valkey.url],
    log: silentLog,
    answerWithinMs: 5000,
  });
  const limiter = createSharedLimiter({ valkey: opened, clock, useLog: createUseLog() });
  const allowance = { revision: 1, rateLimit: 1_000_000, totalReserved: 10, reserved: 10 };
  const found: Deciding[] = [];
  for (const stores of [1, 200]) {
    for (const together of BATCHES) {
      let asked = 0;
      const turn = () =>
        Array.from({ length: together }, () => {
          const at = asked++;
          const ids = {
            storeId: `store ${at % stores}`,
            keyId: `01890000-0000-7000-8000-00000000000${at % 10}`,
          };
          return limiter.take({ ...ids, source: undefined, allowance, administration: false });
        });
      const untilMs = performance.now() + 3000;
      await Promise.all(turn());
      asked = 0;
      const before = { valkeyUs: valkeyCpuUs(), own: process.cpuUsage() };
      while (performance.now() < untilMs) await Promise.all(turn());
      const own = process.cpuUsage(before.own);
      const valkeyUs = (valkeyCpuUs() - before.valkeyUs) / asked;
      found.push({ stores, together, valkeyUs, ourUs: (own.user + own.system) / asked });
    }
  }
  await opened.close();
  return found;
}

type Memory = { what: string; bytes: number };

async function measureMemory(): Promise<Memory[]> {
  const clock = handClock();
  const opened = await openValkey({
    urls: [valkey.url],
    log: silentLog,
    answerWithinMs: 5000,
  });
  const useLog = createSharedUseLog({ valkey: opened, clock, own: createUseLog() });
  const bytesOf = async (name: string) => Number((await valkey.say(`MEMORY USAGE ${name}`)).slice(1));
  const keyId = (at: number) => `01890000-0000-7000-8000-${String(at).padStart(12, "0")}`;
  const found: Memory[] = [];
  for (const keys of [1, 1000]) {
    clock.advance(60_000 - (clock.now() % 60_000));
    const name = `lk:{${keys}}:use:${clock.now() / 60_000}`;
    for (let second = 0; second < 60; second++) {
      for (let at = 0; at < keys; at++) useLog.add(`${keys}`, keyId(at), clock.monotonicMs() / 1000, 10);
      await useLog.flush(`${keys}`);
      clock.advance(1000);
    }
    const what = keys === 1 ? "one key" : `${keys.toLocaleString("en")} keys`;
    found.push({
      what: `log of use: an hour of ${what}, used in every second`,
      bytes: 60 * (await bytesOf(name)),
    });
  }
  const limiter = createSharedLimiter({ valkey: opened, clock, useLog });
  const allowance = { revision: 1, rateLimit: 1_000_000, totalReserved: 10, reserved: 10 };
  const draw = { storeId: "s", keyId: keyId(1), allowance, administration: false };
  for (let source = 0; source < 100; source++) await limiter.take({ ...draw, source: `192.0.2.${source}` });
  found.push({ what: "limits: a store", bytes: await bytesOf("lk:{s}:2:limits") });
  found.push({ what: "limits: a key", bytes: await bytesOf(`lk:{s}:2:key:${keyId(1)}`) });
  const sources = await bytesOf(`lk:{s}:2:sources:${keyId(1)}`);
  found.push({ what: "limits: a source of public tokens", bytes: Math.round(sources / 100) });
  await opened.close();
  return found;
}

const startedMs = performance.now();
const startedAt = new Date().toISOString();
const reads = await compareReads();
const decisions = await decideAlone();
const memory = await measureMemory();
const version =
  /(valkey|redis)_version:(\S+)/
    .exec(await valkey.say("INFO server"))
    ?.slice(1)
    .join(" ") ?? "";
await valkey.remove();
rmSync(folder, { recursive: true, force: true });

const table = (rows: readonly (readonly string[])[]) =>
  rows
    .map((row, at) => `| ${row.join(" | ")} |${at === 0 ? `\n|${" --- |".repeat(row.length)}` : ""}`)
    .join("\n");
const whole = (value: number) => Math.round(value).toLocaleString("en");
const machine = describeMachine();
const facts = [
  `${startedAt.slice(0, 10)}, ${Math.round((performance.now() - startedMs) / 1000)} seconds`,
  `${machine.processor}, ${machine.cores} cores, ${machine.platform}, Node ${machine.node}, ${version}`,
  `load average ${loadSoFar().toFixed(1)} over a quarter of an hour`,
];
const added = ({ inProcess, inValkey }: Row) => inValkey.p50Us.median - inProcess.p50Us.median;
const text = `${facts.join(". ")}.

## An authenticated read, in process and in Valkey

${table([
  [
    "connections",
    "limits counted",
    "p50",
    "p99",
    "requests a second",
    "CPU of the service",
    "CPU of Valkey",
    "added to p50",
    "answers not had within 50 ms",
  ],
  ...reads.flatMap((row) =>
    (["inProcess", "inValkey"] as const).map((where) => [
      String(row.connections),
      where === "inProcess" ? "in process" : "in Valkey",
      spread(row[where].p50Us, time),
      spread(row[where].p99Us, time),
      spread(row[where].perSecond, whole),
      time(row[where].cpuUs.median),
      where === "inProcess" ? "" : time(row[where].valkeyUs.median),
      where === "inProcess" ? "" : time(added(row)),
      where === "inProcess" ? "" : String(row.losses),
    ]),
  ),
])}

## Decisions alone

${table([
  [
    "stores",
    "decisions in a turn",
    "CPU of Valkey for one",
    "decisions a second of one Valkey core",
    "CPU of the instance for one",
  ],
  ...decisions.map(({ stores, together, valkeyUs, ourUs }) => [
    String(stores),
    String(together),
    `${valkeyUs.toFixed(1)} µs`,
    whole(1e6 / valkeyUs),
    `${ourUs.toFixed(1)} µs`,
  ]),
])}

## Memory of Valkey

${table([["what", "bytes"], ...memory.map(({ what, bytes }) => [what, whole(bytes)])])}
`;
const write = (end: string, content: string) =>
  writeFileSync(new URL(`results/valkey.${end}`, import.meta.url), content);
write("md", text);
write("json", `${JSON.stringify({ machine, startedAt, version, reads, decisions, memory }, null, 2)}\n`);
console.log(text);
