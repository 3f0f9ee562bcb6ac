/**
 * A token bucket: `rate` tokens arrive per second, up to `capacity`. In any T seconds it gives at most `capacity + rate
 * × T`, and it never refuses a demand below that.
 */
export type Bucket = { rate: number; capacity: number; tokens: number; filledAtMs: number };

// Sums of fractions miss whole numbers by rounding, which must not refuse a request.
export const HAIR = 1e-6;

export const fullBucket = (rate: number, capacity: number, nowMs: number): Bucket => ({
  rate,
  capacity,
  tokens: capacity,
  filledAtMs: nowMs,
});

export function fill(bucket: Bucket, nowMs: number): void {
  // The monotonic clock never goes back. A smaller time removes no tokens.
  if (nowMs <= bucket.filledAtMs) return;
  const tokens = bucket.tokens + ((nowMs - bucket.filledAtMs) * bucket.rate) / 1000;
  bucket.tokens = tokens < bucket.capacity ? tokens : bucket.capacity;
  bucket.filledAtMs = nowMs;
}

/** Takes one token if there is one above `leave`. */
export function draw(bucket: Bucket, nowMs: number, leaving = 0): boolean {
  fill(bucket, nowMs);
  if (bucket.tokens < 1 + leaving - HAIR) return false;
  bucket.tokens = bucket.tokens > 1 ? bucket.tokens - 1 : 0;
  return true;
}

/** A smaller capacity drops tokens at once. A larger one adds none: it fills at its new rate. */
export function resize(bucket: Bucket, rate: number, capacity: number): void {
  bucket.tokens = Math.min(capacity, bucket.tokens);
  bucket.rate = rate;
  bucket.capacity = capacity;
}

/** Continues with this number of tokens. */
export function setTokens(bucket: Bucket, tokens: number, nowMs: number): void {
  bucket.tokens = Math.min(bucket.capacity, Math.max(0, tokens));
  bucket.filledAtMs = nowMs;
}

export const isFull = (bucket: Bucket): boolean => bucket.tokens >= bucket.capacity - HAIR;

export const wholeTokens = (bucket: Bucket): number => Math.floor(bucket.tokens + HAIR);

/** Whole seconds, at least one, until a token above `leave` arrives; `undefined` for a bucket that never fills. */
export function secondsUntilToken(bucket: Bucket, leaving = 0): number | undefined {
  if (bucket.rate <= 0) return undefined;
  return Math.max(1, Math.ceil((1 + leaving - bucket.tokens) / bucket.rate - HAIR));
}
