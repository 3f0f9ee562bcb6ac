/** When a failed attempt is repeated. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The delay before each attempt. The first attempt comes at once; after the last one a delivery is given up. */
export const DELAYS_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** Random, so that messages that failed together are not repeated together. */
const JITTER = 0.2;
/** A receiver can ask for a later attempt than the schedule, up to this limit. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

/** The delay after this many failed attempts; undefined after the last. */
export function delayAfter(
  tries: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  const delayMs = DELAYS_MS[tries];
  if (delayMs === undefined) return undefined;
  const jittered = delayMs * (1 - JITTER + 2 * JITTER * random());
  return Math.round(Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)));
}

/** `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3). Anything else is ignored. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * SECOND_MS;
  const at = /^\w{3},/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
