import { resolve } from "node:path";
import { figureOf, type Instruments, measureRound, type Round, type Runner } from "./measure/measure.ts";
import { createProgress } from "./measure/progress.ts";
import { openPlaces } from "./servers/databases.ts";
import { startLatchkey } from "./servers/latchkey.ts";
import { startServer } from "./servers/process.ts";
import { workloads } from "./workloads/all.ts";
import type { Engine, Workload } from "./workloads/workload.ts";

/**
 * One workload at several checkouts of this repository, turn about and in more rounds than `npm run bench` has, for differences of
 * a few hundredths: `npm run bench:checkouts -- <workload> <rounds> <checkout> <checkout>…`. The last is what the others are held against.
 */
const [name = "redeem", rounds = "20", ...checkouts] = process.argv.slice(2);
const ROUNDS = Number(rounds);
/** Until V8 has compiled what is hot. */
const WARM_ROUNDS = 4;
/** What writes nothing afterwards is quick. */
const COUNTS = { recorded: 400, others: 3000 };

type Entrant = Runner & { checkout: string; rounds: Round[] };

const workload = workloads.find((one) => one.name === name);
if (!workload || checkouts.length < 2) {
  console.error(
    `npm run bench:checkouts -- <workload> <rounds> <checkout> <checkout>…\n${workloads.map((one) => `  ${one.name}`).join("\n")}`,
  );
  process.exit(2);
}
const places = await openPlaces();
const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("load/idp.ts");
const { ready: _, ...load } = await startServer("load/generator.ts");
const progress = createProgress(places.engines.length * (ROUNDS + WARM_ROUNDS));
const report: string[] = [];
try {
  for (const engine of places.engines) report.push(...(await measure({ load, places }, workload, engine)));
  progress.end();
  console.log(report.join("\n"));
} finally {
  await load.stop();
  await idpProcess.stop();
  await places.remove();
}

async function measure(instruments: Instruments, of: Workload, engine: Engine): Promise<string[]> {
  const entrants: Entrant[] = [];
  for (const checkout of checkouts.map((path) => resolve(path))) {
    const databaseUrl = await places.newDatabase(engine);
    const runner = await startLatchkey({ databaseUrl, idp: idp.origin, contestant: "before", checkout });
    entrants.push({ ...runner, checkout, rounds: [] });
  }
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
    progress.step(`${of.name}, ${engine}: round ${round + 1}`);
    if (round === WARM_ROUNDS) await places.analyze();
    for (const at of entrants.keys()) {
      const entrant = entrants[(at + round) % entrants.length] as Entrant;
      const count = of.isRecorded ? COUNTS.recorded : COUNTS.others;
      const seen = await measureRound(instruments, entrant, of, { count });
      if (round >= WARM_ROUNDS) entrant.rounds.push(seen);
    }
  }
  for (const { server } of entrants) await server.stop();
  const last = (entrants.at(-1) as Entrant).rounds;
  return entrants.map(({ checkout, rounds: seen }) => {
    const { median: us } = figureOf(seen.map(({ cpuUs }) => cpuUs));
    const times = seen.map(({ cpuUs }, round) => cpuUs / (last[round] as Round).cpuUs);
    const sorted = times.toSorted((a, b) => a - b);
    const quarter = (part: number) => (sorted[Math.floor((sorted.length * part) / 4)] as number).toFixed(2);
    return `${of.name}, ${engine}: ${Math.round(us)} µs, ${figureOf(times).median.toFixed(2)} times (half of the rounds: ${quarter(1)} to ${quarter(3)}) ${checkout}`;
  });
}
