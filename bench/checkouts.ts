import { resolve } from "node:path";
import { figureOf, inTurn, quantileOf } from "./measure/figures.ts";
import { measureRound, type Round, type Runner } from "./measure/measure.ts";
import { createProgress, type Progress } from "./measure/progress.ts";
import { type Session, withSession } from "./measure/session.ts";
import * as words from "./report/words.ts";
import { startLatchkey } from "./servers/latchkey.ts";
import { workloads } from "./workloads/all.ts";
import type { Engine, Workload } from "./workloads/workload.ts";

/**
 * Compares several checkouts of this repository in one workload, by turns and in more rounds than `npm run bench` has,
 * to find differences of a few hundredths. The ratios are to the last checkout.
 */
const USAGE = `npm run bench:checkouts -- <workload> <rounds> <checkout> <checkout>…\n${workloads.map((one) => `  ${one.name}`).join("\n")}`;
/** V8 compiles the hot functions in these rounds. */
const WARM_ROUNDS = 4;
/** A workload with late writes waits a second per round, and needs fewer operations for the same length. */
const COUNTS = { recorded: 400, others: 3000 };

type CheckoutEntrant = Runner & { checkout: string; rounds: Round[] };
type CheckoutsPlan = { workload: Workload; rounds: number; checkouts: string[]; progress: Progress };

async function measure(
  { databases, load, idp }: Session,
  plan: CheckoutsPlan,
  engine: Engine,
): Promise<string[]> {
  const { workload, progress } = plan;
  const entrants: CheckoutEntrant[] = [];
  for (const checkout of plan.checkouts) {
    const databaseUrl = await databases.create(engine);
    const runner = await startLatchkey({ databaseUrl, idp, contestant: "before", checkout });
    entrants.push({ ...runner, checkout, rounds: [] });
  }
  const count = workload.isRecorded ? COUNTS.recorded : COUNTS.others;
  for (let round = 0; round < WARM_ROUNDS + plan.rounds; round++) {
    progress.step(`${workload.name}, ${engine}: round ${round + 1}`);
    if (round === WARM_ROUNDS) await databases.analyze();
    for (const entrant of inTurn(entrants, round)) {
      const seen = await measureRound({ load, databases }, entrant, workload, { count });
      if (round >= WARM_ROUNDS) entrant.rounds.push(seen);
    }
  }
  for (const { server } of entrants) await server.stop();
  return entrants.map(
    (entrant) => `${workload.name}, ${engine}: ${describe(entrant, entrants.at(-1) as CheckoutEntrant)}`,
  );
}

function describe({ checkout, rounds }: CheckoutEntrant, last: CheckoutEntrant): string {
  const { median: us } = figureOf(rounds.map(({ cpuUs }) => cpuUs));
  const ratios = rounds.map(({ cpuUs }, round) => cpuUs / (last.rounds[round] as Round).cpuUs);
  const quartiles = [0.25, 0.75].map((part) => words.times(quantileOf(ratios, part))).join(" to ");
  return `${Math.round(us)} µs, ${words.times(figureOf(ratios).median)} times (half of the rounds: ${quartiles}) ${checkout}`;
}

const [name = "redeem", rounds = "20", ...paths] = process.argv.slice(2);
const workload = workloads.find((one) => one.name === name);
if (!workload || paths.length < 2 || !/^[1-9]\d*$/.test(rounds)) {
  console.error(USAGE);
  process.exit(2);
}
await withSession(async (session) => {
  const { engines } = session.databases;
  const progress = createProgress(engines.length * (WARM_ROUNDS + Number(rounds)));
  const plan = { workload, rounds: Number(rounds), checkouts: paths.map((path) => resolve(path)), progress };
  const report: string[] = [];
  for (const engine of engines) report.push(...(await measure(session, plan, engine)));
  progress.end();
  console.log(report.join("\n"));
});
