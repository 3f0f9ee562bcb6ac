import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { type Bucket, draw, fill, fullBucket, isFull, resize, secondsUntilToken } from "./bucket.ts";
import { bucketScript } from "./bucket-script.ts";

/**
 * At most so much from each key: a source address, or a store. Where there is Valkey it is asked, so that all instances
 * count together; while it is away each gives its part. What Valkey lets in is drawn from this instance's part as well, and
 * what that part has left replaces a bucket that Valkey has lost: a source that has used its bucket up does not get a full
 * one from an outage or a flush.
 */
export type Cap = {
  /** Takes one. Where there is none: how many seconds until there is. */
  take(key: string): Promise<number | undefined>;
  sweep(): void;
  size(): number;
};

/** `name` tells one cap from another that has the same keys. */
type CapRate = { name: string; rate: number; burst: number };
type Deps = { clock: Clock; valkey?: Pick<Valkey, "run" | "instances"> | undefined };

/**
 * What comes without a good token, by source address: token requests, and whatever was refused with 401. It is kept apart
 * from the stores' limits, so that guessing uses up nobody's quota and tells nothing of anybody's traffic.
 */
export const ANONYMOUS = { name: "anonymous", rate: 100, burst: 200 } as const satisfies CapRate;
const MAX_KEYS = 100_000;
/** The same promise for all who are let in: making one costs more than the decision. */
const AT_ONCE = Promise.resolve(undefined);

export function createCap({ clock, valkey }: Deps, { name, rate, burst }: CapRate): Cap {
  const buckets = new Map<string, Bucket>();
  const partsOf = () => valkey?.instances() ?? 1;

  /** All of the key's allowance, or this instance's part of it. */
  function ownBucket(key: string, nowMs: number): Bucket {
    const parts = partsOf();
    const known = buckets.get(key);
    if (known?.rate === rate / parts) return known;
    if (known) {
      fill(known, nowMs);
      resize(known, rate / parts, Math.max(1, burst / parts));
      return known;
    }
    if (buckets.size >= MAX_KEYS) buckets.delete(buckets.keys().next().value as string);
    const bucket = fullBucket(rate / parts, Math.max(1, burst / parts), nowMs);
    buckets.set(key, bucket);
    return bucket;
  }

  function takeAlone(key: string): number | undefined {
    const nowMs = clock.monotonicMs();
    const bucket = ownBucket(key, nowMs);
    return draw(bucket, nowMs) ? undefined : (secondsUntilToken(bucket) ?? 1);
  }

  async function takeTogether({ run }: Pick<Valkey, "run">, key: string): Promise<number | undefined> {
    const wait = await run(scriptOf(), key, [name, rate, burst, mostOf(key)]);
    if (wait === undefined) return takeAlone(key);
    if (wait !== 0) return wait as number;
    const nowMs = clock.monotonicMs();
    const bucket = ownBucket(key, nowMs);
    if (!draw(bucket, nowMs)) bucket.tokens = 0;
    return undefined;
  }

  function mostOf(key: string): number {
    const bucket = buckets.get(key);
    if (!bucket) return burst;
    fill(bucket, clock.monotonicMs());
    return bucket.tokens * partsOf();
  }

  return {
    take: valkey
      ? (key) => takeTogether(valkey, key)
      : (key) => {
          const wait = takeAlone(key);
          return wait === undefined ? AT_ONCE : Promise.resolve(wait);
        },
    sweep() {
      const nowMs = clock.monotonicMs();
      for (const [key, bucket] of buckets) {
        fill(bucket, nowMs);
        if (isFull(bucket)) buckets.delete(key);
      }
    },
    size: () => buckets.size,
  };
}

const scriptOf = bucketScript(new URL("cap.lua", import.meta.url));
