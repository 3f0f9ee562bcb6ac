import { chmodSync, closeSync, existsSync, lchownSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type DatabaseConnection,
  type Dialect,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import { operatorFault } from "../../lib/operator-fault.ts";
import { toRealPath } from "../../lib/real-path.ts";
import { createLongLists } from "../lists/long-lists.ts";
import { createSearches } from "../lists/searches.ts";
import type { Shortcut } from "../statement.ts";
import { createChanges, type Database, isWriteRefused, type Storage } from "../storage.ts";
import type { Tables } from "../tables.ts";
import { keepPrepared } from "./prepared.ts";
import { createSharedCommits } from "./shared-commit.ts";

// How long SQLite itself may wait for another process, and with it the whole event loop; then we wait beside it.
const BLOCK_MS = 5;
const BUSY_MS = 2000;
const RETRY_MS = 20;
const WATCH_EVERY_MS = 250;
/** Every so many pages, one commit brings the log into the file: with SQLite's own 1000 that takes ten milliseconds and more. */
const CHECKPOINT_PAGES = 400;

export function openSqlite(given: string): Storage {
  const inMemory = given === ":memory:";
  if (!inMemory) makeFolder(dirname(given));
  const path = inMemory ? given : toRealPath(given);
  const file = openFile(path);
  const reader = inMemory ? undefined : openReader(path);
  const changes = createChanges();
  let cannotWrite = false;
  const onError = (error: unknown) => {
    cannotWrite ||= isWriteRefused(error);
  };
  const dialect = patientDialect(file, reader, onError);
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
      // Holds the only connection while `synchronous` is lowered, so that no other write is made without waiting for the disk.
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
      // On the only connection that writes, so that no transaction of ours is open meanwhile.
      return this.db.connection().execute(async () => {
        const found = file.prepare("pragma wal_checkpoint(truncate)").get();
        return found?.busy === 0;
      });
    },
    changes,
    longLists: createLongLists(),
    searches: createSearches("sqlite"),
    claim() {
      if (!inMemory) lock ??= takeLock(path);
    },
    async ping() {
      file.prepare("select 1").get();
      // After a write that found no room, only another write can tell that there is some again.
      if (cannotWrite) await writeNothing(db);
      cannotWrite = false;
      return { nowMs: undefined, otherInstances: 0 };
    },
    async close() {
      stopWatching();
      // First, because the last one to close brings the log into the file, and this one cannot write.
      if (reader?.isOpen) reader.close();
      await db.destroy();
      if (file.isOpen) file.close();
      lock?.close();
    },
  };
}

/** Waits for another process that makes the file, or brings its log into it as the last to close it. */
function openFile(path: string): DatabaseSync {
  const untilMs = performance.now() + BUSY_MS;
  for (;;) {
    let file: DatabaseSync | undefined;
    try {
      if (path !== ":memory:") touch(path);
      file = new DatabaseSync(path, { timeout: BLOCK_MS, enableForeignKeyConstraints: true });
      // WAL lets the command line read and write beside the service; FULL makes an acknowledged write survive a power cut.
      file.exec("pragma journal_mode = wal; pragma synchronous = full; pragma trusted_schema = off;");
      // What is deleted is overwritten with zeros: an erasure would otherwise leave the person in pages that nobody uses any more.
      file.exec("pragma secure_delete = on");
      // Only now: a path that was mistyped may lead to a file of somebody else's, whose mode is none of our business.
      if (path !== ":memory:") keepPrivate(path);
      // What a savepoint sets aside, which would go to a file when it is more than a few pages.
      file.exec("pragma temp_store = memory");
      file.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      addClock(file);
      return file;
    } catch (cause) {
      file?.close();
      if (primaryCodeOf(cause) === SQLITE_BUSY && performance.now() < untilMs) continue;
      throw operatorFault(`cannot open the SQLite database ${path}: ${(cause as Error).message}`, cause);
    }
  }
}

/**
 * A second connection for what is only read, outside of a transaction. It sees what is committed, so nobody has to wait until the
 * first one is free, which a transaction keeps until its commit.
 */
function openReader(path: string): DatabaseSync {
  const reader = new DatabaseSync(path, { timeout: BLOCK_MS, readOnly: true });
  reader.exec("pragma trusted_schema = off; pragma temp_store = memory;");
  addClock(reader);
  return reader;
}

/** SQLite's own time stands still during a statement; a scan that has to end in time reads this one (`isLateSql`). */
const addClock = (file: DatabaseSync) => file.function("monotonic_ms", () => performance.now());

/** A folder for the owner alone. One that is there stays as it is. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Makes the file if it is not there. */
function touch(path: string): void {
  const isNew = !existsSync(path);
  closeSync(openSync(path, "a", 0o600));
  if (isNew) giveToOwner(path);
}

