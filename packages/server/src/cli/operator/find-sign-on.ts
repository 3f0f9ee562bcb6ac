import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import { findSignOns, type SignOnName } from "../../sign-on-records/resource.ts";
import type { Storage } from "../../storage/storage.ts";
import { isBeingDeleted, listStores, type Store } from "../../stores/store.ts";
import { NO_STORES, requireStore } from "./require-store.ts";
import { withStorage } from "./with-storage.ts";

type Deps = { storage: Storage };
type FoundSignOn = { row: Awaited<ReturnType<typeof findSignOns>>[number]; store: Store };

/** The stores per statement, because every index of sign-ons begins with the store. */
const STORES_AT_ONCE = 100;

/**
 * The record of a sign-on. A caller who reads out a reference does not know the store, so without --store all stores
 * are searched.
 */
export const findSignOn = (named: SignOnName, storeId: string | undefined): Promise<FoundSignOn> =>
  withStorage(async (deps) => {
    const found =
      storeId === undefined
        ? await findInAll(deps, named)
        : await findIn(deps, [await requireStore(deps, storeId)], named);
    const [first, second] = found;
    if (first === undefined) throw operatorFault(missing(named, storeId));
    // By chance two stores can have the same reference.
    if (second)
      throw usageFault(
        `several stores have a sign-on with the ${named.field} ${named.value}: give --store ${found.map(({ store }) => store.id).join(" or ")}`,
      );
    return first;
  });

async function findInAll(deps: Deps, named: SignOnName): Promise<FoundSignOn[]> {
  const found: FoundSignOn[] = [];
  let after: string | undefined;
  for (;;) {
    const stores = await listStores(deps.storage, { limit: STORES_AT_ONCE, after });
    if (stores.length === 0 && after === undefined) throw operatorFault(NO_STORES);
    found.push(...(await findIn(deps, stores, named)));
    after = stores.at(-1)?.id;
    if (stores.length < STORES_AT_ONCE) return found;
  }
}

/** At most one record per store: the newest. */
async function findIn(deps: Deps, stores: readonly Store[], named: SignOnName): Promise<FoundSignOn[]> {
  const kept = stores.filter((store) => !isBeingDeleted(store));
  if (kept.length === 0) return [];
  const rows = await findSignOns(
    deps,
    kept.map(({ id }) => id),
    named,
  );
  return kept.flatMap((store) => {
    const row = rows.find(({ store_id }) => store_id === store.id);
    return row ? [{ row, store }] : [];
  });
}

const missing = ({ field, value }: SignOnName, storeId: string | undefined): string =>
  storeId === undefined
    ? `no sign-on has the ${field} ${value}: it was made up, or is no longer kept`
    : `no sign-on of this store has the ${field} ${value}: it is another store's, was made up, or is no longer kept`;
