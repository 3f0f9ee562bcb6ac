import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../e2e/running.ts";
import { deploy } from "../packages/server/test/support/deployed.ts";
import { type Figure, figureOf } from "./measure.ts";
import { unwatchedPlace } from "./unwatched-place.ts";

/**
 * From the start of the process to ready, on a database that is not there yet, from the sources and as an image or the published package
 * has them, by turns; and what it takes when idle, as an image has it.
 */
const IDLE_MS = 12_000;

export type Start = { readyMs: Figure; fromSourcesMs: Figure; idleBytes: Figure };

export async function measureStart(runs: number): Promise<Start> {
  const { program, remove } = await deploy();
  try {
    return await measure(runs, program);
  } finally {
    remove();
  }
}

async function measure(runs: number, program: string): Promise<Start> {
  const readyMs: number[] = [];
  const fromSourcesMs: number[] = [];
  const idleBytes: number[] = [];
  for (let run = 0; run < runs; run++) {
    const sources = await unwatchedPlace();
    const sourcesStartedMs = performance.now();
    const fromSources = await serve(sources);
    fromSourcesMs.push(performance.now() - sourcesStartedMs);
    fromSources.child.kill("SIGTERM");
    await fromSources.exited;
    sources.leave();
    const place = await unwatchedPlace();
    const startedMs = performance.now();
    const { child, exited } = await serve(place, ["serve"], "pipe", { program });
    readyMs.push(performance.now() - startedMs);
    await sleep(IDLE_MS);
    idleBytes.push(residentBytes(child.pid as number));
    child.kill("SIGTERM");
    await exited;
    place.leave();
  }
  return {
    readyMs: figureOf(readyMs),
    fromSourcesMs: figureOf(fromSourcesMs),
    idleBytes: figureOf(idleBytes),
  };
}

/** Linux only: elsewhere it is not a number, and shown as such. */
function residentBytes(pid: number): number {
  try {
    const kilobytes = readFileSync(`/proc/${pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)?.[1];
    return Number(kilobytes) * 1024;
  } catch {
    return Number.NaN;
  }
}

if (import.meta.main) {
  const { readyMs, fromSourcesMs, idleBytes } = await measureStart(5);
  const text = (unit: string, by: number, { median, low, high }: Figure) =>
    `${Math.round(median / by)} ${unit} (${Math.round(low / by)} to ${Math.round(high / by)})`;
  console.log(
    `as an image has it, ready after ${text("ms", 1, readyMs)}, resident when idle ${text("MB", 1024 * 1024, idleBytes)}; ` +
      `from the sources, ready after ${text("ms", 1, fromSourcesMs)}`,
  );
}
