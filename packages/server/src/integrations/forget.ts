import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { deleteOld, ROUND } from "../storage/delete-old.ts";
import type { Storage } from "../storage/storage.ts";

type Deps = { storage: Storage; clock: Clock };

/** Deliveries that were over long ago. True: there are more. */
export const forgetOldDeliveries = (deps: Deps): Promise<boolean> =>
  deleteOld(deps, "integration_deliveries", "id", "forget_at", deps.clock.now());

/** What integrations that were deleted have left. True: there is more. */
export async function forgetDeletedIntegrations(deps: Deps): Promise<boolean> {
  const { db } = deps.storage;
  const deleted = await db
    .selectFrom("deleted_integrations")
    .selectAll()
    .orderBy("id")
    .limit(atMost(1))
    .executeTakeFirst();
  if (!deleted) return false;
  const forget = async (limit: number) => {
    const some = db
      .selectFrom("integration_deliveries")
      .select("sequence")
      .where("store_id", "=", deleted.store_id)
      .where("integration_id", "=", deleted.id)
      .orderBy("sequence")
      .limit(atMost(limit));
    const { numDeletedRows } = await db
      .deleteFrom("integration_deliveries")
      .where("store_id", "=", deleted.store_id)
      .where("integration_id", "=", deleted.id)
      .where("sequence", "in", some)
      .executeTakeFirst();
    return Number(numDeletedRows);
  };
  const { isDone } = await inBatches(deps, forget, ROUND);
  if (isDone)
    await db
      .deleteFrom("deleted_integrations")
      .where("store_id", "=", deleted.store_id)
      .where("id", "=", deleted.id)
      .execute();
  return true;
}
