import { CompiledQuery, type DatabaseConnection, type QueryExecutor, sql } from "kysely";
import { mayPostpone } from "../../src/storage/statement.ts";
import type { Database, Storage } from "../../src/storage/storage.ts";

/** The same storage, whose statements are shown before they are sent. What `onStatement` throws is what the sender gets. */
export const watchStatements = (
  storage: Storage,
  onStatement: (statement: CompiledQuery) => void,
): Storage => ({ ...storage, db: watchDatabase(storage.db, onStatement) });

/** At the connection, because that is where every statement passes: those that are compiled once as well. */
export function watchDatabase(db: Database, onStatement: (statement: CompiledQuery) => void): Database {
  const watched = db.withoutPlugins();
  const executor = withoutShortcut(watched.getExecutor());
  const provide = executor.provideConnection.bind(executor);
  executor.provideConnection = (consumer, options) =>
    provide((connection) => consumer(watchConnection(connection, onStatement)), options);
  return watched;
}

/** Also in the transactions that begin there. */
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

/** What only holds a transaction together. */
const FRAME = /^(begin|commit|rollback)/;

/** The most statements, of those that are meant, that were sent in one turn of the event loop. On SQLite nobody else is served meanwhile. */
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

/** How the database would go about a statement. */
export async function planOf({ engine, db }: Storage, statement: CompiledQuery): Promise<string> {
  const explain = engine === "sqlite" ? "explain query plan" : "explain";
  const rows = await db.transaction().execute(async (trx) => {
    // PostgreSQL reads a small table whole, and sorts what is in it, unless that is ruled out.
    for (const way of engine === "postgres" ? ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort"] : [])
      await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(trx);
    const query = CompiledQuery.raw(`${explain} ${statement.sql}`, [...statement.parameters]);
    return (await trx.executeQuery<Record<string, string>>(query)).rows;
  });
  return rows.map((row) => row.detail ?? row["QUERY PLAN"]).join("\n");
}
