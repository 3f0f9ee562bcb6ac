import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Storage } from "../storage.ts";
import { rangeSql } from "./filter.ts";
import { isSame, keySql, valueSql } from "./list-key.ts";
import type { Listed } from "./lists.ts";
import type { IndexWalk } from "./walk.ts";

/** The columns that say whose rows are meant. The store is always among them. */
export type Owner = {
  store_id: string;
  realm_id?: string;
  customer_id?: string;
  integration_id?: string;
  purpose?: string;
};

/** What every statement about one list has in common. */
export type View = { storage: Storage; table: Listed; of: Owner; isDescending: boolean };

/** The values by which a row lies in a walk, by column. */
export type IndexPosition = ReadonlyMap<string, string | number>;

/** The rows of a walk, from a position on if there is one, but for its checks. */
export function rowsSql({ storage, of, table, isDescending }: View, walk: IndexWalk, after?: IndexPosition) {
  const { engine } = storage;
  const openAt = after && (isDescending ? "end" : "start");
  const free = walk.keys[walk.fixed];
  const conditions = [
    ...Object.entries(of).map(([column, value]) => sql<SqlBool>`${sql.ref(column)} = ${value}`),
    ...(walk.present === undefined ? [] : [sql<SqlBool>`${sql.ref(walk.present)} is not null`]),
    ...walk.ranges.flatMap((range) =>
      rangeSql(engine, range, free && isSame(range.key, free) ? openAt : undefined),
    ),
    ...(after ? [isAfter({ storage, isDescending }, walk, after)] : []),
  ];
  return sql`from ${sql.table(table)} where ${allOf(conditions)}`;
}

/** Nothing, where every key of the index has a given value: that is one row at most. */
export function orderSql({ storage, isDescending }: Omit<View, "of" | "table">, { keys, fixed }: IndexWalk) {
  const free = keys.slice(fixed).map((key) => {
    return sql`${keySql(storage.engine, key)} ${isDescending ? sql`desc` : sql`asc`}`;
  });
  return free.length === 0 ? sql`` : sql`order by ${sql.join(free)}`;
}

/** One comparison of all keys together: only so can an index begin right behind the row, however many are equal to it. */
export function isAfter(
  { storage, isDescending }: Omit<View, "of" | "table">,
  { keys, fixed }: IndexWalk,
  position: IndexPosition,
): RawBuilder<SqlBool> {
  const free = keys.slice(fixed);
  const here = sql.join(free.map((key) => keySql(storage.engine, key)));
  const there = sql.join(free.map((key) => valueSql(key, position.get(key.column) ?? "")));
  return sql`(${here}) ${isDescending ? sql`<` : sql`>`} (${there})`;
}

/**
 * True in each row that a scan comes to this long after its first one. A row of a scan may cost a tenth of a millisecond (a pattern of
 * 255 letters on a name of 255), so a slice is bounded by time as well as by rows. A subquery that depends on no row runs once.
 */
export function isLateSql(engine: Storage["engine"], withinMs: number): RawBuilder<SqlBool> {
  if (engine === "sqlite") return sql`monotonic_ms() > (select monotonic_ms()) + ${withinMs}`;
  return sql`clock_timestamp() > (select clock_timestamp()) + ${withinMs} * interval '1 millisecond'`;
}

export const allOf = (conditions: readonly RawBuilder<SqlBool>[]): RawBuilder<SqlBool> =>
  conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`;
