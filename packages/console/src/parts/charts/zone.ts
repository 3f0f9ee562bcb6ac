/** Days and hours of a time zone. */

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, made);
  return made;
}

/** How far the zone's clock is ahead of UTC at this instant. */
export function offsetMs(at: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The day's beginning in UTC, as if the day were a UTC day. Undefined: no day of the calendar. */
export function utcDay(day: string): number | undefined {
  const at = DAY.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day ? undefined : at;
}

/** The instant at which the zone's day begins. Takes the offset at that instant, which may differ from noon's. */
export function dayStart(day: string, zone: string): number | undefined {
  const at = utcDay(day);
  if (at === undefined) return undefined;
  const guess = at - offsetMs(at, zone);
  return at - offsetMs(guess, zone);
}

/** The day of the zone's calendar at this instant, such as `2026-11-19`. */
export const dayOf = (at: number, zone: string): string =>
  new Date(at + offsetMs(at, zone)).toISOString().slice(0, 10);

/** The day so many days later in the calendar. */
export const addDays = (day: string, days: number): string =>
  new Date((utcDay(day) ?? Number.NaN) + days * 86_400_000).toISOString().slice(0, 10);

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
