import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Shortcut } from "../statement.ts";
import { BUSY_MS, isBusy } from "./files.ts";
import { keepPrepared } from "./prepared.ts";

const RETRY_MS = 20;

/**
 * Kysely's way to node:sqlite. A statement that found the file locked by another process did nothing, so it is tried
 * again, without stopping the event loop. The first to wait gives up after two seconds. From then on every statement
 * that finds the lock fails at once, until the lock is gone: otherwise each would wait two seconds behind the one
 * before it.
 */
export function dialectOf(
  file: DatabaseSync,
  reader: DatabaseSync | undefined,
  onError: (error: unknown) => void,
): Dialect {
  const prepare = keepPrepared(file);
  const prepareToRead = reader && keepPrepared(reader);
  let lockedSinceMs: number | undefined;

  /** Runs at once if the file is free, as it nearly always is. */
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
    if (!isBusy(error)) throw error;
    lockedSinceMs ??= performance.now();
    if (performance.now() - lockedSinceMs > BUSY_MS) throw error;
    await sleep(RETRY_MS);
    return patiently(work);
  }

  const run = (sql: string) => patiently(() => void prepare(sql).statement.run());
  const connection: DatabaseConnection = {
    executeQuery: ({ sql, parameters }) => patiently(() => prepare(sql).execute(parameters)),
    // biome-ignore lint/correctness/useYield: no caller reads a result piece by piece.
    async *streamQuery() {
      throw new Error("statements are not streamed");
    },
  };
  /** Reads outside a transaction. */
  const shortcut: Shortcut["shortcut"] = ({ sql, parameters }) =>
    prepareToRead && IS_READ.test(sql) ? patiently(() => prepareToRead(sql).execute(parameters)) : undefined;
  return {
    createAdapter: () => Object.assign(new SqliteAdapter(), { shortcut }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      // Takes the write lock now: upgrading a read lock later fails if another process has written meanwhile.
      beginTransaction: () => run("begin immediate"),
      commitTransaction: () => run("commit"),
      // SQLite undoes the transaction by itself when the disk is full, and a second rollback would hide the reason.
      rollbackTransaction: async () => (file.isTransaction ? run("rollback") : undefined),
      releaseConnection: async () => {},
      destroy: async () => file.close(),
    }),
  };
}

const IS_READ = /^\s*select\b/;
