import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import pg from "pg";

/** Fills tables by inserts of many rows, without the API. Not durable while it runs: what fails is begun anew. */
export type Bulk = {
  /** All rows have the same members, which are the columns. */
  insert(table: string, rows: readonly object[]): Promise<void>;
  /** As the database would be after some time of service. */
  finish(): Promise<void>;
};

export const openBulk = async (databaseUrl: string): Promise<Bulk> =>
  databaseUrl.startsWith("sqlite:") ? onSqlite(databaseUrl.slice("sqlite:".length)) : onPostgres(databaseUrl);

/** At most so many values in one statement; SQLite allows 32,766 and PostgreSQL 65,535. */
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
      // What autovacuum does by itself within minutes.
      await client.query("vacuum analyze");
      await client.end();
    },
  };
}
