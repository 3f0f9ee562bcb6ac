import { CompiledQuery, type DatabaseConnection, type QueryExecutor, sql } from "kysely";
import { mayPostpone } from "../../src/storage/statement.ts";
import type { Database, Storage } from "../../src/storage/storage.ts";

/** The same storage; `onStatement` gets each statement before it is sent, and its error goes to the sender. */
export const watchStatements = (
  storage: Storage,
  onStatement: (statement: CompiledQuery) => void,
): Storage => ({ ...storage, db: watchDatabase(storage.db, onStatement) });

/** At the connection, because every statement passes there, also one that is compiled once. */
export function watchDatabase(db: Database, onStatement: (statement: CompiledQuery) => void): Database {
  const watched = db.withoutPlugins();
  const executor = withoutShortcut(watched.getExecutor());
  const provide = executor.provideConnection.bind(executor);
  executor.provideConnection = (consumer, options) =>
    provide((connection) => consumer(watchConnection(connection, onStatement)), options);
  return watched;
}

/** Also in the transactions of this storage. */
function withoutShortcut(executor: QueryExecutor): QueryExecutor {
  const adapter = Object.create(executor.adapter, { shortcut: { value: undefined } });
  const withProvider = executor.withConnectionProvider.bind(executor);
  return Object.defineProperties(executor, {
    adapter: { value: adapter },
    withConnectionProvider: {
      value: (...provider: Parameters<typeof withProvider>) => withoutShortcut(withProvider(...provider)),
    },
  });
}

const watchConnection = (
  connection: DatabaseConnection,
  onStatement: (statement: CompiledQuery) => void,
): DatabaseConnection => ({
  async executeQuery(query) {
    if (!FRAME.test(query.sql)) onStatement(query);
    return connection.executeQuery(query);
  },
  streamQuery: (query, size) => connection.streamQuery(query, size),
  ...(mayPostpone(connection) && {
    async executeLater(query: CompiledQuery) {
      onStatement(query);
      return connection.executeLater(query);
    },
  }),
});

/** Statements that only begin or end a transaction. */
const FRAME = /^(begin|commit|rollback)/;

/** The most counted statements in one turn of the event loop. On SQLite no other request is served during a turn. */
export async function mostInOneTurn(
  storage: Storage,
  work: (watched: Storage) => Promise<unknown>,
  isMeant: (statement: CompiledQuery) => boolean = () => true,
): Promise<number> {
  let [sent, most, isOver] = [0, 0, false];
  const onTurn = () => {
    sent = 0;
    if (!isOver) setImmediate(onTurn);
  };
  setImmediate(onTurn);
  await work(
    watchStatements(storage, (statement) => {
      if (isMeant(statement)) most = Math.max(most, ++sent);
    }),
  );
  isOver = true;
  return most;
}

/** The database's plan of a statement. */
export async function planOf({ engine, db }: Storage, statement: CompiledQuery): Promise<string> {
  const explain = engine === "sqlite" ? "explain query plan" : "explain";
  const rows = await db.transaction().execute(async (trx) => {
    // PostgreSQL scans a small table, and sorts its rows, unless both are disabled.
    for (const way of engine === "postgres" ? ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort"] : [])
      await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(trx);
    const query = CompiledQuery.raw(`${explain} ${statement.sql}`, [...statement.parameters]);
    return (await trx.executeQuery<Record<string, string>>(query)).rows;
  });
  return rows.map((row) => row.detail ?? row["QUERY PLAN"]).join("\n");
}
