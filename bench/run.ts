import { allocatorOfImage } from "../packages/server/test/support/allocator.ts";
import { compare, stepsOf } from "./compare/compare.ts";
import { createContestants } from "./compare/contestants.ts";
import { isWanted, type Options, readOptions, USAGE } from "./compare/options.ts";
import { growthSteps, measureGrowth, SMALLER } from "./growth.ts";
import { createProgress } from "./measure/progress.ts";
import { type Session, withSession } from "./measure/session.ts";
import { MEMORY_STEPS, measureMemory } from "./memory.ts";
import { printResults } from "./report/report.ts";
import { beginResults } from "./report/results.ts";
import { measureStart } from "./start.ts";
import { workloads } from "./workloads/all.ts";
import { DEX } from "./yardsticks/dex.ts";

async function run(session: Session, options: Options): Promise<void> {
  const isWhole = options.only.length === 0;
  const { engines } = session.databases;
  const results = beginResults(options.quick);
  if (!engines.includes("postgres")) results.skipped.push("PostgreSQL, because it is not installed");
  if (!allocatorOfImage())
    results.skipped.push("the allocator of the image, because libjemalloc2 is not installed");
  if (DEX === undefined) results.skipped.push("dex, because DEX does not name its program");
  const planned = workloads
    .flatMap((workload) => engines.map((engine) => ({ workload, engine })))
    .filter(({ workload, engine }) => isWanted(options, `${workload.name} ${engine}`));
  if (planned.length === 0)
    throw new Error(
      `no workload has this name; there are:\n${workloads.map(({ name }) => `  ${name}`).join("\n")}`,
    );
  const isFull = isWhole && !options.quick;
  const steps = planned.reduce((sum, { workload, engine }) => sum + stepsOf(workload, engine, options), 0);
  const progress = createProgress(steps + (isFull ? growthSteps(engines) + MEMORY_STEPS : 0));

  if (isWhole) results.start = await measureStart(options.quick ? 3 : 11);
  const contestants = createContestants({ ...session, beside: options.beside });
  try {
    for (const { workload, engine } of planned)
      results.comparisons.push(
        await compare({ ...session, contestants, options, progress }, workload, engine),
      );
    if (isFull) {
      results.memory = await measureMemory({ ...session, progress });
      results.growth = await measureGrowth({ ...session, progress }, SMALLER);
    }
  } finally {
    await contestants.stop();
  }
  progress.end();
  printResults(results, isFull ? "latest" : "part");
}

const options = readOptions(process.argv.slice(2));
if (options) await withSession((session) => run(session, options));
else console.log(USAGE);
