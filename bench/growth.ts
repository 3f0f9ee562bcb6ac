import { parseArgs } from "node:util";
import { isWanted, readOnly } from "./compare/options.ts";
import { growthWorkloads } from "./growth/operations.ts";
import { countFor, figureOf, measureRound, perSecond, type Round, type Runner } from "./measure/measure.ts";
import { createProgress, type Progress } from "./measure/progress.ts";
import { toText, writeResults } from "./report/report.ts";
import { describeMachine, type GrowthRow, loadSoFar, type Results } from "./report/results.ts";
import { type Counts, seed } from "./seeding/seed.ts";
import { openPlaces, type Places } from "./servers/databases.ts";
import { envOf, furnish, serveLatchkey } from "./servers/latchkey.ts";
import { type Process, startServer } from "./servers/process.ts";
import type { Engine, Workload } from "./workloads/workload.ts";

/** What every operation costs with 1,000 rows and with many: two services on two databases, turn about. */

const FEW: Counts = { customers: 1000, signOns: 1000, tokens: 1000, keys: 1000, stores: 100 };
/** For a run that has other things to do. */
export const SMALLER: Counts = {
  customers: 100_000,
  signOns: 100_000,
  tokens: 100_000,
  keys: 10_000,
  stores: 1000,
};
const FULL: Counts = {
  customers: 1_000_000,
  signOns: 1_000_000,
  tokens: 1_000_000,
  keys: 100_000,
  stores: 10_000,
};

const ROUNDS = 5;
const LENGTH = { seconds: 0.2, atLeast: 4 };
const FIRST_TRY = 8;

export const growthSteps = (engines: readonly Engine[], only: string[][] = []): number =>
  engines.length * (growthWorkloads.filter(({ name }) => isWanted({ only }, name)).length + 2);

type Deps = { places: Places; load: Process; idp: string; progress: Progress; only?: string[][] };

export async function measureGrowth(deps: Deps, many: Counts): Promise<GrowthRow[]> {
  const rows: GrowthRow[] = [];
  for (const engine of deps.places.engines) {
    const servers = [await startSeeded(deps, engine, FEW), await startSeeded(deps, engine, many)] as const;
    try {
      for (const workload of growthWorkloads) {
        if (!isWanted({ only: deps.only ?? [] }, workload.name)) continue;
        deps.progress.step(`growth, ${engine}: ${workload.name}`);
        rows.push(await measureOne(deps, engine, workload, servers, describe(many)));
      }
    } finally {
      for (const { server } of servers) await server.stop();
    }
  }
  return rows;
}

const describe = ({ customers, keys }: Counts): string =>
  `${customers.toLocaleString("en")} customers, ${keys.toLocaleString("en")} keys`;

async function startSeeded({ places, idp, progress }: Deps, engine: Engine, counts: Counts): Promise<Runner> {
  const what = `growth, ${engine}: seeding ${describe(counts)}`;
  progress.step(what);
  const databaseUrl = await places.newDatabase(engine);
  const env = envOf(databaseUrl, idp);
  const masterKey = env.LATCHKEY_MASTER_KEY;
  const seeded = await seed({
    databaseUrl,
    counts,
    masterKey,
    issuer: idp,
    onProgress: (table) => progress.step(`${what}: ${table}`, 0),
  });
  const { server, url } = await serveLatchkey(env);
  const { id: keyId, client_id: clientId, client_secret: clientSecret } = seeded.application_key;
  const facts = await furnish(url, idp, { clientId, clientSecret }, seeded.profileId);
  const { store, samples } = seeded;
  return {
    server,
    target: {
      contestant: "latchkey",
      url,
      idp,
      storeId: store.id,
      keyId,
      clientId,
      clientSecret,
      samples,
      ...facts,
    },
  };
}

async function measureOne(
  deps: Deps,
  engine: Engine,
  workload: Workload,
  servers: readonly [Runner, Runner],
  rows: string,
): Promise<GrowthRow> {
  const row = { operation: workload.name, engine, rows };
  try {
    const [few, many] = await takeTurns(deps, workload, servers);
    // On PostgreSQL what grows is paid for there.
    const cpuOf = ({ cpuUs, databaseUs }: Round) => (engine === "postgres" ? cpuUs + databaseUs : cpuUs);
    const costOf = (rounds: readonly Round[]) => ({
      cpuUs: figureOf(rounds.map(cpuOf)).median,
      p50Us: figureOf(rounds.map(({ p50Us }) => p50Us)).median,
    });
    const ratio = figureOf(many.map((one, round) => cpuOf(one) / cpuOf(few[round] as Round)));
    return { ...row, few: costOf(few), many: costOf(many), ratio };
  } catch (error) {
    // A request that takes too long is refused: that is what growth has come to, and the others are still worth knowing.
    return { ...row, failed: String((error as Error).message).split("\n")[0] as string };
  }
}

async function takeTurns(
  deps: Deps,
  workload: Workload,
  servers: readonly [Runner, Runner],
): Promise<[Round[], Round[]]> {
  const counts: number[] = [];
  for (const server of servers) {
    const first = await measureRound(deps, server, workload, { count: FIRST_TRY });
    const count = countFor(workload, perSecond(first), LENGTH);
    const warm = await measureRound(deps, server, workload, { count });
    counts.push(countFor(workload, perSecond(warm), LENGTH));
  }
  const rounds: [Round[], Round[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++)
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
      rounds[side].push(await measureRound(deps, servers[side], workload, { count: counts[side] as number }));
  return rounds;
}

const USAGE = `npm run bench:growth                  every operation with 100,000 customers against 1,000: a few minutes
npm run bench:growth -- --full        with 1,000,000 customers, sign-ons and tokens, 100,000 keys and 10,000 stores
npm run bench:growth -- --only keys   operations that have these words in their names; a comma is an "or"`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { full: { type: "boolean" }, only: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help) return console.log(USAGE);
  const only = readOnly(values.only);
  const startedAt = new Date();
  const machine = describeMachine();
  const places = await openPlaces();
  const { ready, ...idp } = await startServer<{ origin: string }>("load/idp.ts");
  const { ready: _, ...load } = await startServer("load/generator.ts");
  try {
    const progress = createProgress(growthSteps(places.engines, only));
    const growth = await measureGrowth(
      { places, load, idp: ready.origin, progress, only },
      values.full ? FULL : SMALLER,
    );
    progress.end();
    const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
    const results: Results = {
      machine,
      startedAt: startedAt.toISOString(),
      seconds,
      load: loadSoFar(),
      isQuick: false,
      skipped: [],
      comparisons: [],
      growth,
    };
    console.log(toText(results));
    console.log(`Written to ${writeResults(results, only.length === 0 ? "growth" : "part")}`);
  } finally {
    await load.stop();
    await idp.stop();
    await places.remove();
  }
}

if (import.meta.main) await main();
