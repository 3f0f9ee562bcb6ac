import { Problem } from "../contract/problem.ts";
import type { Storage } from "../storage/storage.ts";
import { createStoreCache } from "../storage/store-cache.ts";
import { findStore, type SignUpLimits } from "./store.ts";

const MAX_STORES = 5000;

/** From memory: a refused sign-up reads no database. What the operator changes is known within a second. */
export function createSignUpLimits({
  storage,
}: {
  storage: Storage;
}): (storeId: string) => Promise<SignUpLimits> {
  const cache = createStoreCache<SignUpLimits>({ storage }, MAX_STORES);
  return (storeId) =>
    cache.getOrLoad(storeId, "sign-ups", async () => {
      const store = await findStore(storage, storeId);
      if (!store) throw new Problem("token_invalid");
      return store.signUps;
    });
}
