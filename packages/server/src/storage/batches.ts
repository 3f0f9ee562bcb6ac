import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import { isUnavailable, type Storage } from "./storage.ts";

/** The first batch, and the smallest: fewer would hardly be quicker, since every commit waits for the disk. */
const LEAST_ROWS = 100;
/** SQLite holds its one write lock, and in the service the event loop, for as long as a batch takes. */
const BATCH: Record<Storage["engine"], { mostRows: number; targetMs: number }> = {
  sqlite: { mostRows: 500, targetMs: 8 },
  postgres: { mostRows: 2000, targetMs: 40 },
};

type Deps = { storage: Pick<Storage, "engine">; clock: Clock };
type Bounds = {
  maxRows?: number;
  withinMs?: number;
  /** How often in a row the database may be away or too busy: the same rows are then tried again, a few at a time. */
  retries?: number;
};

const RETRY_MS = 1000;

/**
 * Does with any number of rows what would take too long for one statement. `work` takes at most so many rows, in a
 * transaction of its own, and says how many it found; none means that it is done, and not fewer than it could have taken,
 * since somebody who does the same at once may have taken the others. The size of
 * a batch follows from how long the last one took, and as long as it took is left to others before the next.
 */
export async function inBatches(
  { storage: { engine }, clock }: Deps,
  work: (limit: number) => Promise<number>,
  { maxRows = Number.POSITIVE_INFINITY, withinMs = Number.POSITIVE_INFINITY, retries = 0 }: Bounds = {},
): Promise<{ rows: number; isDone: boolean }> {
  const startedMs = clock.monotonicMs();
  let limit = LEAST_ROWS;
  let failures = 0;
  for (let rows = 0; ; ) {
    const beganMs = clock.monotonicMs();
    let found: number;
    try {
      found = await work(limit);
    } catch (error) {
      if (!isUnavailable(error) || ++failures > retries) throw error;
      limit = LEAST_ROWS;
      await sleep(RETRY_MS);
      continue;
    }
    failures = 0;
    const tookMs = clock.monotonicMs() - beganMs;
    rows += found;
    if (found === 0) return { rows, isDone: true };
    if (rows >= maxRows || clock.monotonicMs() - startedMs >= withinMs) return { rows, isDone: false };
    limit = Math.min(BATCH[engine].mostRows, nextLimit(limit, tookMs / BATCH[engine].targetMs));
    await sleep(tookMs);
  }
}

/** At most twice as many as before: one quick batch says little. One slow batch says enough. */
function nextLimit(limit: number, shareOfTarget: number): number {
  return Math.max(LEAST_ROWS, Math.round(limit / Math.max(shareOfTarget, 0.5)));
}
