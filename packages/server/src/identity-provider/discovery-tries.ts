import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { type Bucket, draw, fill, fullBucket, isFull, secondsUntilToken } from "../rate-limit/bucket.ts";

/**
 * Saving and checking a profile makes us ask an address of the store's choice. Each store has so many tries, so that nobody
 * can use us to knock on other people's doors.
 */
export type DiscoveryTries = {
  /** Takes one try, or throws 429. */
  take(storeId: string): void;
};

const MAX_STORES = 10_000;

export function createDiscoveryTries({ clock }: { clock: Clock }): DiscoveryTries {
  const buckets = new Map<string, Bucket>();

  function bucketOf(storeId: string, nowMs: number): Bucket {
    const known = buckets.get(storeId);
    if (known) return known;
    if (buckets.size >= MAX_STORES) makeRoom(nowMs);
    const bucket = fullBucket(limits.discoveryTriesPerMinute / 60, limits.discoveryTries, nowMs);
    buckets.set(storeId, bucket);
    return bucket;
  }

  /** A bucket that is full again says nothing, and is forgotten; failing those, the oldest. */
  function makeRoom(nowMs: number): void {
    for (const [storeId, bucket] of buckets) {
      fill(bucket, nowMs);
      if (isFull(bucket)) buckets.delete(storeId);
    }
    if (buckets.size >= MAX_STORES) buckets.delete(buckets.keys().next().value as string);
  }

  return {
    take(storeId) {
      const nowMs = clock.monotonicMs();
      const bucket = bucketOf(storeId, nowMs);
      if (draw(bucket, nowMs)) return;
      const retryAfterSeconds = secondsUntilToken(bucket) ?? 1;
      throw new Problem("discovery_tries_exceeded", {
        meta: { at_once: limits.discoveryTries, per_minute: limits.discoveryTriesPerMinute },
        retryAfterSeconds,
      });
    },
  };
}
