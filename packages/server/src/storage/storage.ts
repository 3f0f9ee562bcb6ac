import type { Kysely, Transaction } from "kysely";
import type { LongLists } from "./lists/long-lists.ts";
import type { Searches } from "./lists/searches.ts";
import type { Tables } from "./tables.ts";

export type Database = Kysely<Tables>;
export type Trx = Transaction<Tables>;

/** What the service keeps, on either engine. Everything outside this folder writes its queries with Kysely and does not know which. */
export type Storage = {
  engine: "sqlite" | "postgres";
  db: Database;
  /**
   * One transaction. What another one has made impossible (a deadlock, a serialisation failure) was undone by the database
   * and is tried again, so `work` changes nothing but through `trx`. Those that name the same `row`, because they all begin by
   * locking it, have one connection between them, and wait for it for a second at most.
   */
  transact<T>(work: (trx: Trx) => Promise<T>, row?: string): Promise<T>;
  /** One statement whose change is on the disk when it is answered. */
  write<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /**
   * One statement that does not wait for the disk, for what nobody is told of before a later write is there. A process that is
   * killed leaves it behind; a power cut may take it, and then also all that was written after it.
   */
  ahead<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /**
   * Leaves nothing of what was deleted or overwritten in SQLite's files: pages are cleared as they are freed, and the log beside the
   * file, which has older copies of them, is emptied. False: another process is reading there just now. PostgreSQL has its own ways
   * (docs/storage.md).
   */
  forgetOverwritten(): Promise<boolean>;
  changes: Changes;
  longLists: LongLists;
  searches: Searches;
  /** The one service on this database, where the engine allows only one. Throws if there is another. */
  claim(): void;
  /** What its connections are doing, where it has some. */
  pool?(): Pool;
  /** Answers when the database does and takes writes, with its own time where it has one, and how many other instances use it. */
  ping(): Promise<{ nowMs: number | undefined; otherInstances: number }>;
  close(): Promise<void>;
};

/** Of a command, and of a service that is not told otherwise. */
export const DEFAULT_CONNECTIONS = 10;

export type PostgresOptions = {
  /** So many at most, and one more to listen on. */
  connections?: number;
  /** The same database with no pooler between, to listen on. */
  directUrl?: string | undefined;
  /** Counts as an instance, which a command that only looks something up does not. */
  isService?: boolean;
  /** How many times as long everything may take before it is given up: tests run on machines that are busy with others. */
  slack?: number;
};

export type Pool = {
  /** So many at most. */
  connections: number;
  active: number;
  idle: number;
  /** Who waits for one, and how many were refused one so far. */
  waiting: number;
  shed: number;
  /** They end at a pooler, which lends a server process for one transaction at a time. */
  isPooler: boolean;
  /** Why the notices of other instances cannot be heard here, in words. */
  deafness: string | undefined;
};

/**
 * Tells what is kept in memory that a store has changed: at once for changes made here, within a second for those of
 * other processes. `undefined` means that any store may have.
 */
type Changes = {
  announce(storeId: string): void;
  listen(listener: (storeId: string | undefined) => void): void;
};

export function createChanges(): Changes & { announceAll(): void } {
  const listeners: ((storeId: string | undefined) => void)[] = [];
  const tell = (storeId: string | undefined) => {
    for (const listener of listeners) listener(storeId);
  };
  return {
    announce: tell,
    announceAll: () => tell(undefined),
    listen: (listener) => {
      listeners.push(listener);
    },
  };
}

/** What who finds every connection in use is refused with: PostgreSQL's own code for too many of them. */
export const CROWDED = "53300";

export const isCrowded = (error: unknown): boolean => (error as { code?: unknown }).code === CROWDED;

// PostgreSQL: connection exceptions (08), resources (53), intervention and cancellation (57), system errors (58), read-only
// (25006), a transaction that was paused for too long (25P03), a lock not had in time (55P03), undone for another (40).
const POSTGRES_DOWN = /^(08...|53...|57...|58...|25006|25P03|55P03|40001|40P01)$/;
// Of a connection that was there; and of several addresses that were tried in vain, which has no `syscall`.
const SOCKET_DOWN = new Set([
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);
/** What makes a connection: whatever has failed there (no route, no such name, no socket file), nobody was asked anything. */
const TO_CONNECT = new Set<unknown>(["connect", "getaddrinfo"]);
// SQLite: BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. Extended codes keep the primary one in the low byte.
const SQLITE_DOWN = new Set([5, 6, 8, 10, 13, 14]);

/** True when the database is away, full or overloaded: nothing was changed, and the same request may work later. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode, syscall, message } = error as Error &
    Record<"code" | "errcode" | "syscall", unknown>;
  if (typeof errcode === "number") return SQLITE_DOWN.has(errcode & 0xff);
  if (TO_CONNECT.has(syscall)) return true;
  if (typeof code === "string" && (SOCKET_DOWN.has(code) || POSTGRES_DOWN.test(code))) return true;
  return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/.test(
    message,
  );
}

// SQLite: READONLY, IOERR, FULL. PostgreSQL: read_only_sql_transaction, disk_full.
const SQLITE_NO_WRITE = new Set([8, 10, 13]);
const POSTGRES_NO_WRITE = new Set(["25006", "53100"]);

/** True when the disk is full or read-only. What is there can still be read. */
export function isWriteRefused(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return SQLITE_NO_WRITE.has(errcode & 0xff);
  return typeof code === "string" && POSTGRES_NO_WRITE.has(code);
}
