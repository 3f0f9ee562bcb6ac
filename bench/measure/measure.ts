import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Seen } from "../load/generator.ts";
import type { Places } from "../servers/databases.ts";
import type { Process, Server } from "../servers/process.ts";
import type { Target, Workload } from "../workloads/workload.ts";

/** A server that takes part: its process, and how to speak to it. */
export type Runner = { target: Target; server: Server };

/** What one round of one contestant showed: CPU time for one operation, of the server and of PostgreSQL behind it. */
export type Round = Seen & {
  cpuUs: number;
  databaseUs: number;
  /** How many tries came before it. */
  repeated: number;
};

/** What measures: the process that sends, and the clocks of the databases. */
export type Instruments = {
  load: Pick<Process, "receive" | "send">;
  places: Pick<Places, "databaseUsage">;
  /** How long a database is left alone that did not answer. */
  pauseMs?: number;
};

/** Several rounds of one contestant: CPU per operation and operations a second in the middle, with both ends. */
export type Figure = { median: number; low: number; high: number };

/** Longer than the service waits with what it writes after the answer. */
const WRITTEN_AFTER_MS = 1100;

const MOST_REPEATED = 3;
const PAUSE_MS = 5000;

/**
 * One round: what the server process alone has used, from the first request until all is written. Our service answers 503 when
 * its database has not answered for a second. On a machine where others use the disk that happens, and would end an hour's
 * run, so the round is measured again; the report says how many of those that are compared were.
 */
export async function measureRound(
  instruments: Instruments,
  runner: Runner,
  workload: Workload,
  pace: Pace,
  onReady: () => void = () => {},
): Promise<Round> {
  const { pauseMs = PAUSE_MS } = instruments;
  for (let repeated = 0; ; repeated++) {
    try {
      return { ...(await tryRound(instruments, runner, workload, pace, onReady)), repeated };
    } catch (error) {
      if (repeated === MOST_REPEATED || !/\bstorage_unavailable\b/.test((error as Error).message))
        throw error;
      await sleep(pauseMs);
    }
  }
}

type Pace = Pick<Job, "count" | "perSecond">;

async function tryRound(
  { load, places }: Instruments,
  { target, server }: Runner,
  workload: Workload,
  pace: Pace,
  onReady: () => void,
): Promise<Omit<Round, "repeated">> {
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
