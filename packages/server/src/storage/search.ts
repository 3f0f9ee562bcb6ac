import { setImmediate } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { atMost } from "./at-most.ts";
import { columnsOf } from "./cursor.ts";
import { keySql } from "./list-key.ts";
import { allOf, isAfter, orderSql, type Position, rowsSql, type View } from "./list-sql.ts";
import type { Walk } from "./walk.ts";

/** SQLite holds the event loop for as long as a statement takes: so many rows are a few milliseconds. */
const FIRST_SLICE = 200;
const SLICE = { sqlite: 500, postgres: 5000 };

type Row = Record<string, string | number>;
/** A row that fulfils all conditions, with the columns that it is ordered by. */
type Found = { row: Row; order: (string | number)[]; isAfter: boolean };
type Search = {
  /** Where to begin. */
  from?: Position | undefined;
  most: number;
  /** Found enough: the rest need not be looked at. */
  isEnough?(found: number, lookedAt: number): boolean;
  /** What else to say of each row that is found: the keys of another order, and whether it comes after a position in that. */
  inOrder?: { walk: Walk; after: Position | undefined };
};

/**
 * Looks at the rows of a walk one by one, in slices, and yields to other requests between two. Of a store's searches one at a time has
 * its next slice: fifty at once would each have theirs before anybody else is served. `last`: the row it has come to.
 */
export async function search(
  view: View,
  walk: Walk,
  { from, most, isEnough = () => false, inOrder }: Search,
): Promise<{ found: Found[]; isEnd: boolean; last: Row }> {
  const { db, engine } = view.storage;
  const columns = columnsOf(walk);
  const orderKeys = inOrder?.walk.keys ?? [];
  // The id is what the rest of a row is fetched by.
  const named = new Set([...columns, "id", ...(inOrder ? columnsOf(inOrder.walk) : [])]);
  const selected: RawBuilder<unknown>[] = [
    ...[...named].map((column) => sql.ref(column)),
    sql`case when ${allOf(walk.checks)} then 1 else 0 end as is_found`,
    ...orderKeys.map((key, at) => sql`${keySql(engine, key)} as ${sql.ref(`order_${at}`)}`),
    ...(inOrder?.after
      ? [sql`case when ${isAfter(view, inOrder.walk, inOrder.after)} then 1 else 0 end as is_after`]
      : []),
  ];
  // Most end with the first slice, and wait for nobody.
  const { searches } = view.storage;
  const inTurn = <T>(read: () => Promise<T>) =>
    searches.inTurn(view.of.store_id, () => setImmediate().then(read));
  const found: Found[] = [];
  let position = from;
  for (let lookedAt = 0; ; ) {
    const limit = Math.min(lookedAt === 0 ? FIRST_SLICE : SLICE[engine], most - lookedAt);
    const slice = sql<Row>`
      select ${sql.join(selected)} ${rowsSql(view, walk, position)} ${orderSql(view, walk)} limit ${atMost(limit)}`;
    const { rows } = await (lookedAt === 0 ? slice.execute(db) : inTurn(() => slice.execute(db)));
    for (const row of rows) {
      if (row.is_found !== 1) continue;
      const order = orderKeys.map((_, at) => inByteOrder(row[`order_${at}`] as string | number));
      found.push({ row, order, isAfter: row.is_after !== 0 });
    }
    lookedAt += rows.length;
    const last = rows.at(-1) ?? {};
    if (rows.length < limit) return { found, isEnd: true, last };
    if (lookedAt >= most || isEnough(found.length, lookedAt)) return { found, isEnd: false, last };
    // After the first slice: one that goes on already is not broken off.
    if (position === from) searches.refuseCrowd(view.of.store_id);
    position = new Map(columns.map((column) => [column, last[column] as string | number]));
  }
}

/** Sorts what was found along another index. */
export function inOrderOf(found: readonly Found[], isDescending: boolean): Found[] {
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
