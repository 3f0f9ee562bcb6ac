import { PostgresAdapter, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Database, Storage } from "./storage.ts";

/** Where the engines need different SQL. Everything outside this folder calls these, and names no engine. */

export const engineOf = (db: Database): Storage["engine"] =>
  db.getExecutor().adapter instanceof PostgresAdapter ? "postgres" : "sqlite";

type RowQuery<DB, TB extends keyof DB, O> = SelectQueryBuilder<DB, TB, O>;

/**
 * Locks rows that the same transaction will change or that decide what it does, until it ends. On SQLite there is one
 * transaction that writes at a time.
 */
export const forChange = <DB, TB extends keyof DB, O>(db: Database, rows: RowQuery<DB, TB, O>) =>
  engineOf(db) === "postgres" ? rows.forUpdate() : rows;

/** The same without waiting: rows that another transaction has locked are left out. */
export const forChangeIfFree = <DB, TB extends keyof DB, O>(db: Database, rows: RowQuery<DB, TB, O>) =>
  engineOf(db) === "postgres" ? rows.forUpdate().skipLocked() : rows;

/**
 * Blocks deletion of the rows until the transaction ends; updates of non-key columns are allowed. `table`: the table to
 * lock in a join.
 */
export const forKeyShare = <DB, TB extends keyof DB, O>(
  db: Database,
  rows: RowQuery<DB, TB, O>,
  table?: TB & string,
) => {
  if (engineOf(db) === "sqlite") return rows;
  return table === undefined ? rows.forKeyShare() : rows.forKeyShare(table);
};

/** A member of a JSON object that a column holds as text. */
export const jsonText = (db: Database, column: string, member: string): RawBuilder<string> =>
  engineOf(db) === "postgres"
    ? sql`${sql.ref(column)}::json ->> ${sql.lit(member)}`
    : sql`${sql.ref(column)} ->> ${sql.lit(member)}`;

/** In milliseconds: the database's clock where there may be several instances, else that of this process. */
export const sharedNow = (db: Database, now: number): RawBuilder<number> =>
  engineOf(db) === "postgres" ? sql`(extract(epoch from now()) * 1000)::bigint` : sql`${now}`;

export const least = (db: Database, one: RawBuilder<number>, other: number): RawBuilder<number> =>
  engineOf(db) === "postgres" ? sql`least(${one}, ${other})` : sql`min(${one}, ${other})`;

/** One process at a time serves a SQLite file. */
export const mayHaveOtherInstances = ({ db }: Pick<Storage, "db">): boolean => engineOf(db) === "postgres";

/** False when SQLite finds a fault in its file. PostgreSQL has no such check, so true. */
export async function isSound(db: Database): Promise<boolean> {
  if (engineOf(db) === "postgres") return true;
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(1)`.execute(db);
  return rows[0]?.integrity_check === "ok";
}
