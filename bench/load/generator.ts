import { createHistogram } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { growthWorkloads } from "../growth/operations.ts";
import { workloads } from "../workloads/all.ts";
import type { Drive, Target } from "../workloads/workload.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";

/**
 * The load generator, a process of its own. It is told what to send and how often; it makes what the operations need,
 * says `stocked`, waits for `go`, sends, checks every answer, and says what it saw. One wrong answer ends the job.
 */
export type Job = {
  workload: string;
  target: Target;
  concurrency: number;
  /** So many operations, as fast as `concurrency` of them at once go; */
  count: number;
  /** or at this pace, whatever the server makes of it. */
  perSecond?: number;
};

export type Seen = { count: number; elapsedMs: number; p50Us: number; p99Us: number };

const drives = new Map<string, Drive>();

/** One for each workload and target, so that what it counts goes on from round to round. */
function driveOf({ workload, target }: Job): Drive {
  const known = drives.get(`${workload} ${target.url}`);
  if (known) return known;
  const found = [...workloads, ...growthWorkloads].find(({ name }) => name === workload);
  if (!found) throw new Error(`there is no workload ${workload}`);
  const made = found.drive(target);
  drives.set(`${workload} ${target.url}`, made);
  return made;
}

async function makeStock(
  client: HttpClient,
  { stock }: Drive,
  { count, concurrency }: Job,
): Promise<unknown[]> {
  const stocked: unknown[] = [];
  if (!stock) return stocked;
  let begun = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (begun++ < count) stocked.push(await stock(client));
    }),
  );
  return stocked;
}

async function send(client: HttpClient, { operate }: Drive, job: Job, stocked: unknown[]): Promise<Seen> {
  const latencies = createHistogram();
  const startedMs = performance.now();
  const one = async (sentMs: number) => {
    await operate(client, stocked.pop());
    latencies.record(Math.max(1, Math.round((performance.now() - sentMs) * 1000)));
  };
  await (job.perSecond === undefined ? allAtOnce(job, one) : paced(job, job.perSecond, one));
  return {
    count: job.count,
    elapsedMs: performance.now() - startedMs,
    p50Us: latencies.percentile(50),
    p99Us: latencies.percentile(99),
  };
}

type One = (sentMs: number) => Promise<void>;

async function allAtOnce({ concurrency, count }: Job, one: One): Promise<void> {
  let begun = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (begun++ < count) await one(performance.now());
    }),
  );
}

/** When this process itself was held up for longer, it goes on from there: a burst to catch up would be our own doing. */
const CAUGHT_UP_MS = 5;

/** Each is sent when it is due, also when earlier ones are not answered yet: a slow server does not slow us down. */
async function paced({ count }: Job, perSecond: number, one: One): Promise<void> {
  const underWay: Promise<void>[] = [];
  let dueMs = performance.now();
  while (underWay.length < count) {
    const nowMs = performance.now();
    if (nowMs - dueMs > CAUGHT_UP_MS) dueMs = nowMs;
    for (; dueMs <= nowMs && underWay.length < count; dueMs += 1000 / perSecond) {
      const sent = one(nowMs);
      // Nobody waits for it before all are sent, and a failure that nobody waits for would end the process.
      sent.catch(() => {});
      underWay.push(sent);
    }
    await sleep(1);
  }
  await Promise.all(underWay);
}

/**
 * As many as a proxy would keep; whoever is due when all are in use waits, and that counts. Without an end to it a server that stood
 * still for some milliseconds is met by hundreds of new connections, and their opening is what is measured.
 */
const PROXY_CONNECTIONS = 64;

let go: (() => void) | undefined;

async function run(job: Job): Promise<void> {
  const client = createHttpClient(Math.max(PROXY_CONNECTIONS, job.concurrency));
  try {
    const drive = driveOf(job);
    const stocked = await makeStock(client, drive, job);
    const told = new Promise<void>((resolve) => {
      go = resolve;
    });
    process.send?.({ stocked: true });
    await told;
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
