import { sql } from "kysely";
import { statement } from "./statement.ts";
import type { Storage, Trx } from "./storage.ts";

/**
 * Waits until no other transaction holds one of these names, and holds them until this one ends: for what is shared and has
 * no row yet. Give them in the same order everywhere. On SQLite a transaction is the only one that writes, so there is
 * nothing to wait for. Two names with one hash wait for each other, which costs time and nothing else.
 */
export async function hold(
  trx: Trx,
  { engine }: Pick<Storage, "engine">,
  names: readonly [string] | readonly [string, string],
): Promise<void> {
  if (engine === "sqlite") return;
  const [first = "", second = first] = names;
  await holdBoth.later(trx, { first, second });
}

/** Of one name it takes the lock twice, which PostgreSQL lets the same transaction do. */
const holdBoth = statement(
  (_, { first, second }: { first: string; second: string }) =>
    sql`select pg_advisory_xact_lock(hashtextextended(${first}, 0)), pg_advisory_xact_lock(hashtextextended(${second}, 0))`,
);

/** Beside others who hold the name so: whoever wants it alone waits for all of them, and they for whoever has it alone. */
export async function holdBeside(trx: Trx, { engine }: Pick<Storage, "engine">, name: string): Promise<void> {
  if (engine === "postgres") await holdShared.later(trx, { name });
}

const holdShared = statement(
  (_, { name }: { name: string }) => sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`,
);

/**
 * The same without waiting: false when somebody else has it. Whoever has it and asks nothing for `pausedMs`, because its process
 * is paused or its machine gone, is undone by the database, and the name is free again.
 */
export async function tryHold(
  trx: Trx,
  { engine }: Pick<Storage, "engine">,
  name: string,
  pausedMs: number,
): Promise<boolean> {
  if (engine === "sqlite") return true;
  const { rows } = await sql<{ is_held: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as is_held,
      set_config('idle_in_transaction_session_timeout', ${String(pausedMs)}, true)`.execute(trx);
  return rows[0]?.is_held === true;
}
