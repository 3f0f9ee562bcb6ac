import type { Clock } from "../../lib/clock.ts";
import { atMost } from "../../storage/at-most.ts";
import { inBatches } from "../../storage/batches.ts";
import type { Storage } from "../../storage/storage.ts";

/** The number of tokens that the foreign key may delete with the customer's row. */
const FEW = 500;

/**
 * Deletes a customer's tokens in batches, before the customer's row is deleted. Tokens can be valid for a year, and an
 * account that a program signs in to can have hundreds of thousands: too many for one statement.
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
