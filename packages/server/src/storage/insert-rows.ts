import { type RawBuilder, sql } from "kysely";
import { type Built, statement, statementInOrder } from "./statement.ts";
import type { Database } from "./storage.ts";
import type { Tables } from "./tables.ts";

/** Rows per statement, then the next smaller number: few statements to keep, and few to send. */
const SIZES = [100, 32, 8, 4, 3, 2, 1];

type InsertOptions<O> = { ending?: RawBuilder<O>; isLater?: boolean };

/**
 * Inserts any number of rows by statements that are compiled once for each of a few sizes: to build a statement anew
 * for thousands of values takes longer than to run it, and so does a statement for each row. `ending` follows the rows:
 * what to do with rows that are there already, and what to return. `isLater`: as `later` of a statement, which returns
 * nothing.
 */
export function insertRows<T extends keyof Tables, C extends keyof Tables[T] & string, O = never>(
  table: T,
  columns: readonly C[],
  { ending = sql``, isLater = false }: InsertOptions<O> = {},
): (db: Database, rows: readonly Pick<Tables[T], C>[]) => Promise<O[]> {
  const bySize = new Map(SIZES.map((size) => [size, insertOf(table, columns, size, ending)]));
  return async (db, rows) => {
    const returned: O[] = [];
    for (let from = 0; from < rows.length; ) {
      const size = SIZES.find((one) => one <= rows.length - from) ?? 1;
      const values: unknown[] = [];
      for (const row of rows.slice(from, from + size)) for (const column of columns) values.push(row[column]);
      if (isLater) await bySize.get(size)?.later(db, values);
      else returned.push(...((await bySize.get(size)?.all(db, values)) ?? []));
      from += size;
    }
    return returned;
  };
}

const insertOf = <O>(table: string, columns: readonly string[], size: number, ending: RawBuilder<O>) =>
  statementInOrder(() => {
    const row = sql`(${sql.join(columns.map((column) => sql`${column}`))})`;
    const names = sql.join(columns.map((column) => sql.ref(column)));
    const rows = Array.from({ length: size }, () => row);
    return sql<O>`insert into ${sql.table(table)} (${names}) values ${sql.join(rows)} ${ending}`;
  });

/** The same with every column of the table: the members of the first row. */
export function insertWholeRows<T extends keyof Tables, O = never>(table: T, options?: InsertOptions<O>) {
  type Row = Pick<Tables[T], keyof Tables[T] & string>;
  let insert: ((db: Database, rows: readonly Row[]) => Promise<O[]>) | undefined;
  return async (db: Database, rows: readonly Row[]): Promise<O[]> => {
    const [first] = rows;
    if (!first) return [];
    insert ??= insertRows(table, Object.keys(first) as (keyof Row)[], options);
    return insert(db, rows);
  };
}

/**
 * Runs a statement about any number of ids, `atOnce` at a time. The statement is compiled once: where there are fewer
 * ids, the last id fills the placeholders that are left. `more` are values besides the ids.
 */
export function forIds<O, M extends object = object>(
  atOnce: number,
  build: (db: Database, ids: readonly string[], more: M) => Built<O>,
): (db: Database, ids: readonly string[], more?: M) => Promise<O[]> {
  const every = Array.from({ length: atOnce }, (_, at) => at);
  const some = statement((db, placeholders: string[] & M) =>
    build(
      db,
      every.map((at) => placeholders[at] as string),
      placeholders,
    ),
  );
  return async (db, ids, more) => {
    const found: O[] = [];
    for (let from = 0; from < ids.length; from += atOnce) {
      const values = every.map((at) => ids[Math.min(from + at, ids.length - 1)] as string);
      found.push(...(await some.all(db, Object.assign(values, more))));
    }
    return found;
  };
}
