import { setImmediate } from "node:timers/promises";
import { createTurns, createTurnsOf, type Turns } from "../../lib/turns.ts";
import { CROWDED, type Storage } from "../storage.ts";

/**
 * Scans without an index run one at a time per store. A store with fifty of them costs other stores no more than a store with one.
 */
export type Searches = {
  inTurn<T>(storeId: string, work: () => Promise<T>): Promise<T>;
  /**
   * One slice of a scan, in its store's turn. SQLite holds the event loop during a statement, so there a slice also waits for those of
   * other stores: requests come in between two slices, however many stores search.
   */
  slice<T>(storeId: string, read: () => Promise<T>): Promise<T>;
  /** Throws where so many of the store's are under way that one more would be answered when nobody waits for it any more. */
  refuseCrowd(storeId: string): void;
};

const MOST_AT_ONCE = 20;

export function createSearches(engine: Storage["engine"]): Searches {
  const { inTurn, count } = createTurnsOf();
  const amongStores: Turns = engine === "sqlite" ? createTurns(1) : (work) => work();
  return {
    inTurn,
    slice: (storeId, read) => inTurn(storeId, () => amongStores(() => setImmediate().then(read))),
    refuseCrowd(storeId) {
      if (count(storeId) >= MOST_AT_ONCE)
        throw Object.assign(new Error("too many searches of one store at a time"), { code: CROWDED });
    },
  };
}
