import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../e2e/running.ts";
import { type Figure, figureOf } from "./measure.ts";
import { unwatchedPlace } from "./unwatched-place.ts";

/** From the start of the process to ready, on a database that is not there yet, and what it takes when idle. */
const IDLE_MS = 12_000;

export async function measureStart(runs: number): Promise<{ readyMs: Figure; idleBytes: Figure }> {
  const readyMs: number[] = [];
  const idleBytes: number[] = [];
  for (let run = 0; run < runs; run++) {
    const place = await unwatchedPlace();
    const startedMs = performance.now();
    const { child, exited } = await serve(place);
    readyMs.push(performance.now() - startedMs);
    await sleep(IDLE_MS);
    idleBytes.push(residentBytes(child.pid as number));
    child.kill("SIGTERM");
    await exited;
    place.leave();
  }
  return { readyMs: figureOf(readyMs), idleBytes: figureOf(idleBytes) };
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
  const { readyMs, idleBytes } = await measureStart(5);
  const text = (unit: string, by: number, { median, low, high }: Figure) =>
    `${Math.round(median / by)} ${unit} (${Math.round(low / by)} to ${Math.round(high / by)})`;
  console.log(
    `ready after ${text("ms", 1, readyMs)}, resident when idle ${text("MB", 1024 * 1024, idleBytes)}`,
  );
}
