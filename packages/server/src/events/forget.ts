import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { inOneRound, ROUND } from "../storage/delete-old.ts";
import { forChange } from "../storage/engine.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { HASHED_COLUMNS } from "./chain.ts";
import { eraseAnswers } from "./erase.ts";
import { writeForgotten } from "./head.ts";

type Deps = { storage: Storage; clock: Clock };

const STORES_AT_ONCE = 20;

/**
 * Deletes events older than `LATCHKEY_EVENT_DAYS` from the beginning of each log. The head keeps the last deleted
 * event's hash, so that the rest verifies, and the attributes under that hash, which prove its age. An old event behind
 * a younger one, after a clock error, stays until the younger one is old enough. Returns true when there are more.
 */
export async function forgetOldEvents(deps: Deps & { eventDays: number }): Promise<boolean> {
  const untilMs = deps.clock.now() - deps.eventDays * 86_400_000;
  const stores = await deps.storage.db
    .selectFrom("event_heads")
    .select("store_id")
    .where("oldest_time", "<=", untilMs)
    .orderBy("oldest_time")
    .limit(atMost(STORES_AT_ONCE))
    .execute();
  const isDone = await inOneRound(deps, stores, ({ store_id }) =>
    inBatches(deps, (limit) => forgetSome(deps, store_id, untilMs, limit), ROUND),
  );
  return !isDone || stores.length === STORES_AT_ONCE;
}

function forgetSome({ storage }: Deps, storeId: string, untilMs: number, limit: number): Promise<number> {
  return storage.transact(async (trx) => {
    const heads = trx.selectFrom("event_heads").select("first_sequence").where("store_id", "=", storeId);
    const head = await forChange(trx, heads).executeTakeFirst();
    if (!head) return 0;
    const rows = await trx
      .selectFrom("events")
      .select([...HASHED_COLUMNS, "hash"])
      .where("store_id", "=", storeId)
      .where("sequence", ">=", head.first_sequence)
      .orderBy("sequence")
      .limit(atMost(limit + 1))
      .execute();
    const kept = rows.findIndex(({ time }) => time > untilMs);
    const old = rows.slice(0, kept < 0 ? limit : kept);
    const last = old.at(-1);
    await trx
      .updateTable("event_heads")
      .set({
        oldest_time: rows[old.length]?.time ?? null,
        ...(last && {
          first_sequence: last.sequence + 1,
          forgotten_hash: last.hash,
          forgotten_event: writeForgotten(last),
        }),
      })
      .where("store_id", "=", storeId)
      .execute();
    if (!last) return 0;
    // By range: for a list of hundreds PostgreSQL may read the store's whole log.
    await trx
      .deleteFrom("events")
      .where("store_id", "=", storeId)
      .where("sequence", ">=", head.first_sequence)
      .where("sequence", "<=", last.sequence)
      .execute();
    await forgetAnswers(trx, storeId, { from: head.first_sequence, to: last.sequence });
    return old.length;
  });
}

/** Answers of webhook receivers are deleted with their event, because an erasure finds them only through the event. */
async function forgetAnswers(
  trx: Trx,
  storeId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const integrations = trx.selectFrom("integrations").select("id").where("store_id", "=", storeId);
  // Waits for a transaction that is writing an answer, which may have read the event before it was deleted.
  const found = await forChange(trx, integrations).execute();
  if (found.length === 0) return;
  const deliveries = await trx
    .selectFrom("integration_deliveries")
    .select(["id", "attempts"])
    .where("store_id", "=", storeId)
    .where(
      "integration_id",
      "in",
      found.map(({ id }) => id),
    )
    .where("sequence", ">=", from)
    .where("sequence", "<=", to)
    .execute();
  await eraseAnswers(trx, storeId, deliveries);
}
