import type { Storage } from "../storage/storage.ts";
import { createStoreCache } from "../storage/store-cache.ts";
import { getStore, type Store } from "./store.ts";

type SignUpLimits = Pick<Store, "sign_ups_per_network" | "sign_ups_per_hour">;

const MAX_STORES = 5000;

/** Read from memory, so a refused sign-up reads no database. A change by the operator counts within one second. */
export function createSignUpLimits(deps: { storage: Storage }): (storeId: string) => Promise<SignUpLimits> {
  const cache = createStoreCache<SignUpLimits>(deps, MAX_STORES);
  return (storeId) => cache.getOrLoad(storeId, "sign-ups", () => getStore(deps, storeId));
}
