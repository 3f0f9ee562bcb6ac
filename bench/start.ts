import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { newPlace, serve } from "../e2e/running.ts";
import { allocatorOfImage } from "../packages/server/test/support/allocator.ts";
import type { deploy } from "../packages/server/test/support/deployed.ts";
import { type Figure, figureOf } from "./measure/measure.ts";

/**
 * From the start of the process to ready, on a database that is not there yet, from the sources and as an image or the published package
 * has them, by turns; and what it takes when idle, as an image has it.
 */
export type Start = { readyMs: Figure; fromSourcesMs: Figure; idleBytes: Figure };

const IDLE_MS = 12_000;
const IDLE_RUNS = 3;
const HERE = fileURLToPath(new URL("..", import.meta.url));
const FROM_SOURCES = join(HERE, "packages/server/bin/latchkey.js");
const allocator = allocatorOfImage();

export async function measureStart(runs: number): Promise<Start> {
  const image = await deployFrom(HERE);
  try {
    const [readyMs, fromSourcesMs] = await takeTurns(runs, [image.program, FROM_SOURCES]);
    const idleBytes: number[] = [];
    for (let run = 0; run < IDLE_RUNS; run++)
      idleBytes.push((await startOnce(image.program, IDLE_MS)).residentBytes);
    return {
      readyMs: readyMs as Figure,
      fromSourcesMs: fromSourcesMs as Figure,
      idleBytes: figureOf(idleBytes),
    };
  } finally {
    image.remove();
  }
}

/** As that checkout itself makes an image. */
async function deployFrom(checkout: string): ReturnType<typeof deploy> {
  const support = await import(join(checkout, "packages/server/test/support/deployed.ts"));
  return support.deploy();
}

async function takeTurns(runs: number, programs: readonly string[]): Promise<Figure[]> {
  const times: number[][] = programs.map(() => []);
  for (let run = 0; run < runs; run++)
    for (const [at, program] of programs.entries()) times[at]?.push((await startOnce(program)).readyMs);
  return times.map(figureOf);
}

async function startOnce(program: string, idleMs = 0) {
  const place = await newPlace();
  // Tests load a hook that records every statement; a measured service runs without the hook.
  place.env.NODE_OPTIONS = "";
  if (program !== FROM_SOURCES) Object.assign(place.env, allocator);
  const startedMs = performance.now();
  const { child, exited } = await serve(place, ["serve"], "pipe", { program });
  const readyMs = performance.now() - startedMs;
  await sleep(idleMs);
  const resident = residentBytes(child.pid as number);
  child.kill("SIGTERM");
  await exited;
  place.leave();
  return { readyMs, residentBytes: resident };
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

/** Each as an image has it. */
async function besideAnother(checkout: string): Promise<void> {
  const images = [await deployFrom(HERE), await deployFrom(resolve(checkout))];
  try {
    const [here, there] = await takeTurns(
      RUNS_BESIDE,
      images.map(({ program }) => program),
    );
    console.log(
      `ready after ${text("ms", 1, here as Figure)}; ${checkout}: ${text("ms", 1, there as Figure)}`,
    );
  } finally {
    for (const { remove } of images) remove();
  }
}

const RUNS = 11;
const RUNS_BESIDE = 21;

const text = (unit: string, by: number, { median, low, high }: Figure): string =>
  `${Math.round(median / by)} ${unit} (${Math.round(low / by)} to ${Math.round(high / by)})`;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { beside: { type: "string" } } });
  if (values.beside !== undefined) return besideAnother(values.beside);
  const { readyMs, fromSourcesMs, idleBytes } = await measureStart(RUNS);
  console.log(
    `as an image has it, ready after ${text("ms", 1, readyMs)}, resident when idle ${text("MB", 1024 * 1024, idleBytes)}; ` +
      `from the sources, ready after ${text("ms", 1, fromSourcesMs)}`,
  );
}

if (import.meta.main) await main();
