import { type RawBuilder, sql } from "kysely";
import type { Storage } from "../storage.ts";

/**
 * The form of a column in an index: as it is; compared byte by byte, so that texts with the same beginning are
 * neighbours; in lower case and then byte by byte; or its beginning, where the text may be too long for an index.
 */
export type IndexKey = { column: string; form: "plain" | "bytes" | "lower" | "beginning" };

export const plain = (column: string): IndexKey => ({ column, form: "plain" });
export const bytes = (column: string): IndexKey => ({ column, form: "bytes" });
export const lower = (column: string): IndexKey => ({ column, form: "lower" });
export const beginning = (column: string): IndexKey => ({ column, form: "beginning" });

/** The same number as in the index of migration 8: with another the expression would not match the index. */
export const BEGINNING = 255;

export const isSame = (one: IndexKey, other: IndexKey): boolean =>
  one.column === other.column && one.form === other.form;

/** The expression of the migration: the planner uses the index for the same expression only. */
export function keySql(engine: Storage["engine"], { column, form }: IndexKey): RawBuilder<unknown> {
  const collated = engine === "postgres" ? sql` collate "C"` : sql``;
  const name = sql.ref(column);
  if (form === "plain") return name;
  if (form === "beginning") return sql`substr(${name}, 1, ${sql.lit(BEGINNING)})`;
  if (form === "bytes") return sql`${name}${collated}`;
  return engine === "postgres" ? sql`lower(${name})${collated}` : sql.ref(`${column}_key`);
}

/** A value of the column, in the form of the key. */
export function valueSql({ form }: IndexKey, value: string | number): RawBuilder<unknown> {
  // Without a cast, which would make SQLite compare by another rule than the index, and scan more rows.
  if (form === "plain" || form === "bytes") return sql`${value}`;
  const text = sql`cast(${value} as text)`;
  return form === "lower" ? sql`lower(${text})` : sql`substr(${text}, 1, ${sql.lit(BEGINNING)})`;
}
