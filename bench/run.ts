import { setTimeout as sleep } from "node:timers/promises";
import { compare, stepsOf } from "./compare.ts";
import { createContestants } from "./contestants.ts";
import { growthSteps, measureGrowth, SMALLER } from "./growth.ts";
import { isWanted, readOptions, USAGE } from "./options.ts";
import { openPlaces } from "./places.ts";
import { startServer } from "./processes.ts";
import { createProgress } from "./progress.ts";
import { toText, updatePage, writeResults } from "./report.ts";
import { describeMachine, loadSoFar, type Results } from "./results.ts";
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

const IDLE_MS = 12_000;
const AFTER_LOAD_MS = 60_000;

const places = await openPlaces();
if (!places.engines.includes("postgres")) results.skipped.push("PostgreSQL, because it is not installed");
if (DEX === undefined) results.skipped.push("dex, because DEX does not name its program");
const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("idp.ts");
const { ready: _, ...load } = await startServer("load.ts");
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
  const total = steps.reduce((sum, some) => sum + some, 0) + (growing ? growthSteps(places.engines) : 0);
  const progress = createProgress(total);

  if (isWhole) results.start = await measureStart(options.quick ? 3 : 11);
  const { server } = await contestants.get("latchkey", "sqlite");
  await sleep(IDLE_MS);
  const idleBytes = (await server.usage()).rssBytes;
  for (const { workload, engine } of planned)
    results.comparisons.push(
      await compare({ contestants, load, places, options, progress }, workload, engine),
    );
  if (growing) {
    const loadedMs = performance.now();
    results.growth = await measureGrowth({ places, load, idp: idp.origin, progress }, SMALLER);
    await sleep(Math.max(0, AFTER_LOAD_MS - (performance.now() - loadedMs)));
    results.memory = { idleBytes, afterLoadBytes: (await server.usage()).rssBytes };
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
