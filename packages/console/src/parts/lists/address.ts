import { useSearchParams } from "wouter";

/**
 * The part of an address that says what a list shows: its filter, its order (`sort=-created_at`) and its length
 * (`rows=75`). A link shows another person the same.
 */
type AddressChange = Record<string, string | undefined>;

/** The address after a change; undefined removes a part. Another filter or order begins with the first rows. */
export function withChange(search: URLSearchParams, change: AddressChange): URLSearchParams {
  const next = new URLSearchParams(search);
  next.delete("rows");
  for (const [name, value] of Object.entries(change))
    if (value) next.set(name, value);
    else next.delete(name);
  return next;
}

/** The search of the address, and its change, which adds nothing to the history. */
export function useAddress(): [URLSearchParams, (change: AddressChange) => void] {
  const [search, setSearch] = useSearchParams();
  return [search, (change) => setSearch((before) => withChange(before, change), { replace: true })];
}

/** The order that the address asks for, if the list can have it. `-` in front: in reverse. */
export function readOrder(
  search: URLSearchParams,
  fields: readonly string[],
  otherwise: string | undefined,
): string | undefined {
  const asked = search.get("sort") ?? "";
  return fields.includes(fieldOf(asked)) ? asked : otherwise;
}

const fieldOf = (order: string): string => order.replace(/^-/, "");

/** How a column is sorted, as `aria-sort` says it. `first`: the order after the first press of its heading. */
export function directionOf(order: string | undefined, first: string): "ascending" | "descending" | "none" {
  if (order === undefined || fieldOf(order) !== fieldOf(first)) return "none";
  return order.startsWith("-") ? "descending" : "ascending";
}

/** The order after a press of a heading: its first order, then the reverse. */
export const nextOrder = (order: string | undefined, first: string): string =>
  order !== first ? first : first.startsWith("-") ? fieldOf(first) : `-${first}`;

const MOST_ROWS = 1000;

/** The number of rows that the address asks for. */
export function readRows(search: URLSearchParams): number {
  const rows = Number(search.get("rows"));
  return Number.isInteger(rows) && rows > 0 ? Math.min(rows, MOST_ROWS) : 0;
}
