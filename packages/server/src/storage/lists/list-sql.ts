import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Storage } from "../storage.ts";
import { rangeSql } from "./filter.ts";
import { isSame, keySql, valueSql } from "./list-key.ts";
import type { Listed } from "./lists.ts";
import type { IndexWalk } from "./walk.ts";

/** The columns that select the owner's rows. The store is always among them. */
export type Owner = {
  store_id: string;
  realm_id?: string;
  customer_id?: string;
  integration_id?: string;
  purpose?: string;
};

/** The list that a statement reads. */
export type View = { storage: Storage; table: Listed; of: Owner; isDescending: boolean };

/** A row's values of the columns of a walk. */
export type IndexPosition = ReadonlyMap<string, string | number>;

/** The rows of a walk, behind a position if there is one. Leaves out the walk's checks. */
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

/** Empty where every key of the index has a given value: then there is one row at most. */
export function orderSql({ storage, isDescending }: Omit<View, "of" | "table">, { keys, fixed }: IndexWalk) {
  const free = keys.slice(fixed).map((key) => {
    return sql`${keySql(storage.engine, key)} ${isDescending ? sql`desc` : sql`asc`}`;
  });
  return free.length === 0 ? sql`` : sql`order by ${sql.join(free)}`;
}

/** Compares all keys together, so that the scan begins right behind the row, even among equal first keys. */
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
 * True in each row that a scan reaches `withinMs` after its first row. A row may cost a tenth of a millisecond (a
 * pattern of 255 letters on a name of 255), so a slice is bounded by time as well as by rows. The subquery depends on
 * no row, so it runs once.
 */
export function isLateSql(engine: Storage["engine"], withinMs: number): RawBuilder<SqlBool> {
  if (engine === "sqlite") return sql`monotonic_ms() > (select monotonic_ms()) + ${withinMs}`;
  return sql`clock_timestamp() > (select clock_timestamp()) + ${withinMs} * interval '1 millisecond'`;
}

export const allOf = (conditions: readonly RawBuilder<SqlBool>[]): RawBuilder<SqlBool> =>
  conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`;
