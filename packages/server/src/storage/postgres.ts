import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { createChanges, type Storage } from "./storage.ts";
import type { Tables } from "./tables.ts";

const CONNECT_TIMEOUT_MS = 2000;
const QUERY_TIMEOUT_MS = 2000;
const POOL_SIZE = 10;
const RELISTEN_EVERY_MS = 500;

/** The channel of the trigger on `stores`: a commit that changes a store says its id there. */
export const CHANGES_CHANNEL = "latchkey_changes";

export function openPostgres(url: string): Storage {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: "latchkey",
    types: { getTypeParser: parserOf },
  });
  // A connection that dies while idle is replaced by the pool at its next use; there is nothing else to do.
  pool.on("error", () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const changes = createChanges();
  const stopListening = listen(url, changes.announce, changes.announceAll);

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
      await stopListening();
      await db.destroy();
    },
  };
}

/** Our bigints are milliseconds and counts, all below 2^53: numbers, as SQLite gives them. */
function parserOf(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}

/**
 * Hears of other instances' commits. While the connection is away we may have missed some, so everything is dropped
 * at each try to come back: what is kept in memory is then never older than that.
 */
function listen(url: string, onChange: (storeId: string) => void, onAny: () => void): () => Promise<void> {
  let stopped = false;
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const mine = new pg.Client({
      connectionString: url,
      application_name: "latchkey changes",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    client = mine;
    let lost = false;
    const again = () => {
      if (lost) return;
      lost = true;
      mine.end().catch(() => {});
      if (stopped) return;
      onAny();
      retry = setTimeout(connect, RELISTEN_EVERY_MS);
    };
    mine.on("error", again);
    mine.on("end", again);
    mine.on("notification", (message) => (message.payload ? onChange(message.payload) : onAny()));
    try {
      await mine.connect();
      await mine.query(`listen ${CHANGES_CHANNEL}`);
      onAny();
    } catch {
      again();
    }
  }

  const first = connect();
  return async () => {
    stopped = true;
    clearTimeout(retry);
    await first;
    await client?.end().catch(() => {});
  };
}
