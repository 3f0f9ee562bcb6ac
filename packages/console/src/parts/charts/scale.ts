import { offsetMs } from "./zone.ts";

/** The ticks of a chart's two axes. */

/** 3 to 5 round ticks from 0 to at least `top`, for counts: at least one apart. */
export function countTicks(top: number): number[] {
  const least = Math.max(1, top / 4);
  const power = 10 ** Math.floor(Math.log10(least));
  const apart = ([1, 2, 5, 10].find((times) => times * power >= least) ?? 10) * power;
  const count = Math.max(2, Math.ceil(top / apart));
  return Array.from({ length: count + 1 }, (_, at) => at * apart);
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** "950", "1,200"; all are short, as "12K", where the axis leads to ten thousand or more. */
export const tickCount = (count: number, top: number): string =>
  top < 10_000 ? count.toLocaleString("en") : compact.format(count);

export type TimeTick = { at: number; label: string };
/** `zone`: the reader's. `locale`: undefined for the browser's. */
export type Reader = { zone: string; locale?: string | undefined };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MOST_TICKS = 8;

/** Up to a day; each divides the day. */
const APART_MS = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * MINUTE);
const DAYS_APART = [1, 2, 7, 14, 28, 56, 91];

/**
 * Ticks at round times. Minutes and hours are those of the reader's clock, and midnight shows the day. Days are the
 * days of the figures, which are UTC days.
 */
export function timeTicks(
  from: number,
  to: number,
  step: "minute" | "hour" | "day",
  reader: Reader,
): TimeTick[] {
  return step === "day" ? dayTicks(from, to, reader) : clockTicks(from, to, reader);
}

function dayTicks(from: number, to: number, { locale }: Reader): TimeTick[] {
  const days = Math.round((to - from) / DAY);
  const apart = DAYS_APART.find((each) => days / each <= MOST_TICKS) ?? 91;
  const words = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });
  return Array.from({ length: Math.ceil(days / apart) }, (_, at) => {
    const start = from + at * apart * DAY;
    // In the middle of its day's bar.
    return { at: start + DAY / 2, label: words.format(start) };
  });
}

function clockTicks(from: number, to: number, { zone, locale }: Reader): TimeTick[] {
  const isOfDays = to - from > 2 * DAY;
  const apart = APART_MS.find((each) => !isOfDays && (to - from) / each <= MOST_TICKS) ?? DAY;
  // Zones differ from UTC by multiples of a quarter of an hour.
  const pace = Math.min(apart, 15 * MINUTE);
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short", timeZone: zone });
  const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: zone });
  const ticks: TimeTick[] = [];
  for (let at = Math.ceil(from / pace) * pace; at < to; at += pace) {
    const clockMs = at + offsetMs(at, zone);
    if (clockMs % apart !== 0) continue;
    ticks.push({ at, label: (clockMs % DAY === 0 ? day : time).format(at) });
  }
  return ticks;
}
