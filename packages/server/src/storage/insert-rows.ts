import { sql } from "kysely";
import { type Statement, statement } from "./statement.ts";
import type { Database } from "./storage.ts";
import type { Tables } from "./tables.ts";

/** So many rows at once, then the next smaller number: few statements to keep, and few to send. */
const SIZES = [100, 8, 4, 3, 2, 1];

/**
 * Inserts any number of rows by statements that are compiled once for each of a few sizes: to build a statement anew for thousands of
 * values takes longer than to run it, and so does to run one for each row.
 */
export function insertRows<T extends keyof Tables, C extends keyof Tables[T] & string>(
  table: T,
  columns: readonly C[],
): (db: Database, rows: readonly Pick<Tables[T], C>[]) => Promise<void> {
  const bySize = new Map(SIZES.map((size) => [size, insertOf(table, columns, size)]));
  return async (db, rows) => {
    for (let from = 0; from < rows.length; ) {
      const size = SIZES.find((one) => one <= rows.length - from) ?? 1;
      const values: Values = {};
      for (let at = 0; at < size; at++)
        for (const column of columns) values[`${column} ${at}`] = rows[from + at]?.[column];
      await bySize.get(size)?.all(db, values);
      from += size;
    }
  };
}

type Values = Record<string, unknown>;

const insertOf = (table: string, columns: readonly string[], size: number): Statement<Values, object> =>
  statement((_, places: Values) => {
    const rows = Array.from(
      { length: size },
      (_row, at) => sql`(${sql.join(columns.map((column) => sql`${places[`${column} ${at}`]}`))})`,
    );
    const names = sql.join(columns.map((column) => sql.ref(column)));
    return sql<object>`insert into ${sql.table(table)} (${names}) values ${sql.join(rows)}`;
  });
