import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import pg from "pg";

/**
 * The database of a bare server: each statement is prepared once, without a query builder. On SQLite nothing here
 * waits, so a request ends before the next one begins, and one connection is enough for transactions.
 */
export type Row = Record<string, SQLInputValue>;
export type Ask = (sql: string, ...values: SQLInputValue[]) => Row | undefined | Promise<Row | undefined>;
export type Database = { ask: Ask; transact<T>(work: (ask: Ask) => Promise<T>): Promise<T> };

/** The statement of each table. All rows of a table must have the same members in the same order. */
const inserts = new Map<string, string>();

export function insertRow(ask: Ask, table: string, row: Row): ReturnType<Ask> {
  let statement = inserts.get(table);
  if (!statement) {
    const columns = Object.keys(row);
    statement = `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;
    inserts.set(table, statement);
  }
  return ask(statement, ...Object.values(row));
}

export const openDatabase = (url: string): Database =>
  url.startsWith("sqlite:") ? openSqlite(url.slice("sqlite:".length)) : openPostgres(url);

function openSqlite(path: string): Database {
  const file = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  file.exec("pragma journal_mode = wal; pragma synchronous = full; pragma trusted_schema = off;");
  const prepared = new Map<string, StatementSync>();
  const ask: Ask = (sql, ...values) => {
    let statement = prepared.get(sql);
    if (!statement) {
      statement = file.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement.get(...values) as Row | undefined;
  };
  return {
    ask,
    async transact(work) {
      void ask("begin immediate");
      try {
        const result = await work(ask);
        void ask("commit");
        return result;
      } catch (error) {
        void ask("rollback");
        throw error;
      }
    },
  };
}

/** Replaces `?` by `$1`, `$2`…, and names every statement, so that PostgreSQL parses it once per connection. */
function openPostgres(url: string): Database {
  // The columns for times are bigint, which pg would give as text.
  const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) };
  const pool = new pg.Pool({ connectionString: url, max: 10, types: types as never });
  const named = new Map<string, { name: string; text: string }>();
  const queryOf = (sql: string) => {
    let query = named.get(sql);
    if (!query) {
      let values = 0;
      query = { name: `s${named.size}`, text: sql.replaceAll("?", () => `$${++values}`) };
      named.set(sql, query);
    }
    return query;
  };
  const askOn =
    (connection: pg.Pool | pg.PoolClient): Ask =>
    async (sql, ...values) =>
      (await connection.query({ ...queryOf(sql), values })).rows[0];
  return {
    ask: askOn(pool),
    async transact(work) {
      const connection = await pool.connect();
      try {
        await connection.query("begin");
        const result = await work(askOn(connection));
        await connection.query("commit");
        return result;
      } catch (error) {
        await connection.query("rollback");
        throw error;
      } finally {
        connection.release();
      }
    },
  };
}
