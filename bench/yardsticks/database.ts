import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import pg from "pg";

/**
 * The database of a bare server: statements prepared once, no builder between. On SQLite nothing here waits, and a
 * request's work runs to its end before the next request is looked at, so one connection can have transactions.
 */
export type Row = Record<string, SQLInputValue>;
export type Ask = (sql: string, ...values: SQLInputValue[]) => Row | undefined | Promise<Row | undefined>;
export type Database = { ask: Ask; transact<T>(work: (ask: Ask) => Promise<T>): Promise<T> };

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

/** `?` becomes `$1`, and every statement has a name, so that the server parses it once for each connection. */
function openPostgres(url: string): Database {
  // Instants are bigint: as numbers, as everywhere here.
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
