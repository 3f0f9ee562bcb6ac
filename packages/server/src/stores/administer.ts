import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage } from "../storage/storage.ts";
import { changeStore, findStore, type Store, type StoreLimits } from "./store.ts";

type Deps = { storage: Storage; clock: Clock };

export type StoreChange = { name?: string | undefined; rateLimit?: number | undefined };
type OperatorChange = StoreChange & { maxRateLimit?: number | undefined };

/** A store that went away between two steps of one request: the token that named it is dead, too. */
export async function getStore({ storage }: Deps, storeId: string): Promise<Store> {
  const store = await findStore(storage, storeId);
  if (!store) throw new Problem("token_invalid");
  return store;
}

/** By an administrator of the store: its limit goes up to the operator's ceiling. */
export const updateStore = (deps: Deps, storeId: string, change: StoreChange): Promise<Store> =>
  writeStore(deps, storeId, change, ({ maxRateLimit }) => maxRateLimit);

/** By the operator, who sets the ceiling. A limit above it raises it, unless another ceiling is named. */
export const updateStoreAsOperator = (
  deps: Deps,
  storeId: string,
  { maxRateLimit, ...change }: OperatorChange,
): Promise<Store> =>
  writeStore(
    deps,
    storeId,
    change,
    (store) => maxRateLimit ?? Math.max(store.maxRateLimit, change.rateLimit ?? 0),
  );

async function writeStore(
  deps: Deps,
  storeId: string,
  change: StoreChange,
  ceilingOf: (store: StoreLimits) => number,
): Promise<Store> {
  await changeStore(deps, storeId, async (trx, store) => {
    const rateLimit = change.rateLimit ?? store.rateLimit;
    const maxRateLimit = ceilingOf(store);
    refuseAboveCeiling(rateLimit, maxRateLimit);
    if (rateLimit < store.rateLimit) refuseBelowReserved(rateLimit, store.totalReserved);
    await trx
      .updateTable("stores")
      .set({
        ...(change.name !== undefined && { name: change.name }),
        rate_limit: rateLimit,
        max_rate_limit: maxRateLimit,
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("id", "=", storeId)
      .execute();
  });
  return getStore(deps, storeId);
}

function refuseAboveCeiling(rateLimit: number, maxRateLimit: number): void {
  if (rateLimit <= maxRateLimit) return;
  throw new Problem("store_limit_above_ceiling", {
    source: { pointer: "/data/rate_limit" },
    detail: `A limit of ${rateLimit} requests per second is above the ${maxRateLimit} that the operator allows this store.`,
    meta: { max_rate_limit: maxRateLimit },
  });
}

function refuseBelowReserved(rateLimit: number, reserved: number): void {
  if (rateLimit >= reserved) return;
  throw new Problem("store_limit_below_reservations", {
    source: { pointer: "/data/rate_limit" },
    detail: `The store's keys have reserved ${reserved} requests per second together; the limit cannot be lower.`,
    meta: { total_reserved_rate_limit: reserved },
  });
}
