import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import { createFairPlaces } from "../../lib/fair-places.ts";
import { createLongLists } from "../lists/long-lists.ts";
import { createSearches } from "../lists/searches.ts";
import { createChanges, DEFAULT_CONNECTIONS, type PostgresOptions, type Storage } from "../storage.ts";
import type { Tables } from "../tables.ts";
import { listenForChanges, PLACE } from "./changes.ts";
import { isUndone } from "./connection.ts";
import { openConnections } from "./connections.ts";

const CLOSE_WITHIN_MS = 1000;
/** Until then an undone transaction is tried again; the last try may take as long as the first. */
const TRY_AGAIN_MS = 1500;
const PAUSE_MS = 100;
/** One at a time for each row: changes of one row exclude each other anyway, and waiting for its lock at the server would take up a connection each. */
const TURNS = { places: 1, waiting: 200, waitMs: 1000 };

/** What the connections that listen call themselves. A service has an id behind it, so that instances can be counted. */
const LISTENER = "latchkey changes";

/** `patient`: for migrations; no statement is cut off, and nothing is listened to. */
export function openPostgres(url: string, options: PostgresOptions & { patient?: boolean } = {}): Storage {
  const {
    connections = DEFAULT_CONNECTIONS,
    directUrl,
    isService = false,
    slack = 1,
    patient = false,
  } = options;
  const name = isService ? `${LISTENER} ${randomBytes(4).toString("hex")}` : LISTENER;
  const pool = openConnections(url, { connections, patient, slack });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const changes = createChanges();
  const place = async () =>
    (await db.selectNoFrom(sql.raw<string>(PLACE).as("place")).executeTakeFirst())?.place;
  const hearers = {
    onChange: changes.announce,
    onAny: changes.announceAll,
    place: directUrl === undefined ? undefined : place,
  };
  const turns = createFairPlaces({ ...TURNS, waitMs: TURNS.waitMs * slack });
  const listening = patient ? undefined : listenForChanges(directUrl ?? url, name, hearers);

  return {
    engine: "postgres",
    db,
    changes,
    longLists: createLongLists(),
    searches: createSearches("postgres"),
    async transact(work, row) {
      const leave = row === undefined ? () => {} : await turns.enter(row, "");
      if (!leave) throw notItsTurn();
      const startedMs = performance.now();
      try {
        for (;;) {
          try {
            return await this.db.transaction().execute(work);
          } catch (error) {
            if (!isUndone(error) || performance.now() - startedMs > TRY_AGAIN_MS * slack) throw error;
            // Apart from each other, so that two that met do not meet again.
            await sleep(Math.random() * PAUSE_MS);
          }
        }
      } finally {
        leave();
      }
    },
    write(work) {
      return work(this.db);
    },
    // `synchronous_commit = off` for one statement needs a transaction around it, whose round trips take longer than the disk.
    forgetOverwritten: () => Promise.resolve(true),
    ahead(work) {
      return work(this.db);
    },
    claim() {},
    pool: () => ({ ...pool.state(), deafness: listening?.deafness() }),
    async ping() {
      const now = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
      const others = sql<number>`(select count(*) from pg_stat_activity where datname = current_database()
        and application_name like ${`${LISTENER} _%`} and application_name <> ${name})`;
      // A standby answers what is read, and refuses what is written.
      const isReadOnly = sql<boolean>`current_setting('transaction_read_only')::boolean`;
      const asked = [now.as("now"), others.as("others"), isReadOnly.as("isReadOnly")] as const;
      const row = await db.selectNoFrom(asked).executeTakeFirstOrThrow();
      if (row.isReadOnly) throw readOnly();
      return { nowMs: row.now, otherInstances: row.others };
    },
    async close() {
      await within(CLOSE_WITHIN_MS, Promise.all([listening?.stop(), db.destroy()]));
    },
  };
}

/** PostgreSQL's own code for a write that it refuses. */
const readOnly = (): Error => Object.assign(new Error("the server only reads"), { code: "25006" });

/** PostgreSQL's own code for a lock that was not had in time. */
const notItsTurn = (): Error =>
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
