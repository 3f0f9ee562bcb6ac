/** A span of time in the address of a list: `from` and `to`, ISO instants. `to` is not part of the span. */
export type Span = { from: string; to: string };

/** Only instants of this form: what a person or another screen has written into the address may be anything. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/;

const readInstant = (given: string | null): string =>
  given !== null && INSTANT.test(given) && !Number.isNaN(Date.parse(given)) ? given : "";

export const readSpan = (search: URLSearchParams): Span => ({
  from: readInstant(search.get("from")),
  to: readInstant(search.get("to")),
});

/** The span as conditions of a filter. */
export const spanConditions = (field: string, { from, to }: Span): string[] => [
  ...(from ? [`ge(${field},${from})`] : []),
  ...(to ? [`lt(${field},${to})`] : []),
];

const two = (part: number): string => String(part).padStart(2, "0");

/** The value of a `datetime-local` field, in the reader's time zone. Seconds only if there are some. */
export function toField(instant: string): string {
  if (instant === "") return "";
  const at = new Date(instant);
  const day = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const seconds = at.getSeconds() > 0 ? `:${two(at.getSeconds())}` : "";
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
}

/** The instant of a `datetime-local` field; empty: the field is empty. */
export const fromField = (value: string): string => (value === "" ? "" : new Date(value).toISOString());
