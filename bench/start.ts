import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { newPlace, serve } from "../e2e/support/running.ts";
import { allocatorOfImage } from "../packages/server/test/support/allocator.ts";
import type { deploy } from "../packages/server/test/support/deployed.ts";
import { type Figure, figureOf } from "./measure/figures.ts";
import * as words from "./report/words.ts";

/**
 * Time from the start of the process to ready, on a database that does not exist yet, by turns from the sources and as
 * in an image or the published package; and memory when idle, as in an image. `--beside <checkout>` compares two
 * checkouts, each as in an image.
 */
export type Start = { readyMs: Figure; fromSourcesMs: Figure; idleBytes: Figure };

const RUNS = 11;
const RUNS_BESIDE = 21;
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

/** Imports the checkout's own code for building an image. */
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

/** NaN on systems other than Linux; the report prints NaN. */
function residentBytes(pid: number): number {
  try {
    const kilobytes = readFileSync(`/proc/${pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)?.[1];
    return Number(kilobytes) * 1024;
  } catch {
    return Number.NaN;
  }
}

async function besideAnother(checkout: string): Promise<void> {
  const images = [await deployFrom(HERE), await deployFrom(resolve(checkout))];
  try {
    const programs = images.map(({ program }) => program);
    const [here, there] = (await takeTurns(RUNS_BESIDE, programs)) as [Figure, Figure];
    console.log(
      `ready after ${words.spread(here, words.milliseconds)}; ${checkout}: ${words.spread(there, words.milliseconds)}`,
    );
  } finally {
    for (const { remove } of images) remove();
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { beside: { type: "string" } } });
  if (values.beside !== undefined) return besideAnother(values.beside);
  const { readyMs, fromSourcesMs, idleBytes } = await measureStart(RUNS);
  console.log(
    `as in an image, ready after ${words.spread(readyMs, words.milliseconds)}, resident when idle ${words.spread(idleBytes, words.megabytes)}; ` +
      `from the sources, ready after ${words.spread(fromSourcesMs, words.milliseconds)}`,
  );
}

if (import.meta.main) await main();
