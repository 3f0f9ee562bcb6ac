import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Seen } from "../load/generator.ts";
import type { Databases } from "../servers/databases.ts";
import type { Process, Server } from "../servers/process.ts";
import type { Target, Workload } from "../workloads/workload.ts";

/** A server that takes part: its process, and what a workload needs to send requests to it. */
export type Runner = { target: Target; server: Pick<Server, "usage" | "stop"> };

/** The figures of a round of one contestant. CPU times are per operation, of the server and of PostgreSQL. */
export type Round = Seen & {
  cpuUs: number;
  databaseUs: number;
  /** The number of failed attempts before this round. */
  repeated: number;
};

export type Instruments = {
  load: Pick<Process, "receive" | "send">;
  databases: Pick<Databases, "usage">;
  /** The pause after a round in which the database did not answer. */
  pauseMs?: number;
};

/** Longer than the service delays its writes after an answer. */
const WRITTEN_AFTER_MS = 1100;

const MOST_REPEATED = 3;
const PAUSE_MS = 5000;

/**
 * Measures the server process alone, from the first request to the last write. Latchkey answers 503 when its database
 * does not answer within a second, which happens when other programs use the disk. Such a round is measured again; the
 * report counts these rounds.
 */
export async function measureRound(
  instruments: Instruments,
  runner: Runner,
  workload: Workload,
  pace: Pace,
): Promise<Round> {
  const { pauseMs = PAUSE_MS } = instruments;
  for (let repeated = 0; ; repeated++) {
    try {
      return { ...(await tryRound(instruments, runner, workload, pace)), repeated };
    } catch (error) {
      if (repeated === MOST_REPEATED || !/\bstorage_unavailable\b/.test((error as Error).message))
        throw error;
      await sleep(pauseMs);
    }
  }
}

type Pace = Pick<Job, "count" | "perSecond">;

async function tryRound(
  { load, databases }: Instruments,
  { target, server }: Runner,
  workload: Workload,
  pace: Pace,
): Promise<Omit<Round, "repeated">> {
  // A limit server has written everything when it answers.
  const waitMs = workload.isRecorded && isLatchkey(target) ? WRITTEN_AFTER_MS : 0;
  const stocked = load.receive("stocked");
  load.send({ job: { workload: workload.name, target, concurrency: workload.concurrency, ...pace } });
  await stocked;
  if (workload.count !== undefined) await sleep(waitMs);
  const databaseBefore = databases.usage();
  const before = await server.usage();
  const seen = load.receive<Seen>("seen");
  load.send("go");
  const result = await seen;
  await sleep(waitMs);
  const after = await server.usage();
  return {
    ...result,
    cpuUs: (after.cpuUs - before.cpuUs) / result.count,
    databaseUs: usedSince(databaseBefore, databases.usage()) / result.count,
  };
}

/** PostgreSQL has a process per connection. A process that began in between counts from its start. */
function usedSince(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  let used = 0;
  for (const [pid, cpuUs] of after) used += cpuUs - (before.get(pid) ?? 0);
  return used;
}

const isLatchkey = ({ contestant }: Target): boolean => contestant === "latchkey" || contestant === "before";

/**
 * The server does its background tasks while the round waits for late writes; a few operations must not pay for these
 * tasks.
 */
const AT_LEAST_RECORDED = 400;

type Length = { seconds: number; part?: number; atLeast?: number };

/**
 * The number of operations that take about `seconds`; a workload with a stock has a fixed number, of which `part` is
 * used.
 */
export function countFor(
  { count, isRecorded }: Workload,
  perSecond: number,
  { seconds, part = 1, atLeast = isRecorded ? AT_LEAST_RECORDED * part : 10 }: Length,
): number {
  if (count !== undefined) return Math.round(count * part);
  return Math.max(atLeast, Math.round(perSecond * seconds));
}

export const perSecond = ({ count, elapsedMs }: Seen): number => (count / elapsedMs) * 1000;
