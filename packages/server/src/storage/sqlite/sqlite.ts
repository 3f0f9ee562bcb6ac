import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Kysely, sql } from "kysely";
import { toRealPath } from "../../lib/real-path.ts";
import { isWriteRefused } from "../failures.ts";
import { createLongLists } from "../lists/long-lists.ts";
import { createSearches } from "../lists/searches.ts";
import { createChanges, type Database, type Storage } from "../storage.ts";
import type { Tables } from "../tables.ts";
import { dialectOf } from "./dialect.ts";
import { makeFolder, openFile, openReader, takeLock } from "./files.ts";
import { createSharedCommits } from "./shared-commit.ts";

const WATCH_EVERY_MS = 250;

export function openSqlite(given: string): Storage {
  const inMemory = given === ":memory:";
  if (!inMemory) makeFolder(dirname(given));
  const path = inMemory ? given : toRealPath(given);
  const file = openFile(path);
  const reader = inMemory ? undefined : openReader(path);
  const changes = createChanges();
  let cannotWrite = false;
  const dialect = dialectOf(file, reader, (error) => {
    cannotWrite ||= isWriteRefused(error);
  });
  const db = new Kysely<Tables>({ dialect });
  const commitTogether = createSharedCommits(file, dialect);
  const stopWatching = inMemory ? () => {} : watch(file, changes.announceAll);
  let lock: DatabaseSync | undefined;

  return {
    engine: "sqlite",
    db,
    transact(work) {
      return commitTogether(this.db, work);
    },
    write(work) {
      return commitTogether(this.db, work);
    },
    ahead(work) {
      // Holds the only connection, so that no other write is made while `synchronous` is lowered.
      return this.db.connection().execute(async (connected) => {
        file.exec("pragma synchronous = normal");
        try {
          return await work(connected);
        } finally {
          file.exec("pragma synchronous = full");
        }
      });
    },
    forgetOverwritten() {
      if (inMemory) return Promise.resolve(true);
      // On the only connection that writes, so that no transaction of this process is open meanwhile.
      return this.db.connection().execute(async () => {
        const found = file.prepare("pragma wal_checkpoint(truncate)").get();
        return found?.busy === 0;
      });
    },
    changes,
    longLists: createLongLists(),
    searches: createSearches({ isOneAtATime: true }),
    claim() {
      if (!inMemory) lock ??= takeLock(path);
    },
    async ping() {
      file.prepare("select 1").get();
      // After a failed write (disk full), only a new write can show that the disk has room again.
      if (cannotWrite) await writeNothing(db);
      cannotWrite = false;
      return { nowMs: undefined, otherInstances: 0 };
    },
    async close() {
      stopWatching();
      // First, because the last connection to close brings the log into the file, and this one cannot write.
      if (reader?.isOpen) reader.close();
      await db.destroy();
      if (file.isOpen) file.close();
      lock?.close();
    },
  };
}

/** Writes the header's present value again: the smallest write, and it goes to the disk. */
async function writeNothing(db: Database): Promise<void> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  await sql`pragma user_version = ${sql.lit(rows[0]?.user_version ?? 0)}`.execute(db);
}

/** `data_version` moves when another connection has committed; commits of this process leave it alone. */
function watch(file: DatabaseSync, onChange: () => void): () => void {
  const statement = file.prepare("pragma data_version");
  const readIfFree = () => {
    try {
      return (statement.get() as { data_version: number }).data_version;
    } catch {
      return undefined;
    }
  };
  let seen = readIfFree();
  const timer = setInterval(() => {
    if (!file.isOpen) return;
    const version = readIfFree();
    if (version === undefined) return;
    if (version !== seen) onChange();
    seen = version;
  }, WATCH_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
