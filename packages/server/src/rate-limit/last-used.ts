import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * When each key and secret was last used. Requests note the time in memory, and one writer stores the notes once a
 * second. A stored time only moves forward, even when an instance is late.
 */
export type LastUsed = {
  noteKey(storeId: string, keyId: string): void;
  noteSecret(storeId: string, secretId: string): void;
  /** Stores the notes. A write that fails keeps them for the next one. */
  flush(): Promise<void>;
};

type Notes = Map<string, { storeId: string; at: number }>;
type Table = "application_keys" | "application_key_secrets";

const BATCH = 100;

export function createLastUsed({ storage, clock }: { storage: Storage; clock: Clock }): LastUsed {
  const notes: Record<Table, Notes> = { application_keys: new Map(), application_key_secrets: new Map() };

  function note(table: Table, storeId: string, id: string): void {
    const known = notes[table].get(id);
    if (known) known.at = clock.now();
    else notes[table].set(id, { storeId, at: clock.now() });
  }

  async function flushTable(table: Table): Promise<void> {
    const taken = notes[table];
    notes[table] = new Map();
    // In the order of ids, so that two instances that write the same rows cannot deadlock.
    const entries = [...taken].sort(([a], [b]) => (a < b ? -1 : 1));
    try {
      for (let from = 0; from < entries.length; from += BATCH) {
        const batch = entries.slice(from, from + BATCH);
        await write(storage, table, batch);
        for (const [id] of batch) taken.delete(id);
        // On SQLite the statements above have waited for nothing, so this lets other requests run.
        await setImmediate();
      }
    } catch (error) {
      notes[table] = new Map([...taken, ...notes[table]]);
      throw error;
    }
  }

  return {
    noteKey: (storeId, keyId) => note("application_keys", storeId, keyId),
    noteSecret: (storeId, secretId) => note("application_key_secrets", storeId, secretId),
    async flush() {
      await flushTable("application_keys");
      await flushTable("application_key_secrets");
    },
  };
}

async function write(
  storage: Storage,
  table: Table,
  batch: [string, { storeId: string; at: number }][],
): Promise<void> {
  const rows = batch.map(
    ([id, { storeId, at }]) => sql`(cast(${storeId} as text), cast(${id} as text), cast(${at} as bigint))`,
  );
  // A redundant `in` for SQLite, which would otherwise read the whole table and look up each row.
  await sql`
    with used (store_id, id, used_at) as (values ${sql.join(rows)})
    update ${sql.table(table)} set last_used_at = used.used_at from used
    where ${sql.table(table)}.id in (select id from used)
      and ${sql.table(table)}.store_id = used.store_id and ${sql.table(table)}.id = used.id
      and (${sql.table(table)}.last_used_at is null or ${sql.table(table)}.last_used_at < used.used_at)
  `.execute(storage.db);
}
