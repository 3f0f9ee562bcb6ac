import { RANGES, type Range } from "../parts/charts/ranges.ts";
import { whenInWords } from "../parts/charts/when.ts";
import { addDays, dayOf, dayStart, utcDay } from "../parts/charts/zone.ts";

/** The time that Home shows: up to now, or from one day to another. The address has it. */

export type Step = "minute" | "hour" | "day";

export type Period = {
  /** The value of the choice. */
  id: Range | "dates";
  step: Step;
  /** "the last 24 hours" */
  name: string;
  /** "the 24 hours before" */
  beforeName: string;
} & (
  | { id: Range; lengthMs: number }
  /** `to` is not part of it. */
  | { id: "dates"; days: Days; from: number; to: number }
);

/** Both days are part of it. */
export type Days = { from: string; to: string };

const BEFORE: Record<Range, string> = {
  hour: "the hour before",
  day: "the 24 hours before",
  week: "the 7 days before",
  month: "the 30 days before",
};

const DAY_MS = 86_400_000;
const MOST_DAYS = 400;
/** More days are shown day by day. */
const MOST_DAYS_BY_HOUR = 8;
/** Hours are kept for 100 days, and the time before is read too. */
const HOURS_KEPT_DAYS = 100 - 2 * MOST_DAYS_BY_HOUR;

const daysBetween = ({ from, to }: Days): number =>
  ((utcDay(to) ?? Number.NaN) - (utcDay(from) ?? Number.NaN)) / DAY_MS + 1;

/** A sentence if these days are no period. */
export function faultOf(days: Days, now: Now): string | undefined {
  const count = daysBetween(days);
  if (Number.isNaN(count)) return "Enter both days.";
  if (count < 1) return "The first day comes after the last day. Exchange them.";
  if (count > MOST_DAYS) return `These are ${count.toLocaleString("en")} days. Choose at most ${MOST_DAYS}.`;
  if (days.from > dayOf(now.atMs, now.zone)) return "This time has not come yet.";
  return undefined;
}

/** The reader's clock and time zone. */
export type Now = { atMs: number; zone: string };

export function periodOf(search: URLSearchParams, now: Now): Period {
  const days = { from: search.get("from") ?? "", to: search.get("to") ?? "" };
  if (faultOf(days, now) === undefined) return ofDays(days, now);
  const asked = search.get("range") ?? "";
  const id = Object.hasOwn(RANGES, asked) ? (asked as Range) : "day";
  const { step, ms, label } = RANGES[id];
  return { id, step, lengthMs: ms, name: `the ${label}`, beforeName: BEFORE[id] };
}

/** Hours begin with the reader's day. Days are UTC days, because the figures are kept by these. */
function ofDays(days: Days, { atMs, zone }: Now): Period {
  const count = daysBetween(days);
  const after = addDays(days.to, 1);
  const names = {
    name: whenInWords(utcDay(days.from) ?? 0, utcDay(after) ?? 0, "day", { zone }),
    beforeName: count === 1 ? "the day before" : `the ${count} days before`,
  };
  const from = dayStart(days.from, zone) ?? 0;
  const isByHour = count <= MOST_DAYS_BY_HOUR && from > atMs - HOURS_KEPT_DAYS * DAY_MS;
  if (isByHour) return { id: "dates", step: "hour", days, from, to: dayStart(after, zone) ?? 0, ...names };
  return { id: "dates", step: "day", days, from: utcDay(days.from) ?? 0, to: utcDay(after) ?? 0, ...names };
}

/** The week that the two fields of days begin with. */
export function lastWeek({ atMs, zone }: Now): Days {
  const to = dayOf(atMs, zone);
  return { from: addDays(to, -6), to };
}
