import { sql } from "kysely";
import { engineOf } from "./engine.ts";
import { statement } from "./statement.ts";
import type { Trx } from "./storage.ts";

/**
 * Locks one or two names until the transaction ends (`pg_advisory_xact_lock`), for what transactions share and has no
 * row yet. Every transaction must lock its names in the same order. On SQLite there is one transaction that writes at a
 * time, so no lock is needed. Two names with one hash share a lock, which costs time and nothing else.
 */
export async function hold(trx: Trx, names: readonly [string] | readonly [string, string]): Promise<void> {
  const [first, second = first] = names;
  if (engineOf(trx) === "postgres") await holdBoth.later(trx, { first, second });
}

/** With one name it takes the lock twice, which PostgreSQL allows a transaction. */
const holdBoth = statement(
  (_, { first, second }: { first: string; second: string }) =>
    sql`select pg_advisory_xact_lock(hashtextextended(${first}, 0)), pg_advisory_xact_lock(hashtextextended(${second}, 0))`,
);

/** Takes the lock shared. Many transactions may share it; `hold` waits for all of them, and they wait for it. */
export async function holdShared(trx: Trx, name: string): Promise<void> {
  if (engineOf(trx) === "postgres") await takeShared.later(trx, { name });
}

const takeShared = statement(
  (_, { name }: { name: string }) => sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`,
);

/**
 * Takes the lock without waiting: false when another transaction has it. A transaction that has it and sends no
 * statement for `pausedMs`, because its process is paused or its machine gone, is undone by the database, and the lock
 * is free again.
 */
export async function tryHold(trx: Trx, name: string, pausedMs: number): Promise<boolean> {
  if (engineOf(trx) === "sqlite") return true;
  const { rows } = await sql<{ is_held: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as is_held,
      set_config('idle_in_transaction_session_timeout', ${String(pausedMs)}, true)`.execute(trx);
  return rows[0]?.is_held === true;
}
