import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { newPlace, serve } from "../e2e/running.ts";

/** From the start of the process to ready, on a database that is not there yet, and what it takes when idle. */
const RUNS = 5;
const IDLE_MS = 3000;

for (let run = 1; run <= RUNS; run++) {
  const place = await newPlace();
  const startedMs = performance.now();
  const { child, exited } = await serve(place);
  const readyMs = performance.now() - startedMs;
  await sleep(IDLE_MS);
  const resident = readFileSync(`/proc/${child.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)?.[1];
  console.log(
    `ready after ${readyMs.toFixed(0)} ms, ${Math.round(Number(resident) / 1024)} MB resident when idle`,
  );
  child.kill("SIGTERM");
  await exited;
  place.leave();
}
