import { createGroupCache, type GroupCache } from "../lib/cache.ts";
import type { Storage } from "./storage.ts";

/** What is known of stores, in memory. A store's part goes when the store changes, as `storage.changes` tells. */
export function createStoreCache<T>(
  { storage }: { storage: Storage },
  maxEntries: number,
  isKept?: (value: T) => boolean,
): GroupCache<T> {
  const cache = createGroupCache<T>(maxEntries, isKept);
  storage.changes.listen((storeId) => (storeId === undefined ? cache.dropAll() : cache.drop(storeId)));
  return cache;
}
