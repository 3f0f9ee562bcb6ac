import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import { isUnavailable } from "./failures.ts";
import type { Storage } from "./storage.ts";

/**
 * The first batch has the least rows: a smaller one would hardly be quicker, since every commit waits for the disk.
 * SQLite holds its one write lock, and in the service the event loop, for as long as a batch takes, which should be
 * less than ten milliseconds.
 */
const BATCH: Record<Storage["engine"], { leastRows: number; mostRows: number; targetMs: number }> = {
  sqlite: { leastRows: 20, mostRows: 500, targetMs: 5 },
  postgres: { leastRows: 100, mostRows: 2000, targetMs: 40 },
};

type Deps = { storage: Pick<Storage, "engine">; clock: Clock; sleep?: (ms: number) => Promise<unknown> };
type Bounds = {
  /** Higher for rows that cost less than the transaction around a few of them. */
  leastRows?: number;
  maxRows?: number;
  withinMs?: number;
  /** How many times in a row the database may be away or too busy: the same rows are tried again, a few at a time. */
  retries?: number;
  /** The pause after a batch, as a part of the batch's time. Less than 1 where a caller waits for the rows. */
  rest?: number;
};

const RETRY_MS = 1000;

/**
 * Works on any number of rows in batches, where one statement would take too long. `work` takes at most `limit` rows,
 * in a transaction of its own, and returns how many it found. Only 0 ends the work: a batch may be small because
 * another instance has taken the other rows. The size of a batch, and the pause before it, follow from the time that
 * the last batch took.
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

/**
 * At most twice the batch before, so that one quick batch changes little; after a slow batch, the rows that fit the
 * target.
 */
const nextLimit = (limit: number, shareOfTarget: number): number =>
  Math.round(limit / Math.max(shareOfTarget, 0.5));
