import { chmodSync, closeSync, existsSync, lchownSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { operatorFault } from "../../lib/operator-fault.ts";
import { primaryCodeOf } from "../failures.ts";

/** How long SQLite waits for another process's lock, holding the event loop. Then the service waits beside it. */
const BLOCK_MS = 5;
export const BUSY_MS = 2000;
/** After so many pages a commit brings the log into the file. SQLite's own 1000 take ten milliseconds and more. */
const CHECKPOINT_PAGES = 400;

/** Waits for a process that is creating the file, or that is the last to close it and is checkpointing its WAL. */
export function openFile(path: string): DatabaseSync {
  const untilMs = performance.now() + BUSY_MS;
  for (;;) {
    let file: DatabaseSync | undefined;
    try {
      if (path !== ":memory:") touch(path);
      file = new DatabaseSync(path, { timeout: BLOCK_MS, enableForeignKeyConstraints: true });
      // WAL lets commands read and write beside the service; FULL makes a write survive a power cut.
      file.exec("pragma journal_mode = wal; pragma synchronous = full; pragma trusted_schema = off;");
      // Overwrites with zeros what is deleted: an erasure would otherwise leave the person in free pages.
      file.exec("pragma secure_delete = on");
      // Not before: a mistyped path may lead to another program's file, whose mode must stay.
      if (path !== ":memory:") keepPrivate(path);
      // A savepoint would otherwise set aside more than a few pages in a file.
      file.exec("pragma temp_store = memory");
      file.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      addClock(file);
      return file;
    } catch (cause) {
      file?.close();
      if (isBusy(cause) && performance.now() < untilMs) continue;
      throw operatorFault(`cannot open the SQLite database ${path}: ${(cause as Error).message}`, cause);
    }
  }
}

/** For reads outside a transaction: they see what is committed, and do not wait for the first connection. */
export function openReader(path: string): DatabaseSync {
  const reader = new DatabaseSync(path, { timeout: BLOCK_MS, readOnly: true });
  reader.exec("pragma trusted_schema = off; pragma temp_store = memory;");
  addClock(reader);
  return reader;
}

/** SQLite's own clock stands still during a statement. A scan that must end in time reads this one (`isLateSql`). */
const addClock = (file: DatabaseSync) => file.function("monotonic_ms", () => performance.now());

/** A folder that its owner alone can read. A folder that exists stays as it is. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Creates the file if it is missing. */
function touch(path: string): void {
  const isNew = !existsSync(path);
  closeSync(openSync(path, "a", 0o600));
  if (isNew) giveToOwner(path);
}

/** Gives a file that root creates to the owner of its folder, as SQLite does: the service's user must open it. */
export function giveToOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  try {
    // Changes a link itself, not its target: the folder's owner may have created the link.
    lchownSync(path, uid, gid);
  } catch {
    // A root without that right, as in some containers, serves the file itself.
  }
}

/** The owner alone can read the database. SQLite gives the files that it creates beside it the same mode. */
function keepPrivate(path: string): void {
  touch(path);
  for (const part of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(part)) chmodSync(part, 0o600);
}

/** A database file for its lock alone. The operating system drops the lock with the process, so none is stale. */
export function takeLock(path: string, otherwise = STOP_OR_POSTGRES): DatabaseSync {
  keepPrivate(`${path}-serving`);
  const lock = new DatabaseSync(`${path}-serving`, { timeout: 0 });
  try {
    lock.exec("pragma locking_mode = exclusive; begin exclusive;");
    return lock;
  } catch (cause) {
    lock.close();
    if (!isBusy(cause))
      throw operatorFault(`cannot lock ${path}-serving: ${(cause as Error).message}`, cause);
    throw operatorFault(`another latchkey already serves ${path}. ${otherwise}`, cause);
  }
}

const STOP_OR_POSTGRES =
  "One process serves a SQLite file; stop the other one, or use PostgreSQL (LATCHKEY_DATABASE_URL=postgres://…) for several.";

const SQLITE_BUSY = 5;

/** Another process has the lock. */
export const isBusy = (error: unknown): boolean => primaryCodeOf(error) === SQLITE_BUSY;
