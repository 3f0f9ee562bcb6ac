import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage } from "../storage/storage.ts";
import { changeStore, findStore, type Store, totalReserved } from "./store.ts";

type Deps = { storage: Storage; clock: Clock };

export type StoreChange = { name?: string | undefined; rateLimit?: number | undefined };

/** A store that went away between two steps of one request: the token that named it is dead, too. */
export async function getStore({ storage }: Deps, storeId: string): Promise<Store> {
  const store = await findStore(storage, storeId);
  if (!store) throw new Problem("token_invalid");
  return store;
}

export async function updateStore(deps: Deps, storeId: string, change: StoreChange): Promise<Store> {
  await changeStore(deps, storeId, async (trx) => {
    if (change.rateLimit !== undefined) {
      const reserved = await totalReserved(trx, storeId);
      if (change.rateLimit < reserved) {
        throw new Problem("store_limit_below_reservations", {
          source: { pointer: "/data/rate_limit" },
          detail: `The store's keys have reserved ${reserved} requests per second together; the limit cannot be lower.`,
          meta: { total_reserved_rate_limit: reserved },
        });
      }
    }
    await trx
      .updateTable("stores")
      .set({
        ...(change.name !== undefined && { name: change.name }),
        ...(change.rateLimit !== undefined && { rate_limit: change.rateLimit }),
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("id", "=", storeId)
      .execute();
  });
  return getStore(deps, storeId);
}
