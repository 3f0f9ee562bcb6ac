import { readFileSync } from "node:fs";
import { until } from "../packages/server/test/support/until.ts";
import { figureOf } from "./measure/figures.ts";
import { measureRound, perSecond, type Round, type Runner } from "./measure/measure.ts";
import { type Session, withSession } from "./measure/session.ts";
import { startLatchkey } from "./servers/latchkey.ts";
import { usageOf } from "./servers/process.ts";
import { redeemAlone } from "./workloads/parts.ts";
import { readKey, readOwnCustomer } from "./workloads/reads.ts";

/**
 * Compares one process with `latchkey serve --workers 2` on PostgreSQL, by turns. The load generator and PostgreSQL use
 * the same cores, so beside requests a second this prints CPU time per request, of all processes of the service
 * together: more cores would serve more. `npm run bench:workers`, on Linux.
 */
const WORKERS = [1, 2];
const WARM_ROUNDS = 3;
const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;
const WORKLOADS = [readKey, readOwnCustomer, redeemAlone].map((one) => ({
  ...one,
  concurrency: CONNECTIONS,
}));

type WorkersEntrant = { workers: number; runner: Runner };

async function start({ databases, idp }: Session, workers: number): Promise<WorkersEntrant> {
  const { server, target } = await startLatchkey({
    databaseUrl: await databases.create("postgres"),
    idp,
    args: workers === 1 ? [] : ["--workers", String(workers)],
  });
  const isAnswering = async () =>
    (await (await fetch(`${target.url}/metrics`)).text()).includes(
      `latchkey_workers{state="answering"} ${workers}`,
    );
  if (workers > 1) await until(isAnswering);
  return {
    workers,
    runner: { target, server: { usage: async () => usageOfAll(server.pid), stop: server.stop } },
  };
}

/** The first process and its workers together. */
function usageOfAll(pid: number) {
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  const all = [pid, ...workers].map(usageOf);
  const sum = (member: "cpuUs" | "rssBytes") => all.reduce((total, usage) => total + usage[member], 0);
  return { cpuUs: sum("cpuUs"), rssBytes: sum("rssBytes") };
}

async function compare(
  session: Session,
  entrants: WorkersEntrant[],
  workload: (typeof WORKLOADS)[number],
): Promise<void> {
  const rounds = new Map<WorkersEntrant, Round[]>(entrants.map((entrant) => [entrant, []]));
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++)
    for (const [{ runner }, seen] of rounds) {
      const pace = seen[0] ? perSecond(seen.at(-1) as Round) : 200;
      const count = workload.count ?? Math.max(200, Math.round(pace * SECONDS));
      const found = await measureRound(session, runner, workload, { count });
      if (round === 0) seen.length = 0;
      seen.push(found);
    }
  for (const [{ workers }, seen] of rounds) {
    const median = (of: (round: Round) => number) => Math.round(figureOf(seen.map(of)).median);
    const serverUs = median(({ cpuUs }) => cpuUs);
    console.log(
      `${workload.name.padEnd(17)} ${workers} ${workers === 1 ? "process: " : "workers: "}` +
        `${median(perSecond)} a second; CPU per request: service ${serverUs} µs ` +
        `(${Math.round(1e6 / serverUs)} requests a CPU second), PostgreSQL ${median(({ databaseUs }) => databaseUs)} µs`,
    );
  }
}

await withSession(async (session) => {
  if (!session.databases.engines.includes("postgres")) throw new Error("PostgreSQL is not installed");
  const entrants: WorkersEntrant[] = [];
  try {
    for (const workers of WORKERS) entrants.push(await start(session, workers));
    for (const workload of WORKLOADS) await compare(session, entrants, workload);
  } finally {
    for (const { runner } of entrants) await runner.server.stop();
  }
});