/** What root makes belongs to whoever has the folder: the service's user could not open it. SQLite does so with its own files. */
export function giveToOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  try {
    // Of a link itself, not of what it leads to: the folder's owner may have put it there.
    lchownSync(path, uid, gid);
  } catch {
    // A root that may not, as in some containers, serves the file itself.
  }
}

/** The database for its owner alone. SQLite gives the files that it makes beside it the mode of this one. */
function keepPrivate(path: string): void {
  touch(path);
  for (const part of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(part)) chmodSync(part, 0o600);
}

/** Puts the value that is there into the file's header: the smallest write there is, and it goes to the disk. */
async function writeNothing(db: Database): Promise<void> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db);
  await sql`pragma user_version = ${sql.lit(rows[0]?.user_version ?? 0)}`.execute(db);
}

/**
 * Kysely's way to node:sqlite. It waits for another process' lock without stopping the event loop: a statement that found the file
 * locked did nothing, so it is tried again. The first to wait gives up after two seconds. From then on every statement that finds
 * the lock fails at once, until the lock is gone: otherwise each would wait two seconds behind the one before it.
 */
function patientDialect(
  file: DatabaseSync,
  reader: DatabaseSync | undefined,
  onError: (error: unknown) => void,
): Dialect {
  const prepare = keepPrepared(file);
  const prepareToRead = reader && keepPrepared(reader);
  let lockedSinceMs: number | undefined;

  /** At once, and only then by way of a promise, if the file is free, as it nearly always is. */
  function patiently<T>(work: () => T): Promise<T> {
    try {
      const result = work();
      lockedSinceMs = undefined;
      return Promise.resolve(result);
    } catch (error) {
      return waitOn(error, work);
    }
  }

  async function waitOn<T>(error: unknown, work: () => T): Promise<T> {
    onError(error);
    if (primaryCodeOf(error) !== SQLITE_BUSY) throw error;
    lockedSinceMs ??= performance.now();
    if (performance.now() - lockedSinceMs > BUSY_MS) throw error;
    await sleep(RETRY_MS);
    return patiently(work);
  }

  const run = (sql: string) => patiently(() => void prepare(sql).statement.run());
  const connection: DatabaseConnection = {
    executeQuery: ({ sql, parameters }) => patiently(() => prepare(sql).execute(parameters)),
    // biome-ignore lint/correctness/useYield: nothing of ours reads a result piece by piece.
    async *streamQuery() {
      throw new Error("statements are not streamed on SQLite");
    },
  };
  const shortcut: Shortcut["shortcut"] = ({ sql, parameters }) =>
    prepareToRead && IS_READ.test(sql) ? patiently(() => prepareToRead(sql).execute(parameters)) : undefined;
  return {
    createAdapter: () => Object.assign(new SqliteAdapter(), { shortcut }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      // Takes the write lock now: upgrading a read lock later fails with SQLITE_BUSY where another process has written meanwhile.
      beginTransaction: () => run("begin immediate"),
      commitTransaction: () => run("commit"),
      // A full disk has made SQLite undo the transaction by itself, and a second rollback would hide why.
      rollbackTransaction: async () => (file.isTransaction ? run("rollback") : undefined),
      releaseConnection: async () => {},
      destroy: async () => file.close(),
    }),
  };
}

const IS_READ = /^\s*select\b/;

const SQLITE_BUSY = 5;

/** Extended codes keep the primary one in the low byte. */
export const primaryCodeOf = (error: unknown): number =>
  ((error as { errcode?: number }).errcode ?? 0) & 0xff;

/** `data_version` moves when another connection has committed; our own commits leave it alone. */
function watch(file: DatabaseSync, onChange: () => void): () => void {
  const statement = file.prepare("pragma data_version");
  const read = () => (statement.get() as { data_version: number }).data_version;
  const readIfFree = () => {
    try {
      return read();
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

/**
 * A second database file that is only ever locked. The operating system drops the lock with the process, however it
 * ends, so there is no stale lock to clean up.
 */
export function takeLock(path: string, otherwise = STOP_OR_POSTGRES): DatabaseSync {
  keepPrivate(`${path}-serving`);
  const lock = new DatabaseSync(`${path}-serving`, { timeout: 0 });
  try {
    lock.exec("pragma locking_mode = exclusive; begin exclusive;");
    return lock;
  } catch (cause) {
    lock.close();
    if (primaryCodeOf(cause) !== SQLITE_BUSY)
      throw operatorFault(`cannot lock ${path}-serving: ${(cause as Error).message}`, cause);
    throw operatorFault(`another latchkey already serves ${path}. ${otherwise}`, cause);
  }
}

const STOP_OR_POSTGRES =
  "One process serves a SQLite file; stop the other one, or use PostgreSQL (LATCHKEY_DATABASE_URL=postgres://…) for several.";
