import type { Reader } from "./scale.ts";

const DAY_MS = 86_400_000;

/** The time of a bar: hours of the reader's clock, and days of UTC as the figures have them. */
export function whenInWords(
  from: number,
  to: number,
  step: "minute" | "hour" | "day",
  { zone, locale }: Reader,
): string {
  const day = { weekday: "short", day: "numeric", month: "short" } as const;
  if (step !== "day") {
    const clock = { ...day, hour: "2-digit", minute: "2-digit", timeZone: zone } as const;
    return new Intl.DateTimeFormat(locale, clock).formatRange(from, to);
  }
  const days = new Intl.DateTimeFormat(locale, { ...day, timeZone: "UTC" });
  return to - from <= DAY_MS ? days.format(from) : days.formatRange(from, to - DAY_MS);
}

/** The clock time at which a UTC day begins in the zone, such as "01:00". Undefined: at midnight too. */
export function utcMidnight(at: number, { zone, locale }: Reader): string | undefined {
  const start = Math.floor(at / DAY_MS) * DAY_MS;
  const of = (timeZone: string) =>
    new Intl.DateTimeFormat(locale, { timeStyle: "short", timeZone }).format(start);
  return of(zone) === of("UTC") ? undefined : of(zone);
}
