import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import { isUnavailable } from "./failures.ts";
import type { Storage } from "./storage.ts";

/**
 * The first batch has the least rows: fewer would hardly be quicker, since every commit waits for the disk. SQLite holds its
 * one write lock, and in the service the event loop, for as long as a batch takes, which should be less than ten milliseconds.
 */
const BATCH: Record<Storage["engine"], { leastRows: number; mostRows: number; targetMs: number }> = {
  sqlite: { leastRows: 20, mostRows: 500, targetMs: 5 },
  postgres: { leastRows: 100, mostRows: 2000, targetMs: 40 },
};

type Deps = { storage: Pick<Storage, "engine">; clock: Clock; sleep?: (ms: number) => Promise<unknown> };
type Bounds = {
  /** For rows that take so little that a transaction for a few of them costs more than they do. */
  leastRows?: number;
  maxRows?: number;
  withinMs?: number;
  /** How often in a row the database may be away or too busy: the same rows are then tried again, a few at a time. */
  retries?: number;
  /** What part of the time that a batch took is left to others before the next: all of it, unless somebody waits for the rows. */
  rest?: number;
};

const RETRY_MS = 1000;

/**
 * Does with any number of rows what would take too long for one statement. `work` takes at most so many rows, in a
 * transaction of its own, and says how many it found; none means that it is done, and not fewer than it could have taken,
 * since somebody who does the same at once may have taken the others. The size of
 * a batch follows from how long the last one took, and so does the pause before the next.
 */
export async function inBatches(
  { storage: { engine }, clock, sleep = wait }: Deps,
  work: (limit: number) => Promise<number>,
  {
    maxRows = Number.POSITIVE_INFINITY,
    withinMs = Number.POSITIVE_INFINITY,
    retries = 0,
    rest = 1,
    ...bounds
  }: Bounds = {},
): Promise<{ rows: number; isDone: boolean }> {
  const startedMs = clock.monotonicMs();
  const { leastRows, mostRows, targetMs } = { ...BATCH[engine], ...bounds };
  let limit = leastRows;
  let failures = 0;
  for (let rows = 0; ; ) {
    const beganMs = clock.monotonicMs();
    let found: number;
    try {
      found = await work(limit);
    } catch (error) {
      if (!isUnavailable(error) || ++failures > retries) throw error;
      limit = leastRows;
      await sleep(RETRY_MS);
      continue;
    }
    failures = 0;
    const tookMs = clock.monotonicMs() - beganMs;
    rows += found;
    if (found === 0) return { rows, isDone: true };
    if (rows >= maxRows || clock.monotonicMs() - startedMs >= withinMs) return { rows, isDone: false };
    limit = Math.max(leastRows, Math.min(mostRows, nextLimit(limit, tookMs / targetMs)));
    await sleep(tookMs * rest);
  }
}

/** At most twice as many as the batch before, so that one quick batch changes little; after a slow one, as many as fit the target. */
const nextLimit = (limit: number, shareOfTarget: number): number =>
  Math.round(limit / Math.max(shareOfTarget, 0.5));
