import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import pg from "pg";

/**
 * Inserts many rows at a time, without the API and without waiting for the disk: a failed seeding starts again on a new
 * database.
 */
export type Bulk = {
  /** The members of the first row are the columns of all rows. */
  insert(table: string, rows: readonly object[]): Promise<void>;
  /** Brings the database into the state of a database in service: a checkpoint on SQLite, statistics on PostgreSQL. */
  finish(): Promise<void>;
};

export const openBulk = async (databaseUrl: string): Promise<Bulk> =>
  databaseUrl.startsWith("sqlite:") ? onSqlite(databaseUrl.slice("sqlite:".length)) : onPostgres(databaseUrl);

/** Values in one statement. SQLite allows 32,766, PostgreSQL 65,535. */
const MOST_VALUES = 30_000;

type Statement = { sql: string; values: SQLInputValue[] };

function* statementsOf(
  table: string,
  rows: readonly object[],
  mark: (index: number) => string,
): Generator<Statement> {
  const columns = Object.keys(rows[0] ?? {});
  const size = Math.floor(MOST_VALUES / columns.length);
  for (let at = 0; at < rows.length; at += size) {
    const values = rows.slice(at, at + size).flatMap((row) => Object.values(row));
    let index = 0;
    const tuples: string[] = [];
    while (index < values.length) tuples.push(`(${columns.map(() => mark(++index)).join(", ")})`);
    yield { sql: `insert into ${table} (${columns.join(", ")}) values ${tuples.join(", ")}`, values };
  }
}

function onSqlite(path: string): Bulk {
  const file = new DatabaseSync(path);
  file.exec("pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -262144;");
  return {
    async insert(table, rows) {
      file.exec("begin immediate");
      for (const { sql, values } of statementsOf(table, rows, () => "?")) file.prepare(sql).run(...values);
      file.exec("commit");
    },
    async finish() {
      file.exec("pragma synchronous = full; pragma wal_checkpoint(truncate)");
      file.close();
    },
  };
}

async function onPostgres(url: string): Promise<Bulk> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("set synchronous_commit = off");
  return {
    async insert(table, rows) {
      for (const { sql, values } of statementsOf(table, rows, (index) => `$${index}`))
        await client.query(sql, values);
    },
    async finish() {
      // Autovacuum does this within minutes.
      await client.query("vacuum analyze");
      await client.end();
    },
  };
}
