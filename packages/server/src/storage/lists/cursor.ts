import { createHash } from "node:crypto";
import type { IndexPosition } from "./list-sql.ts";
import type { IndexWalk } from "./walk.ts";

/**
 * A cursor names the last row of a page by the values that its list is ordered by, so it works also when the row is
 * deleted. It is valid for one list, one filter and one order. It is not signed: a forged cursor leads to another place
 * in the same list, and to nothing else.
 */
export type Cursor = { offset: number; values: IndexPosition };

/** Identifies a list: its table, owner, filter and order. */
export const fingerprint = (list: unknown): string =>
  createHash("sha256").update(JSON.stringify(list)).digest("base64url").slice(0, 8);

/** The columns that distinguish the rows of a walk, each once. */
export const columnsOf = ({ keys, fixed }: IndexWalk): string[] => [
  ...new Set(keys.slice(fixed).map(({ column }) => column)),
];

export function writeCursor(
  of: string,
  walk: IndexWalk,
  offset: number,
  row: Readonly<Record<string, unknown>>,
): string {
  const values = columnsOf(walk).map((column) => row[column]);
  return Buffer.from(JSON.stringify([of, offset, ...values])).toString("base64url");
}

/** Undefined: not a cursor, or one of another list. */
export function readCursor(of: string, walk: IndexWalk, text: string): Cursor | undefined {
  const parts = parse(text);
  if (!Array.isArray(parts) || parts[0] !== of) return undefined;
  const [, offset, ...values] = parts;
  const columns = columnsOf(walk);
  if (!isCount(offset) || values.length !== columns.length) return undefined;
  if (!columns.every((column, at) => isValueOf(column, values[at]))) return undefined;
  return { offset, values: new Map(columns.map((column, at) => [column, values[at]])) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** More rows than a list can have: limits the offset that a forged cursor shows. */
const MAX_OFFSET = 1e12;

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_OFFSET;

/** Times and the numbers of events are numbers, all else is text. PostgreSQL cannot store NUL, so no row has it. */
const isValueOf = (column: string, value: unknown): boolean =>
  column.endsWith("_at") || column === "sequence"
    ? Number.isSafeInteger(value)
    : typeof value === "string" && value.isWellFormed() && !value.includes("\0");
