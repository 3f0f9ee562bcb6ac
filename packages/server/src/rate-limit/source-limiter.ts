import type { Clock } from "../lib/clock.ts";
import { type Bucket, draw, fill, fullBucket, isFull } from "./bucket.ts";

/**
 * Counts what comes without a good token, by source address: token requests, and whatever was refused with 401. It is
 * kept apart from the stores' limits, so that guessing uses up nobody's quota and tells nothing of anybody's traffic.
 */
export type SourceLimiter = { take(source: string): boolean; sweep(): void; size(): number };

export const SOURCE_RATE = 100;
export const SOURCE_BURST = 200;
const MAX_SOURCES = 100_000;

export function createSourceLimiter(
  { clock }: { clock: Clock },
  { rate = SOURCE_RATE, burst = SOURCE_BURST } = {},
): SourceLimiter {
  const buckets = new Map<string, Bucket>();
  return {
    take(source) {
      const nowMs = clock.monotonicMs();
      let bucket = buckets.get(source);
      if (!bucket) {
        if (buckets.size >= MAX_SOURCES) buckets.delete(buckets.keys().next().value as string);
        bucket = fullBucket(rate, burst, nowMs);
        buckets.set(source, bucket);
      }
      return draw(bucket, nowMs);
    },
    sweep() {
      const nowMs = clock.monotonicMs();
      for (const [source, bucket] of buckets) {
        fill(bucket, nowMs);
        if (isFull(bucket)) buckets.delete(source);
      }
    },
    size: () => buckets.size,
  };
}
