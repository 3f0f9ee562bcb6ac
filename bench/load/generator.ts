import { createHistogram } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { growthWorkloads } from "../growth/operations.ts";
import { workloads } from "../workloads/all.ts";
import type { Drive, Target } from "../workloads/workload.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";

/**
 * The load generator, a process of its own. For each `job` it makes the stock of the operations, sends `stocked`, waits
 * for `go`, sends the requests, checks every answer, and sends what it has `seen`. A wrong answer ends the job with a
 * `fault`.
 */
export type Job = {
  workload: string;
  target: Target;
  concurrency: number;
  /** The number of operations. Without `perSecond`, `concurrency` of them are under way at any time. */
  count: number;
  /** Sends operations at this pace, whether or not earlier ones are answered. */
  perSecond?: number;
};

export type Seen = { count: number; elapsedMs: number; p50Us: number; p99Us: number };

const drives = new Map<string, Drive>();

/** A drive per workload and target, because a drive counts its operations over all rounds. */
function driveOf({ workload, target }: Job): Drive {
  const known = drives.get(`${workload} ${target.url}`);
  if (known) return known;
  const found = [...workloads, ...growthWorkloads].find(({ name }) => name === workload);
  if (!found) throw new Error(`there is no workload ${workload}`);
  const made = found.drive(target);
  drives.set(`${workload} ${target.url}`, made);
  return made;
}

async function makeStock(client: HttpClient, { stock }: Drive, job: Job): Promise<unknown[]> {
  const stocked: unknown[] = [];
  if (stock) await concurrently(job, async () => void stocked.push(await stock(client)));
  return stocked;
}

async function concurrently({ concurrency, count }: Job, work: () => Promise<void>): Promise<void> {
  let begun = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (begun++ < count) await work();
    }),
  );
}

async function send(client: HttpClient, { operate }: Drive, job: Job, stocked: unknown[]): Promise<Seen> {
  const latencies = createHistogram();
  const startedMs = performance.now();
  const one = async (sentMs: number) => {
    await operate(client, stocked.pop());
    latencies.record(Math.max(1, Math.round((performance.now() - sentMs) * 1000)));
  };
  await (job.perSecond === undefined
    ? concurrently(job, () => one(performance.now()))
    : paced(job, job.perSecond, one));
  return {
    count: job.count,
    elapsedMs: performance.now() - startedMs,
    p50Us: latencies.percentile(50),
    p99Us: latencies.percentile(99),
  };
}

type One = (sentMs: number) => Promise<void>;

/** After a longer stop of this process the schedule begins anew, so that the stop causes no burst of requests. */
const CAUGHT_UP_MS = 5;

/** Sends each operation when it is due, so a slow server does not slow down the generator. */
async function paced({ count }: Job, perSecond: number, one: One): Promise<void> {
  const underWay: Promise<void>[] = [];
  let dueMs = performance.now();
  while (underWay.length < count) {
    const nowMs = performance.now();
    if (nowMs - dueMs > CAUGHT_UP_MS) dueMs = nowMs;
    for (; dueMs <= nowMs && underWay.length < count; dueMs += 1000 / perSecond) {
      const sent = one(nowMs);
      // All operations are awaited after the last one is sent; a rejection before that must not end the process.
      sent.catch(() => {});
      underWay.push(sent);
    }
    await sleep(1);
  }
  await Promise.all(underWay);
}

/**
 * The number of connections that a proxy keeps. A request waits for a free connection, and its latency includes the
 * wait. Without a maximum, hundreds of new connections would follow a stop of some milliseconds, and the round would
 * measure their opening.
 */
const PROXY_CONNECTIONS = 64;

let go: (() => void) | undefined;

async function run(job: Job): Promise<void> {
  const client = createHttpClient(Math.max(PROXY_CONNECTIONS, job.concurrency));
  try {
    const drive = driveOf(job);
    const stocked = await makeStock(client, drive, job);
    const started = new Promise<void>((resolve) => {
      go = resolve;
    });
    process.send?.({ stocked: true });
    await started;
    process.send?.({ seen: await send(client, drive, job, stocked) });
  } catch (error) {
    const { contestant, url } = job.target;
    process.send?.({ fault: `${job.workload} at ${contestant} (${url}): ${(error as Error).stack}` });
  } finally {
    client.close();
  }
}

process.on("message", (message: { job?: Job } | "go" | "usage") => {
  if (message === "go") go?.();
  else if (message !== "usage" && message.job) void run(message.job);
});
process.channel?.ref();
process.send?.({ ready: {} });
