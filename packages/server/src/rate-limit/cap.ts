import { scriptFrom } from "../counters/script.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { type Bucket, draw, fill, fullBucket, isFull, resize, secondsUntilToken } from "./bucket.ts";

/**
 * Limits each key, which is a source address or a store. With Valkey all instances count together; without an answer
 * each instance gives its part. A request that Valkey allows also draws on this instance's part, and when Valkey has
 * lost a bucket, the rest of that part replaces it. So an outage or a flush gives no full bucket to a source that has
 * used up its own.
 */
export type Cap = {
  /** Takes one. Returns the seconds until there is one, when there is none. */
  take(key: string): Promise<number | undefined>;
  sweep(): void;
  size(): number;
};

/** `name` separates caps that have the same keys. */
type CapRate = { name: string; rate: number; burst: number };
type Deps = { clock: Clock; valkey?: Pick<Valkey, "run" | "instances"> | undefined };

/**
 * Requests without a valid token, by source address: token requests, and requests refused with 401. They do not count
 * against the stores' limits, so guessing uses up no store's quota and reveals nothing about its traffic.
 */
export const ANONYMOUS = { name: "anonymous", rate: 100, burst: 200 } as const satisfies CapRate;
const MAX_KEYS = 100_000;
/** One shared promise for all allowed requests, because making a promise costs more than the decision. */
const AT_ONCE = Promise.resolve(undefined);

export function createCap({ clock, valkey }: Deps, { name, rate, burst }: CapRate): Cap {
  const buckets = new Map<string, Bucket>();
  const partsOf = () => valkey?.instances() ?? 1;

  /** The key's whole allowance, or this instance's part of it. */
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

const BUCKET_LUA = new URL("bucket.lua", import.meta.url);
const scriptOf = scriptFrom("", BUCKET_LUA, new URL("cap.lua", import.meta.url));
