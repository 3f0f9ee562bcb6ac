/** Formats times in words. */

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** Always numeric: `auto` would call 40 hours ago "yesterday", even if that was the day before yesterday. */
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** "3 minutes ago", "in 2 hours", "just now". */
export function inWords(at: string | number, nowMs: number): string {
  const differenceMs = new Date(at).getTime() - nowMs;
  for (const [unit, ms] of UNITS) {
    const amount = Math.trunc(differenceMs / ms);
    if (amount !== 0) return relative.format(amount, unit);
  }
  return differenceMs > 0 ? "in a moment" : "just now";
}

/**
 * With the time zone: records, logs and letters have UTC, and the person on the telephone may have another
 * zone.
 */
const exact = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long" });

export const exactly = (at: string | number): string => exact.format(new Date(at));

/** "950 ms", "1.4 s", "2 min". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}
