import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { createChanges, type Storage } from "./storage.ts";
import type { Tables } from "./tables.ts";

// A request may wait for a connection and then for a statement: together they stay within two seconds.
const CONNECT_TIMEOUT_MS = 1000;
const QUERY_TIMEOUT_MS = 1000;
const POOL_SIZE = 10;
const HEARTBEAT_MS = 300;
const CLOSE_WITHIN_MS = 1000;

/** The channel of the trigger on `stores`: a commit that changes a store says its id there. */
export const CHANGES_CHANNEL = "latchkey_changes";

/** `patient`: for migrations, which may wait for another instance's and may take their time. */
export function openPostgres(url: string, { patient = false } = {}): Storage {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(!patient && { query_timeout: QUERY_TIMEOUT_MS, statement_timeout: QUERY_TIMEOUT_MS }),
    application_name: "latchkey",
    types: { getTypeParser: parserOf },
  });
  // A connection that dies, idle or in use, is replaced at its next use; whoever waits for an answer hears of it there.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const changes = createChanges();
  const stopListening = patient ? async () => {} : listen(url, changes.announce, changes.announceAll);

  return {
    engine: "postgres",
    db,
    changes,
    claim() {},
    async ping() {
      const now = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
      const row = await db.selectNoFrom(now.as("now")).executeTakeFirstOrThrow();
      return { nowMs: row.now };
    },
    async close() {
      await within(CLOSE_WITHIN_MS, Promise.all([stopListening(), db.destroy()]));
    },
  };
}

/** Our bigints are milliseconds and counts, all below 2^53: numbers, as SQLite gives them. */
function parserOf(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}

/**
 * Hears of other instances' commits. A heartbeat shows that we still would: while it is not answered we may have missed
 * some, so everything is dropped at every beat, and what is kept in memory is never older than one.
 */
function listen(url: string, onChange: (storeId: string) => void, onAny: () => void): () => Promise<void> {
  let client: pg.Client | undefined;
  let isLive = false;
  let isAnswered = true;

  function abandon(): void {
    client?.end().catch(() => {});
    client = undefined;
    isLive = false;
    isAnswered = true;
  }

  async function connect(): Promise<void> {
    const mine = new pg.Client({
      connectionString: url,
      application_name: "latchkey changes",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client = mine;
    mine.on("error", () => {});
    mine.on("notification", (message) => (message.payload ? onChange(message.payload) : onAny()));
    await mine.connect();
    await mine.query(`listen ${CHANGES_CHANNEL}`);
    if (client !== mine) return;
    isLive = true;
    onAny();
  }

  function beat(): void {
    if (!isLive || !isAnswered) onAny();
    if (!isAnswered) abandon();
    if (!client) {
      connect().catch(abandon);
    } else if (isLive) {
      isAnswered = false;
      client.query("select 1").then(() => {
        isAnswered = true;
      }, abandon);
    }
  }

  beat();
  const timer = setInterval(beat, HEARTBEAT_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await client?.end().catch(() => {});
  };
}

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
