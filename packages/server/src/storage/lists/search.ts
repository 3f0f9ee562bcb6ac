import { type RawBuilder, sql } from "kysely";
import { atMost } from "../at-most.ts";
import { columnsOf } from "./cursor.ts";
import { keySql } from "./list-key.ts";
import { allOf, type IndexPosition, isAfter, isLateSql, orderSql, rowsSql, type View } from "./list-sql.ts";
import type { IndexWalk } from "./walk.ts";

/** The rows that a slice looks at, at most, and for how long. SQLite holds the event loop during a statement. */
const SLICE = { rows: { sqlite: 500, postgres: 5000 }, withinMs: 5 };
/** Most searches end with their first slice, which waits for no turn. A hundred requests at once have a hundred first slices. */
const FIRST_SLICE = { rows: 200, withinMs: 1 };

const LEAST_ROWS = 20;

type ScannedRow = Record<string, string | number | null>;
/** A row that fulfils all conditions, with the columns that it is ordered by. */
type FoundRow = { row: ScannedRow; order: (string | number)[]; isAfter: boolean };
type ScanOptions = {
  /** Where to begin. */
  from?: IndexPosition | undefined;
  most: number;
  /** FoundRow enough: the rest need not be looked at. */
  isEnough?(found: number, lookedAt: number): boolean;
  /** What else to say of each row that is found: the keys of another order, and whether it comes after a position in that. */
  inOrder?: { walk: IndexWalk; after: IndexPosition | undefined };
};

/**
 * Looks at the rows of a walk one by one, in slices, and yields to other requests between two. Of a store's searches one at a time has
 * its next slice: fifty at once would each have theirs before another store is served. `last`: the row it has come to.
 */
export async function search(
  view: View,
  walk: IndexWalk,
  { from, most, isEnough = () => false, inOrder }: ScanOptions,
): Promise<{ found: FoundRow[]; isEnd: boolean; last: ScannedRow }> {
  const { db, engine } = view.storage;
  const columns = columnsOf(walk);
  const orderKeys = inOrder?.walk.keys ?? [];
  // The id is what the rest of a row is fetched by.
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
    // Rows that the slice came to when its time was over were not looked at: the next slice begins with them.
    const late = come.findIndex((row) => row.is_found === null);
    const rows = late < 0 ? come : come.slice(0, late);
    if (late === 0) throw new Error("a slice ended before its first row");
    // Rows that come too late are sent all the same.
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
    // After the first slice: one that goes on already is not broken off.
    if (isFirst) searches.refuseCrowd(view.of.store_id);
    position = new Map(columns.map((column) => [column, last[column] as string | number]));
  }
}

/** Sorts what was found along another index. */
export function inOrderOf(found: readonly FoundRow[], isDescending: boolean): FoundRow[] {
  const turn = isDescending ? -1 : 1;
  return found.toSorted((a, b) => {
    const at = a.order.findIndex((value, place) => value !== b.order[place]);
    return at < 0 ? 0 : turn * ((a.order[at] as string) < (b.order[at] as string) ? -1 : 1);
  });
}

/**
 * Texts are compared here by their 16-bit units, in an index by their bytes. The two differ where a character has two units
 * (U+D800 to U+DFFF), which come before U+E000 and should come after U+FFFF: so the two ranges are swapped.
 */
const inByteOrder = (value: string | number): string | number =>
  typeof value === "number"
    ? value
    : value.replaceAll(/[\ud800-\uffff]/g, (unit) =>
        String.fromCharCode(unit.charCodeAt(0) + (unit < "\ue000" ? 0x2000 : -0x800)),
      );
