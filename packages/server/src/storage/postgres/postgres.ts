import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  RawNode,
  sql,
} from "kysely";
import { createFairPlaces } from "../../lib/fair-places.ts";
import { createLongLists } from "../lists/long-lists.ts";
import { createSearches } from "../lists/searches.ts";
import {
  createChanges,
  type Database,
  DEFAULT_CONNECTIONS,
  type PostgresOptions,
  type Storage,
  type Trx,
} from "../storage.ts";
import type { Tables } from "../tables.ts";
import { runInTransaction } from "../transaction.ts";
import { ChangesListener, findServerAndDatabase } from "./changes.ts";
import type { PooledConnection } from "./connection.ts";
import { ConnectionPool } from "./connections.ts";
import { isUndone } from "./errors.ts";

const CLOSE_WITHIN_MS = 1000;
/** For so long an undone transaction is tried again; the last try may take as long as the first. */
const TRY_AGAIN_MS = 1500;
const PAUSE_MS = 100;
/** Transactions of one row take turns here: at the server each would hold a connection while it waits. */
const TURNS = { places: 1, waiting: 200, waitMs: 1000 };

/** The name of the connections that listen. A service has an id behind it, so that instances can be counted. */
const LISTENER = "latchkey changes";

export function openPostgres(url: string, options: PostgresOptions = {}): Storage {
  const {
    connections = DEFAULT_CONNECTIONS,
    directUrl,
    isService = false,
    slack = 1,
    patient = false,
  } = options;
  const name = isService ? `${LISTENER} ${randomBytes(4).toString("hex")}` : LISTENER;
  const pool = new ConnectionPool(url, { connections, patient, slack });
  const dialect = dialectOf(pool);
  const db = new Kysely<Tables>({ dialect });
  const changes = createChanges();
  const listener = patient
    ? undefined
    : new ChangesListener(directUrl ?? url, name, {
        onChange: changes.announce,
        onAny: changes.announceAll,
        place: directUrl === undefined ? undefined : () => findServerAndDatabase(db),
      });
  const turns = createFairPlaces({ ...TURNS, waitMs: TURNS.waitMs * slack });

  return {
    engine: "postgres",
    db,
    changes,
    longLists: createLongLists(),
    searches: createSearches({ isOneAtATime: false }),
    async transact(work, row) {
      const leave = row === undefined ? () => {} : await turns.enter(row, "");
      if (!leave) throw turnNotHad();
      const runOnce = () => this.db.transaction().execute((trx: Trx) => runInTransaction(trx, dialect, work));
      try {
        return await retryUndone(runOnce, TRY_AGAIN_MS * slack);
      } finally {
        leave();
      }
    },
    write(work) {
      return work(this.db);
    },
    // For one statement `synchronous_commit = off` needs a transaction, whose round trips take longer than the disk.
    ahead(work) {
      return work(this.db);
    },
    forgetOverwritten: () => Promise.resolve(true),
    claim() {},
    pool: () => ({ ...pool.state(), deafness: listener?.deafness }),
    ping: () => ping(db, name),
    async close() {
      await within(CLOSE_WITHIN_MS, Promise.all([listener?.stop(), db.destroy()]));
    },
  };
}

/** Kysely's way to the pool. */
const dialectOf = (pool: ConnectionPool): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createDriver: () => ({
    init: async () => {},
    acquireConnection: () => pool.take(),
    beginTransaction: (connection) => run(connection, "begin"),
    commitTransaction: (connection) => run(connection, "commit"),
    rollbackTransaction: (connection) => run(connection, "rollback"),
    releaseConnection: async (connection) => pool.giveBack(connection as PooledConnection),
    destroy: () => pool.end(),
  }),
});

async function run(connection: DatabaseConnection, text: string): Promise<void> {
  const query: CompiledQuery = {
    sql: text,
    parameters: [],
    query: RawNode.createWithSql(text),
    queryId: { queryId: text },
  };
  await connection.executeQuery(query);
}

/** Tries again what the server has undone, for `forMs` at the most. */
async function retryUndone<T>(runOnce: () => Promise<T>, forMs: number): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    try {
      return await runOnce();
    } catch (error) {
      if (!isUndone(error) || performance.now() - startedMs > forMs) throw error;
      // A random pause, so that two transactions that met do not meet again.
      await sleep(Math.random() * PAUSE_MS);
    }
  }
}

async function ping(db: Database, name: string): Promise<{ nowMs: number; otherInstances: number }> {
  const now = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  const others = sql<number>`(select count(*) from pg_stat_activity where datname = current_database()
    and application_name like ${`${LISTENER} _%`} and application_name <> ${name})`;
  // A standby answers reads, and refuses writes.
  const isReadOnly = sql<boolean>`current_setting('transaction_read_only')::boolean`;
  const row = await db
    .selectNoFrom([now.as("now"), others.as("others"), isReadOnly.as("isReadOnly")])
    .executeTakeFirstOrThrow();
  if (row.isReadOnly) throw readOnly();
  return { nowMs: row.now, otherInstances: row.others };
}

/** SQLSTATE 25006, read_only_sql_transaction. */
const readOnly = (): Error => Object.assign(new Error("the server only reads"), { code: "25006" });

/** SQLSTATE 55P03, lock_not_available. */
const turnNotHad = (): Error =>
  Object.assign(new Error("too many changes of one row, or one that takes long"), { code: "55P03" });

function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    work
      .catch(() => {})
      .finally(() => {
        clearTimeout(timer);
        resolve();
      });
  });
}
