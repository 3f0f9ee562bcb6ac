import { type RawBuilder, sql } from "kysely";
import { atMost } from "../at-most.ts";
import { columnsOf } from "./cursor.ts";
import { keySql } from "./list-key.ts";
import { allOf, type IndexPosition, isAfter, isLateSql, orderSql, rowsSql, type View } from "./list-sql.ts";
import type { IndexWalk } from "./walk.ts";

/** The most rows of a slice, and its time. SQLite holds the event loop during a statement. */
const SLICE = { rows: { sqlite: 500, postgres: 5000 }, withinMs: 5 };
/** Most searches end with their first slice, which waits for no turn: a hundred requests run a hundred of them. */
const FIRST_SLICE = { rows: 200, withinMs: 1 };

const LEAST_ROWS = 20;

type ScannedRow = Record<string, string | number | null>;
/** A row that meets all conditions, with the columns of its order. */
type FoundRow = { row: ScannedRow; order: (string | number)[]; isAfter: boolean };
type ScanOptions = {
  /** Where to begin. */
  from?: IndexPosition | undefined;
  most: number;
  /** True when enough rows were found: the scan ends. */
  isEnough?(found: number, lookedAt: number): boolean;
  /** Adds to each row the keys of another order, and whether the row comes after a position in that order. */
  inOrder?: { walk: IndexWalk; after: IndexPosition | undefined };
};

/**
 * Checks the rows of a walk one by one, in slices, and yields to other requests between two slices. The searches of one
 * store take turns: otherwise fifty searches of a store would each run a slice before another store is served. `last`:
 * the last row checked.
 */
export async function search(
  view: View,
  walk: IndexWalk,
  { from, most, isEnough = () => false, inOrder }: ScanOptions,
): Promise<{ found: FoundRow[]; isEnd: boolean; last: ScannedRow }> {
  const { db, engine } = view.storage;
  const columns = columnsOf(walk);
  const orderKeys = inOrder?.walk.keys ?? [];
  // `fetchRows` finds the rest of a row by its id.
  const named = new Set([...columns, "id", ...(inOrder ? columnsOf(inOrder.walk) : [])]);
  const selected: RawBuilder<unknown>[] = [
    ...[...named].map((column) => sql.ref(column)),
    ...orderKeys.map((key, at) => sql`${keySql(engine, key)} as ${sql.ref(`order_${at}`)}`),
    ...(inOrder?.after
      ? [sql`case when ${isAfter(view, inOrder.walk, inOrder.after)} then 1 else 0 end as is_after`]
      : []),
  ];
  const { searches } = view.storage;
  const found: FoundRow[] = [];
  let position = from;
  let size = FIRST_SLICE.rows;
  for (let lookedAt = 0; ; ) {
    const isFirst = lookedAt === 0;
    const limit = Math.min(size, most - lookedAt);
    const isLate = isLateSql(engine, isFirst ? FIRST_SLICE.withinMs : SLICE.withinMs);
    const isFound = sql`case when ${isLate} then null when ${allOf(walk.checks)} then 1 else 0 end as is_found`;
    const slice = sql<ScannedRow>`
      select ${sql.join([isFound, ...selected])} ${rowsSql(view, walk, position)} ${orderSql(view, walk)} limit ${atMost(limit)}`;
    const read = () => slice.execute(db);
    const { rows: come } = await (isFirst ? read() : searches.slice(view.of.store_id, read));
    // Rows read after the slice's time limit are not checked; the next slice begins with them.
    const late = come.findIndex((row) => row.is_found === null);
    const rows = late < 0 ? come : come.slice(0, late);
    if (late === 0) throw new Error("a slice ended before its first row");
    // The database returns also the rows that it reached too late.
    size = late < 0 ? Math.min(4 * size, SLICE.rows[engine]) : Math.max(2 * rows.length, LEAST_ROWS);
    for (const row of rows) {
      if (row.is_found !== 1) continue;
      const order = orderKeys.map((_, at) => inByteOrder(row[`order_${at}`] as string | number));
      found.push({ row, order, isAfter: row.is_after !== 0 });
    }
    lookedAt += rows.length;
    const last = rows.at(-1) ?? {};
    if (come.length < limit && late < 0) return { found, isEnd: true, last };
    if (lookedAt >= most || isEnough(found.length, lookedAt)) return { found, isEnd: false, last };
    // After the first slice only: a search that goes on is not ended.
    if (isFirst) searches.refuseCrowd(view.of.store_id);
    position = new Map(columns.map((column) => [column, last[column] as string | number]));
  }
}

/** Sorts rows that were found along another index. */
export function inOrderOf(found: readonly FoundRow[], isDescending: boolean): FoundRow[] {
  const turn = isDescending ? -1 : 1;
  return found.toSorted((a, b) => {
    const at = a.order.findIndex((value, place) => value !== b.order[place]);
    return at < 0 ? 0 : turn * ((a.order[at] as string) < (b.order[at] as string) ? -1 : 1);
  });
}

/**
 * JavaScript compares texts by their 16-bit units, an index by their bytes. The two differ for characters with two
 * units (U+D800 to U+DFFF), which come before U+E000 and should come after U+FFFF: so this swaps the two ranges.
 */
const inByteOrder = (value: string | number): string | number =>
  typeof value === "number"
    ? value
    : value.replaceAll(/[\ud800-\uffff]/g, (unit) =>
        String.fromCharCode(unit.charCodeAt(0) + (unit < "\ue000" ? 0x2000 : -0x800)),
      );
