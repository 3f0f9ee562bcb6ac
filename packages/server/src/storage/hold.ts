import { sql } from "kysely";
import type { Storage, Trx } from "./storage.ts";

/**
 * Waits until no other transaction holds one of these names, and holds them until this one ends: for what is shared and has
 * no row yet. Give them in the same order everywhere. On SQLite a transaction is the only one that writes, so there is
 * nothing to wait for. Two names with one hash wait for each other, which costs time and nothing else.
 */
export async function hold(
  trx: Trx,
  { engine }: Pick<Storage, "engine">,
  names: readonly string[],
): Promise<void> {
  if (engine === "sqlite") return;
  const locks = names.map((name) => sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
  await sql`select ${sql.join(locks)}`.execute(trx);
}
