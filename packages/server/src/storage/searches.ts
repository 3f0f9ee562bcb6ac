import { createTurnsOf } from "../lib/turns.ts";
import { CROWDED } from "./storage.ts";

/**
 * Whatever looks through much, entry by entry, takes turns with others of the same store, so that a store's many are to others as one, and
 * hold what one of them does.
 */
export type Searches = {
  inTurn<T>(storeId: string, work: () => Promise<T>): Promise<T>;
  /** Throws where so many of the store's are under way that one more would be answered when nobody waits for it any more. */
  refuseCrowd(storeId: string): void;
};

const MOST_AT_ONCE = 20;

export function createSearches(): Searches {
  const { inTurn, count } = createTurnsOf();
  return {
    inTurn,
    refuseCrowd(storeId) {
      if (count(storeId) >= MOST_AT_ONCE)
        throw Object.assign(new Error("too many searches of one store at a time"), { code: CROWDED });
    },
  };
}
