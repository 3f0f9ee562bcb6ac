import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/customers.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { beginErasure, eraseSome, isInLog } from "../events/erase.ts";
import { byCaller } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";

type Deps = { storage: Storage; clock: Clock };

/**
 * Deletes a customer and takes what the log says of it out of the log. The deletion, the event that tells of it and the order to erase
 * are one transaction: from then on it is done, even if this request or the instance ends. Somebody who was deleted before is
 * known by what the log still has of them.
 */
export async function eraseCustomer(
  deps: Deps,
  caller: Caller,
  customerId: string,
): Promise<Output<typeof contract.eraseCustomer>> {
  const person = { storeId: caller.storeId, personId: customerId };
  await deps.storage.transact(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("customers")
      .where("store_id", "=", caller.storeId)
      .where("id", "=", customerId)
      .executeTakeFirst();
    const wasThere = numDeletedRows > 0n;
    if (!wasThere && !(await isInLog(trx, person))) throw new Problem("customer_not_found");
    await beginErasure(trx, deps, person);
    const about = { subject: customerId, resource: { type: "customer", id: customerId } };
    await noteEvents(trx, deps, byCaller(caller), [
      ...(wasThere ? [{ type: "customer.deleted", ...about } as const] : []),
      { type: "customer.erased", ...about },
    ]);
  });
  const { events, isDone } = await eraseSome(deps, person);
  return { data: { type: "customer-erasure", id: customerId, events, complete: isDone } };
}
