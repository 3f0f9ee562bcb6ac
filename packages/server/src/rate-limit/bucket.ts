/**
 * A token bucket: `rate` tokens come in a second, up to `capacity`. Over any stretch of T seconds it gives at most
 * `capacity + rate × T`, and never refuses a demand that stays below that.
 */
export type Bucket = { rate: number; capacity: number; tokens: number; filledAtMs: number };

// Sums of fractions miss whole numbers by a hair; a request must not be refused for it.
export const HAIR = 1e-6;

export const fullBucket = (rate: number, capacity: number, nowMs: number): Bucket => ({
  rate,
  capacity,
  tokens: capacity,
  filledAtMs: nowMs,
});

export function fill(bucket: Bucket, nowMs: number): void {
  // The monotonic clock never goes back; should it be handed a smaller number all the same, nothing is taken away.
  if (nowMs <= bucket.filledAtMs) return;
  const tokens = bucket.tokens + ((nowMs - bucket.filledAtMs) * bucket.rate) / 1000;
  bucket.tokens = tokens < bucket.capacity ? tokens : bucket.capacity;
  bucket.filledAtMs = nowMs;
}

/** Takes one token if there is one besides those that must be left. */
export function draw(bucket: Bucket, nowMs: number, leaving = 0): boolean {
  fill(bucket, nowMs);
  if (bucket.tokens < 1 + leaving - HAIR) return false;
  bucket.tokens = bucket.tokens > 1 ? bucket.tokens - 1 : 0;
  return true;
}

/** A new size. Tokens above a smaller capacity are dropped at once; a larger one fills up at its new rate, so no tokens are added here. */
export function resize(bucket: Bucket, rate: number, capacity: number): void {
  bucket.tokens = Math.min(capacity, bucket.tokens);
  bucket.rate = rate;
  bucket.capacity = capacity;
}

/** Goes on from so many tokens. */
export function setTokens(bucket: Bucket, tokens: number, nowMs: number): void {
  bucket.tokens = Math.min(bucket.capacity, Math.max(0, tokens));
  bucket.filledAtMs = nowMs;
}

export const isFull = (bucket: Bucket): boolean => bucket.tokens >= bucket.capacity - HAIR;

export const wholeTokens = (bucket: Bucket): number => Math.floor(bucket.tokens + HAIR);

/**
 * Whole seconds until there is a token besides those that must be left, at least one; a bucket that never fills says so
 * with `undefined`.
 */
export function secondsUntilToken(bucket: Bucket, leaving = 0): number | undefined {
  if (bucket.rate <= 0) return undefined;
  return Math.max(1, Math.ceil((1 + leaving - bucket.tokens) / bucket.rate - HAIR));
}
