/** Formats times in the reader's own form: the languages of the browser, and the time zone of the machine. */

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** Beyond this an instant is shown as a date: "23 days ago" has to be counted back. */
const RECENT_MS = 7 * 86_400_000;

/**
 * In English, because the sentence around it is. Always numeric: `auto` would call 40 hours ago "yesterday", even
 * if that was the day before yesterday.
 */
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

type Forms = { day: Intl.DateTimeFormat; exact: Intl.DateTimeFormat };

/** The forms of a reader. Without `timeZone`: the zone of the machine. */
export const formsOf = (languages: readonly string[], timeZone?: string): Forms => ({
  day: new Intl.DateTimeFormat([...languages], { dateStyle: "medium", timeZone }),
  // With the time zone: records, logs and letters have UTC, and the person on the telephone may have another zone.
  exact: new Intl.DateTimeFormat([...languages], { dateStyle: "medium", timeStyle: "long", timeZone }),
});

const own = formsOf(globalThis.navigator?.languages ?? []);

/** "Nov 19, 2026, 11:25:10 PM GMT+1", "19.11.2026, 23:25:10 MEZ". */
export const exactly = (at: string | number, { exact } = own): string => exact.format(new Date(at));

/** Whether the instant is shown by its distance from now, and not as a date. */
export const isRecent = (at: string | number, nowMs: number): boolean =>
  Math.abs(new Date(at).getTime() - nowMs) < RECENT_MS;

type Wording = {
  /** The instant lies ahead by its nature, such as the end of a session. */
  isAhead?: boolean;
  forms?: Forms;
};

/**
 * "3 minutes ago", "just now"; "in 2 hours" for what lies ahead. An instant of the past that this machine's clock
 * puts into the future shows that the clock is wrong: it is just now, or its exact time.
 */
export function inWords(
  at: string | number,
  nowMs: number,
  { isAhead = false, forms = own }: Wording = {},
): string {
  if (!isRecent(at, nowMs)) return forms.day.format(new Date(at));
  const differenceMs = new Date(at).getTime() - nowMs;
  for (const [unit, ms] of UNITS) {
    const amount = Math.trunc(differenceMs / ms);
    if (amount > 0 && !isAhead) return exactly(at, forms);
    if (amount !== 0) return relative.format(amount, unit);
  }
  return differenceMs > 0 && isAhead ? "in a moment" : "just now";
}

/** "950 ms", "1.4 s", "2 min". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}
