import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type DatabaseSyncOptions } from "node:sqlite";
import { newId } from "../../lib/ids.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { primaryCodeOf } from "../failures.ts";
import { giveToOwner, isBusy } from "./files.ts";

/** SQLite files: a copy of a database that is in use, and a copy put in the place of the database. */

const WAIT_MS = 5000;

/**
 * Copies the database into a new file, as it is at one moment, while a service reads and writes it: VACUUM INTO is one
 * long read, and in WAL mode no writer waits for a reader. The file gets its name when it is whole and on the disk.
 */
export function backUp(path: string, file: string): void {
  if (existsSync(file)) throw operatorFault(`${file} is there already, and nothing is overwritten`);
  refuseUnreadable(path);
  const part = join(dirname(file), `${PART}${newId()}.part`);
  try {
    removeLeftovers(dirname(file));
    closeSync(openSync(part, "wx", 0o600));
    withDatabase(path, (database) => database.prepare("vacuum into ?").run(part));
    // Locked until the disk has it, which may take minutes: the next backup removes unlocked parts as leftovers.
    const lock = (copy: DatabaseSync) => {
      copy.exec("begin exclusive");
      flush(part);
    };
    // Read-only: to open it for writing would create an empty file if it was removed between the two.
    withDatabase(part, lock, { readOnly: true });
    // Unlike a rename, a link never replaces a file that was created meanwhile.
    linkSync(part, file);
    flush(dirname(file));
  } catch (cause) {
    if (isDamaged(cause)) throw unreadable(path, cause);
    throw operatorFault(`cannot write the backup ${file}: ${(cause as Error).message}`, cause);
  } finally {
    removeDatabase(part);
  }
}

/** Before anything is written, so that a fault of the database is not reported as one of the backup. */
function refuseUnreadable(path: string): void {
  try {
    if (withDatabase(path, isOurs)) return;
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw operatorFault(`${path} is not a database of latchkey`);
}

const unreadable = (path: string, cause: unknown): Error =>
  operatorFault(`cannot read the database ${path}: ${(cause as Error).message}`, cause);

const isDamaged = (error: unknown): boolean => [SQLITE_CORRUPT, SQLITE_NOTADB].includes(primaryCodeOf(error));

const PART = "latchkey-backup-";

/** Removes what killed backups have left in this folder. A leftover that cannot be removed does no harm. */
function removeLeftovers(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const part = join(folder, name);
      if (name.startsWith(PART) && name.endsWith(".part") && isLeftover(part)) removeDatabase(part);
    }
  } catch {}
}

/** SQLite locks the file that it writes until its process ends. A backup that has just begun has an empty file. */
function isLeftover(part: string): boolean {
  if (statSync(part).size === 0 && !existsSync(`${part}-journal`)) return false;
  try {
    withDatabase(part, (left) => left.exec("begin exclusive"), { timeout: 0 });
    return true;
  } catch (error) {
    return isDamaged(error);
  }
}

/** Copies a backup beside the database that it is to replace, and refuses a damaged one. */
export function prepareCopy(file: string, path: string): string {
  if (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0) {
    throw operatorFault(
      `${file} is not a backup: a part of it is in ${file}-wal. Make one with \`latchkey backup\`.`,
    );
  }
  const copy = `${path}.restoring`;
  removeDatabase(copy);
  try {
    copyFileSync(file, copy);
    chmodSync(copy, 0o600);
    giveToOwner(copy);
  } catch (cause) {
    removeDatabase(copy);
    throw operatorFault(`cannot copy ${file} to ${copy}: ${(cause as Error).message}`, cause);
  }
  const fault = faultOf(copy);
  if (fault === undefined) return copy;
  removeDatabase(copy);
  throw operatorFault(`${file} cannot be restored: ${fault}`);
}

function faultOf(path: string): string | undefined {
  try {
    return withDatabase(path, (database) => {
      const [row] = database.prepare("pragma integrity_check(1)").all();
      if (row?.integrity_check !== "ok") return `it is damaged (${row?.integrity_check})`;
      if (database.prepare("pragma foreign_key_check").all().length > 0)
        return "it is damaged (foreign keys)";
      return isOurs(database) ? undefined : "it is not a database of latchkey";
    });
  } catch (error) {
    return `it is not a sound SQLite database (${(error as Error).message})`;
  }
}

const isOurs = (database: DatabaseSync): boolean =>
  database.prepare("select name from sqlite_master where name in ('schema_migrations', 'stores')").all()
    .length === 2;

const hasOthers = (database: DatabaseSync): boolean =>
  !isOurs(database) && database.prepare("select name from sqlite_master limit 1").all().length > 0;

/** True when the file has tables, but none of Latchkey. Changes nothing; false for a file that cannot be read. */
export function isStrange(path: string): boolean {
  try {
    return withDatabase(path, hasOthers, { readOnly: true, timeout: 0 });
  } catch {
    return false;
  }
}

/**
 * Puts the copy into the place of the database, which is kept under another name. The path leads to a whole database at
 * every moment: after a crash, to the old or the new one.
 */
export function takePlace(copy: string, path: string, keptAs: string): void {
  gather(copy);
  flush(copy);
  const isThere = existsSync(path);
  const isWhole = isThere && isGathered(path);
  // Before its parts are moved: in a folder that refuses the link, the database stays as it was.
  if (isThere) linkSync(path, keptAs);
  // A damaged database keeps its parts. SQLite would read parts without a database into the copy.
  if (!isWhole) {
    for (const part of ["-wal", "-shm", "-journal"])
      if (existsSync(path + part)) renameSync(path + part, keptAs + part);
  }
  renameSync(copy, path);
  flush(dirname(path));
}

/** Brings all of a database into its one file. Fails while another process has it open. */
function gather(path: string): void {
  withDatabase(path, (database) => {
    const [row] = database.prepare("pragma journal_mode = delete").all();
    if (row?.journal_mode !== "delete") throw Object.assign(new Error("in use"), { errcode: SQLITE_BUSY });
  });
}

function isGathered(path: string): boolean {
  try {
    gather(path);
    return true;
  } catch (cause) {
    if (!isBusy(cause)) return false;
    throw operatorFault(
      `another program works on ${path}: nothing was changed; try again when it is done`,
      cause,
    );
  }
}

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export function removeDatabase(path: string): void {
  for (const part of ["", "-wal", "-shm", "-journal"]) rmSync(path + part, { force: true });
}

function withDatabase<T>(
  path: string,
  work: (database: DatabaseSync) => T,
  options: DatabaseSyncOptions = {},
): T {
  const database = new DatabaseSync(path, { timeout: WAIT_MS, ...options });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function flush(path: string): void {
  const opened = openSync(path, "r");
  fsyncSync(opened);
  closeSync(opened);
}
