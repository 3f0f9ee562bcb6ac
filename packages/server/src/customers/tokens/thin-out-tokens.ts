import type { Clock } from "../../lib/clock.ts";
import { atMost } from "../../storage/at-most.ts";
import { inBatches } from "../../storage/batches.ts";
import type { Storage } from "../../storage/storage.ts";

/** So many go with the customer's row, by their foreign key. */
const FEW = 500;

/**
 * Tokens may live for a year, and an account that a program signs in to may have hundreds of thousands: more than one statement may
 * take with it. They go before the customer does, whose tokens are of no use any more.
 */
export async function thinOutTokens(
  deps: { storage: Storage; clock: Clock },
  { storeId, customerId }: { storeId: string; customerId: string },
): Promise<void> {
  const { db } = deps.storage;
  const tokens = db
    .selectFrom("customer_tokens")
    .select("id")
    .where("store_id", "=", storeId)
    .where("customer_id", "=", customerId)
    .orderBy("created_at")
    .orderBy("id");
  if (!(await tokens.limit(atMost(1)).offset(FEW).executeTakeFirst())) return;
  await inBatches(deps, async (limit) => {
    const { numDeletedRows } = await db
      .deleteFrom("customer_tokens")
      .where("store_id", "=", storeId)
      .where("id", "in", tokens.limit(atMost(limit)))
      .executeTakeFirst();
    return Number(numDeletedRows);
  });
}
