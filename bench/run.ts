import { allocatorOfImage } from "../packages/server/test/support/allocator.ts";
import { compare, stepsOf } from "./compare/compare.ts";
import { createContestants } from "./compare/contestants.ts";
import { isWanted, readOptions, USAGE } from "./compare/options.ts";
import { growthSteps, measureGrowth, SMALLER } from "./growth.ts";
import { createProgress } from "./measure/progress.ts";
import { MEMORY_STEPS, measureMemory } from "./memory.ts";
import { toText, updatePage, writeResults } from "./report/report.ts";
import { describeMachine, loadSoFar, type Results } from "./report/results.ts";
import { openPlaces } from "./servers/databases.ts";
import { startServer } from "./servers/process.ts";
import { measureStart } from "./start.ts";
import { workloads } from "./workloads/all.ts";
import { DEX } from "./yardsticks/dex.ts";

const options = readOptions(process.argv.slice(2));
if (!options) {
  console.log(USAGE);
  process.exit(0);
}
const isWhole = options.only.length === 0;
const startedAt = new Date();
const results: Results = {
  machine: describeMachine(),
  startedAt: startedAt.toISOString(),
  seconds: 0,
  load: 0,
  isQuick: options.quick,
  skipped: [],
  comparisons: [],
};

const places = await openPlaces();
if (!places.engines.includes("postgres")) results.skipped.push("PostgreSQL, because it is not installed");
if (!allocatorOfImage())
  results.skipped.push("the allocator of the image, because libjemalloc2 is not installed");
if (DEX === undefined) results.skipped.push("dex, because DEX does not name its program");
const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("load/idp.ts");
const { ready: _, ...load } = await startServer("load/generator.ts");
const contestants = createContestants({ places, idp: idp.origin, beside: options.beside });
try {
  const planned = workloads
    .flatMap((workload) => places.engines.map((engine) => ({ workload, engine })))
    .filter(({ workload, engine }) => isWanted(options, `${workload.name} ${engine}`));
  if (planned.length === 0)
    throw new Error(
      `no workload is called so; there are:\n${workloads.map(({ name }) => `  ${name}`).join("\n")}`,
    );
  const growing = isWhole && !options.quick;
  const steps = planned.map(({ workload, engine }) => stepsOf(workload, engine, options));
  const total =
    steps.reduce((sum, some) => sum + some, 0) + (growing ? growthSteps(places.engines) + MEMORY_STEPS : 0);
  const progress = createProgress(total);

  if (isWhole) results.start = await measureStart(options.quick ? 3 : 11);
  for (const { workload, engine } of planned)
    results.comparisons.push(
      await compare({ contestants, load, places, options, progress }, workload, engine),
    );
  if (growing) {
    const deps = { places, load, idp: idp.origin, progress };
    results.memory = await measureMemory(deps);
    results.growth = await measureGrowth(deps, SMALLER);
  }
  progress.end();
  results.seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  results.load = loadSoFar();
  console.log(toText(results));
  const isFull = isWhole && !options.quick;
  console.log(`\nWritten to ${writeResults(results, isFull ? "latest" : "part")}`);
  if (isFull) updatePage(results);
} finally {
  await contestants.stop();
  await load.stop();
  await idpProcess.stop();
  await places.remove();
}
