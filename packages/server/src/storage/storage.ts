import type { Kysely, Transaction } from "kysely";
import type { LongLists } from "./lists/long-lists.ts";
import type { Searches } from "./lists/searches.ts";
import type { Tables } from "./tables.ts";

export type Database = Kysely<Tables>;
export type Trx = Transaction<Tables>;

/** Everything outside this folder writes queries with Kysely and does not know which engine runs them. */
export type Storage = {
  engine: "sqlite" | "postgres";
  db: Database;
  /**
   * Runs a transaction. A transaction that the database has undone for another one (a deadlock, a serialisation
   * failure) is tried again, so `work` changes nothing but through `trx`. Transactions that name the same `row`,
   * because they all begin by locking it, use one connection, one after the other, and wait for their turn for a second
   * at most.
   *
   * Statements that `work` sends in one turn of the event loop (`Promise.all`) travel together, in the order of the
   * calls.
   */
  transact<T>(work: (trx: Trx) => Promise<T>, row?: string): Promise<T>;
  /** Runs one statement, whose change is on the disk when it is answered. */
  write<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /**
   * Runs one statement that does not wait for the disk. The change survives the end of the process, but a power cut can
   * lose this change and all later ones. Do not answer a caller before a later durable write.
   */
  ahead<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /**
   * Empties SQLite's log, which has older copies of pages; deleted rows in the file itself are overwritten as they are
   * deleted. False: another process is reading the log just now. Does nothing on PostgreSQL (docs/storage.md).
   */
  forgetOverwritten(): Promise<boolean>;
  changes: Changes;
  longLists: LongLists;
  searches: Searches;
  /** Makes this process the only service on the database, where the engine allows no other. Throws if there is one. */
  claim(): void;
  /** The state of the connections, where there is a pool. */
  pool?(): Pool;
  /** Answers when the database answers and takes writes, with its time where it has a clock of its own. */
  ping(): Promise<{ nowMs: number | undefined; otherInstances: number }>;
  close(): Promise<void>;
};

/** For commands, and for a service without a setting. */
export const DEFAULT_CONNECTIONS = 10;

export type PostgresOptions = {
  /** The most connections of the pool. One more listens. */
  connections?: number;
  /** The address of the same database without a pooler, to listen on. */
  directUrl?: string | undefined;
  /** Counts as an instance. A command does not. */
  isService?: boolean;
  /** Multiplies all limits of time: tests run on busy machines. */
  slack?: number;
  /** For migrations: no limits of time, a text may hold several statements, and nothing is listened to. */
  patient?: boolean;
};

export type Pool = {
  /** The most connections. */
  connections: number;
  active: number;
  idle: number;
  /** Callers that wait for a connection, and how many were refused so far. */
  waiting: number;
  shed: number;
  /** The connections end at a pooler, which lends a server process for one transaction at a time. */
  isPooler: boolean;
  /** Why no notices of other instances come here, in words. */
  deafness: string | undefined;
};

/**
 * Tells the caches in memory that a store has changed: at once for changes of this process, within a second for those
 * of other processes. `undefined` means that any store may have changed.
 */
type Changes = {
  announce(storeId: string): void;
  listen(listener: (storeId: string | undefined) => void): void;
};

export function createChanges(): Changes & { announceAll(): void } {
  const listeners: ((storeId: string | undefined) => void)[] = [];
  const announce = (storeId: string | undefined) => {
    for (const listener of listeners) listener(storeId);
  };
  return {
    announce,
    announceAll: () => announce(undefined),
    listen: (listener) => {
      listeners.push(listener);
    },
  };
}
