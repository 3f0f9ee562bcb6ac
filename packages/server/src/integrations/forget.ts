import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { deleteOld, inOneRound, ROUND } from "../storage/delete-old.ts";
import type { Database, Storage } from "../storage/storage.ts";
import { deliveriesOf } from "./delivery.ts";
import type { IntegrationKey } from "./integration.ts";

type Deps = { storage: Storage; clock: Clock };

/** Deletes deliveries that ended long ago. Returns true when there are more. */
export const forgetOldDeliveries = (deps: Deps): Promise<boolean> =>
  deleteOld(deps, "integration_deliveries", deps.clock.now());

const DELETED_AT_ONCE = 20;

/** Deletes the deliveries of deleted integrations. Returns true when there are more. */
export async function forgetDeletedIntegrations(deps: Deps): Promise<boolean> {
  const { db } = deps.storage;
  const deleted = await db
    .selectFrom("deleted_integrations")
    .selectAll()
    .orderBy("id")
    .limit(atMost(DELETED_AT_ONCE))
    .execute();
  const isDone = await inOneRound(deps, deleted, async ({ id, store_id }) => {
    const of = { storeId: store_id, id };
    const forgotten = await inBatches(deps, (limit) => forgetSome(db, of, limit), ROUND);
    if (forgotten.isDone)
      await db
        .deleteFrom("deleted_integrations")
        .where("store_id", "=", store_id)
        .where("id", "=", id)
        .execute();
    return forgotten;
  });
  return !isDone || deleted.length === DELETED_AT_ONCE;
}

async function forgetSome(db: Database, of: IntegrationKey, limit: number): Promise<number> {
  const some = deliveriesOf(db, of).select("sequence").orderBy("sequence").limit(atMost(limit));
  const { numDeletedRows } = await db
    .deleteFrom("integration_deliveries")
    .where("store_id", "=", of.storeId)
    .where("integration_id", "=", of.id)
    .where("sequence", "in", some)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
