import { parseArgs } from "node:util";
import { isWanted, readOnly } from "./compare/options.ts";
import { growthWorkloads } from "./growth/operations.ts";
import { figureOf } from "./measure/figures.ts";
import { countFor, measureRound, perSecond, type Round, type Runner } from "./measure/measure.ts";
import { createProgress, type Progress } from "./measure/progress.ts";
import { type Session, withSession } from "./measure/session.ts";
import { printResults } from "./report/report.ts";
import { beginResults, type GrowthRow } from "./report/results.ts";
import { type Counts, seed } from "./seeding/seed.ts";
import { envOf, serveLatchkey, targetOf } from "./servers/latchkey.ts";
import type { Engine, Workload } from "./workloads/workload.ts";

/** The cost of every operation with 1,000 rows and with many: two services on two databases, by turns. */

const USAGE = `npm run bench:growth                  every operation with 100,000 customers against 1,000: a few minutes
npm run bench:growth -- --full        with 1,000,000 customers, sign-ons and tokens, 100,000 keys and 10,000 stores
npm run bench:growth -- --only keys   operations with these words in their names; a comma means "or"`;

const FEW: Counts = { customers: 1000, signOns: 1000, tokens: 1000, keys: 1000, stores: 100 };
/** For `npm run bench`, which measures much else. */
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
const FIRST_COUNT = 8;

const wanted = (only: string[][]): Workload[] =>
  growthWorkloads.filter(({ name }) => isWanted({ only }, name));

export const growthSteps = (engines: readonly Engine[], only: string[][] = []): number =>
  engines.length * (wanted(only).length + 2);

type Deps = Session & { progress: Progress };
type FewAndMany = readonly [Runner, Runner];

export async function measureGrowth(deps: Deps, many: Counts, only: string[][] = []): Promise<GrowthRow[]> {
  const rows: GrowthRow[] = [];
  for (const engine of deps.databases.engines) {
    const servers = [await startSeeded(deps, engine, FEW), await startSeeded(deps, engine, many)] as const;
    try {
      for (const workload of wanted(only)) {
        deps.progress.step(`growth, ${engine}: ${workload.name}`);
        const row = { operation: workload.name, engine, rows: describe(many) };
        rows.push({ ...row, ...(await measureOne(deps, engine, workload, servers)) });
      }
    } finally {
      for (const { server } of servers) await server.stop();
    }
  }
  return rows;
}

const describe = ({ customers, keys }: Counts): string =>
  `${customers.toLocaleString("en")} customers, ${keys.toLocaleString("en")} keys`;

async function startSeeded(
  { databases, idp, progress }: Deps,
  engine: Engine,
  counts: Counts,
): Promise<Runner> {
  const what = `growth, ${engine}: seeding ${describe(counts)}`;
  progress.step(what);
  const databaseUrl = await databases.create(engine);
  const env = envOf(databaseUrl, idp);
  const { samples, profileId, ...made } = await seed({
    databaseUrl,
    counts,
    masterKey: env.LATCHKEY_MASTER_KEY,
    issuer: idp,
    onProgress: (table) => progress.step(`${what}: ${table}`, 0),
  });
  const { server, url } = await serveLatchkey(env);
  return { server, target: { ...(await targetOf(url, idp, made, profileId)), samples } };
}

async function measureOne(deps: Deps, engine: Engine, workload: Workload, servers: FewAndMany) {
  try {
    const [few, many] = await takeTurns(deps, workload, servers);
    // On PostgreSQL the database process pays for the rows.
    const cpuOf = ({ cpuUs, databaseUs }: Round) => (engine === "postgres" ? cpuUs + databaseUs : cpuUs);
    const costOf = (rounds: readonly Round[]) => ({
      cpuUs: figureOf(rounds.map(cpuOf)).median,
      p50Us: figureOf(rounds.map(({ p50Us }) => p50Us)).median,
    });
    const ratio = figureOf(many.map((one, round) => cpuOf(one) / cpuOf(few[round] as Round)));
    return { few: costOf(few), many: costOf(many), ratio };
  } catch (error) {
    // The service refuses a request that takes too long. That is a result, and the other operations are measured all
    // the same.
    return { failed: String((error as Error).message).split("\n")[0] as string };
  }
}

async function takeTurns(deps: Deps, workload: Workload, servers: FewAndMany): Promise<[Round[], Round[]]> {
  const counts: number[] = [];
  for (const server of servers) {
    const first = await measureRound(deps, server, workload, { count: FIRST_COUNT });
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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { full: { type: "boolean" }, only: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help) return console.log(USAGE);
  const only = readOnly(values.only);
  const results = beginResults(false);
  await withSession(async (session) => {
    const progress = createProgress(growthSteps(session.databases.engines, only));
    results.growth = await measureGrowth({ ...session, progress }, values.full ? FULL : SMALLER, only);
    progress.end();
    printResults(results, only.length === 0 ? "growth" : "part");
  });
}

if (import.meta.main) await main();
