import { setImmediate } from "node:timers/promises";
import { createTurns, createTurnsOf, type Turns } from "../../lib/turns.ts";
import { CROWDED } from "../failures.ts";

/** Runs one scan without an index at a time per store: fifty of a store cost other stores no more than one. */
export type Searches = {
  inTurn<T>(storeId: string, work: () => Promise<T>): Promise<T>;
  /** One slice of a scan, in its store's turn. With `isOneAtATime` it also waits for slices of other stores. */
  slice<T>(storeId: string, read: () => Promise<T>): Promise<T>;
  /** Throws if the store has so many scans that the caller of another would give up before its answer. */
  refuseCrowd(storeId: string): void;
};

const MOST_AT_ONCE = 20;

/** `isOneAtATime`: for SQLite, which holds the event loop during a statement. Requests come in between two slices. */
export function createSearches({ isOneAtATime }: { isOneAtATime: boolean }): Searches {
  const { inTurn, count } = createTurnsOf();
  const amongStores: Turns = isOneAtATime ? createTurns(1) : (work) => work();
  return {
    inTurn,
    slice: (storeId, read) => inTurn(storeId, () => amongStores(() => setImmediate().then(read))),
    refuseCrowd(storeId) {
      if (count(storeId) >= MOST_AT_ONCE)
        throw Object.assign(new Error("too many searches of one store at a time"), { code: CROWDED });
    },
  };
}
