import { type RawBuilder, sql } from "kysely";
import type { Storage } from "../storage.ts";

/**
 * A column as an index holds it: as it is; compared byte by byte, so that texts with the same beginning lie together; in lower
 * case, and then byte by byte; or its beginning, where it may be too long for an index.
 */
export type IndexKey = { column: string; form: "plain" | "bytes" | "lower" | "beginning" };

export const plain = (column: string): IndexKey => ({ column, form: "plain" });
export const bytes = (column: string): IndexKey => ({ column, form: "bytes" });
export const lower = (column: string): IndexKey => ({ column, form: "lower" });
export const beginning = (column: string): IndexKey => ({ column, form: "beginning" });

/** The figure stands in the index of migration 8, too: another would not be the same expression. */
export const BEGINNING = 255;

export const isSame = (one: IndexKey, other: IndexKey): boolean =>
  one.column === other.column && one.form === other.form;

/** As the migration has written it, or the planner would not know the index again. */
export function keySql(engine: Storage["engine"], { column, form }: IndexKey): RawBuilder<unknown> {
  const collated = engine === "postgres" ? sql` collate "C"` : sql``;
  const name = sql.ref(column);
  if (form === "plain") return name;
  if (form === "beginning") return sql`substr(${name}, 1, ${sql.lit(BEGINNING)})`;
  if (form === "bytes") return sql`${name}${collated}`;
  return engine === "postgres" ? sql`lower(${name})${collated}` : sql.ref(`${column}_key`);
}

/** A value of the column in the form that the key has. */
export function valueSql({ form }: IndexKey, value: string | number): RawBuilder<unknown> {
  // Not cast: SQLite would then compare it otherwise than the index does, and go through all that have the same first key.
  if (form === "plain" || form === "bytes") return sql`${value}`;
  const text = sql`cast(${value} as text)`;
  return form === "lower" ? sql`lower(${text})` : sql`substr(${text}, 1, ${sql.lit(BEGINNING)})`;
}
