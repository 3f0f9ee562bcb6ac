import { createGroupCache, type GroupCache } from "../lib/cache.ts";
import type { Storage } from "./storage.ts";

/** A cache by store. The entries of a store are dropped when `storage.changes` announces a change of it. */
export function createStoreCache<T>(
  { storage }: { storage: Storage },
  maxEntries: number,
  isKept?: (value: T) => boolean,
): GroupCache<T> {
  const cache = createGroupCache<T>(maxEntries, isKept);
  storage.changes.listen((storeId) => (storeId === undefined ? cache.dropAll() : cache.drop(storeId)));
  return cache;
}
