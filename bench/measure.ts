import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Seen } from "./load.ts";
import type { Places } from "./places.ts";
import type { Process, Server } from "./processes.ts";
import type { Target, Workload } from "./workloads/workload.ts";

/** A server that takes part: its process, and how to speak to it. */
export type Runner = { target: Target; server: Server };

/** What one round of one contestant showed: CPU time for one operation, of the server and of PostgreSQL behind it. */
export type Round = Seen & { cpuUs: number; databaseUs: number };

/** What measures: the process that sends, and the clocks of the databases. */
export type Instruments = { load: Process; places: Pick<Places, "databaseUsage"> };

/** Several rounds of one contestant: CPU per operation and operations a second in the middle, with both ends. */
export type Figure = { median: number; low: number; high: number };

/** Longer than the service waits with what it writes after the answer. */
const WRITTEN_AFTER_MS = 1100;

/** One round: what the server process alone has used, from the first request until all is written. */
export async function measureRound(
  { load, places }: Instruments,
  { target, server }: Runner,
  workload: Workload,
  pace: Pick<Job, "count" | "perSecond">,
  onReady: () => void = () => {},
): Promise<Round> {
  // What a limit server does is done when it answers.
  const waitMs = workload.isRecorded && isOurs(target) ? WRITTEN_AFTER_MS : 0;
  const stocked = load.receive("stocked");
  load.send({ job: { workload: workload.name, target, concurrency: workload.concurrency, ...pace } });
  await stocked;
  if (workload.count !== undefined) await sleep(waitMs);
  const databaseBefore = places.databaseUsage();
  const before = await server.usage();
  const seen = load.receive<Seen>("seen");
  onReady();
  load.send("go");
  const result = await seen;
  await sleep(waitMs);
  const after = await server.usage();
  return {
    ...result,
    cpuUs: (after.cpuUs - before.cpuUs) / result.count,
    databaseUs: since(databaseBefore, places.databaseUsage()) / result.count,
  };
}

/** Connections come and go: each counts from when it was there. */
function since(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  let used = 0;
  for (const [pid, cpuUs] of after) used += cpuUs - (before.get(pid) ?? 0);
  return used;
}

const isOurs = ({ contestant }: Target): boolean => contestant === "latchkey" || contestant === "before";

/** While we wait for what is written afterwards the server does its chores, which a few operations must not pay for. */
const AT_LEAST_RECORDED = 400;

type Length = { seconds: number; part?: number; atLeast?: number };

/** How many operations take about so long at this pace; `part` of them where something has to be prepared for each. */
export function countFor(
  { count, isRecorded }: Workload,
  perSecond: number,
  { seconds, part = 1, atLeast = isRecorded ? AT_LEAST_RECORDED * part : 10 }: Length,
): number {
  if (count !== undefined) return Math.round(count * part);
  return Math.max(atLeast, Math.round(perSecond * seconds));
}

export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
  return { median, low: sorted[0] as number, high: sorted.at(-1) as number };
}

export const perSecond = ({ count, elapsedMs }: Seen): number => (count / elapsedMs) * 1000;
