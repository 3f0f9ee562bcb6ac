import { readFileSync } from "node:fs";
import { until } from "../packages/server/test/support/until.ts";
import type { Seen } from "./load/generator.ts";
import { figureOf, perSecond } from "./measure/measure.ts";
import { openPlaces } from "./servers/databases.ts";
import { type Started, startLatchkey } from "./servers/latchkey.ts";
import { startServer, usageOf } from "./servers/process.ts";
import { redeemAlone } from "./workloads/parts.ts";
import { readKey, readOwnCustomer } from "./workloads/reads.ts";
import type { Workload } from "./workloads/workload.ts";

/**
 * What `latchkey serve --workers 2` serves more than one process, on PostgreSQL, turn about on this machine. The load generator and
 * PostgreSQL take their part of the same cores, so beside requests a second there is what a request costs: CPU time of all the
 * service's processes together, which more cores would serve more of. Run it with `npm run bench:workers`.
 */
const WORKERS = [1, 2];
const WARM_ROUNDS = 3;
const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;
const workloads: Workload[] = [readKey, readOwnCustomer, redeemAlone];

const places = await openPlaces();
const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("load/idp.ts");
const { ready: _, ...load } = await startServer("load/generator.ts");

async function start(workers: number): Promise<Started> {
  const databaseUrl = await places.newDatabase("postgres");
  const runner = await startLatchkey({
    databaseUrl,
    idp: idp.origin,
    args: workers === 1 ? [] : ["--workers", String(workers)],
  });
  if (workers > 1)
    await until(async () =>
      (await figures(runner)).includes(`latchkey_workers{state="answering"} ${workers}`),
    );
  return runner;
}

const figures = async ({ target: { url } }: Started): Promise<string> =>
  (await fetch(`${url}/metrics`)).text();

/** What the service has used so far: its first process, and the workers under it. Linux only. */
function cpuUs({ server: { pid } }: Started): number {
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  return [pid, ...workers].reduce((sum: number, each) => sum + usageOf(each).cpuUs, 0);
}

const databaseUs = (): number => [...places.databaseUsage().values()].reduce((sum, used) => sum + used, 0);

type Round = { perSecond: number; serverUs: number; databaseUs: number; loadUs: number };

async function measure(runner: Started, workload: Workload, count: number): Promise<Round> {
  const stocked = load.receive("stocked");
  load.send({ job: { workload: workload.name, target: runner.target, concurrency: CONNECTIONS, count } });
  await stocked;
  const before = cpuUs(runner);
  const loadBefore = (await load.usage()).cpuUs;
  const databaseBefore = databaseUs();
  const seen = load.receive<Seen>("seen");
  load.send("go");
  const result = await seen;
  const after = cpuUs(runner);
  const loadAfter = (await load.usage()).cpuUs;
  const databaseAfter = databaseUs();
  return {
    perSecond: perSecond(result),
    serverUs: (after - before) / count,
    databaseUs: (databaseAfter - databaseBefore) / count,
    loadUs: (loadAfter - loadBefore) / count,
  };
}

const contestants: { workers: number; runner: Started }[] = [];
try {
  if (!places.engines.includes("postgres")) throw new Error("PostgreSQL is not installed");
  for (const workers of WORKERS) contestants.push({ workers, runner: await start(workers) });
  for (const workload of workloads) {
    const rounds = new Map<number, Round[]>(WORKERS.map((workers) => [workers, []]));
    for (let round = -WARM_ROUNDS; round < ROUNDS; round++)
      for (const { workers, runner } of contestants) {
        // Those that warm up say how many make a round.
        const pace = rounds.get(workers)?.at(-1)?.perSecond ?? 200;
        const count = workload.count ?? Math.max(200, Math.round(pace * SECONDS));
        const seen = await measure(runner, workload, count);
        const list = rounds.get(workers) as Round[];
        if (round === 0) list.length = 0;
        list.push(seen);
      }
    for (const [workers, seen] of rounds) {
      const of = (member: keyof Round) => figureOf(seen.map((round) => round[member])).median;
      console.log(
        `${workload.name.padEnd(17)} ${workers} ${workers === 1 ? "process: " : "workers: "}` +
          `${Math.round(of("perSecond"))} a second; CPU per request: service ${Math.round(of("serverUs"))} µs ` +
          `(${Math.round(1e6 / of("serverUs"))} requests a CPU second), PostgreSQL ${Math.round(of("databaseUs"))} µs, ` +
          `load generator ${Math.round(of("loadUs"))} µs`,
      );
    }
  }
} finally {
  for (const { runner } of contestants) await runner.server.stop();
  await load.stop();
  await idpProcess.stop();
  await places.remove();
}
