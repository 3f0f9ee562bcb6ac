import type { Clock } from "../lib/clock.ts";
import type { KeyAllowance } from "./limiter-state.ts";

/**
 * Requests that this instance allowed while Valkey did not answer. They are drawn from the shared buckets when Valkey
 * answers again; otherwise the inflow of that time would be given twice.
 */
type Owed = {
  /** Notes the total time for which the buckets were full, as each answer reports it. */
  seen(storeId: string, keyId: string, full: FullMs): void;
  /** Notes one allowed request, from the key's floor or from the pool. */
  note(storeId: string, keyId: string, allowance: KeyAllowance, from: "floor" | "pool"): void;
  isAny(): boolean;
  /** Returns the whole debt and clears it. */
  takeAll(): Debt[];
  /** Takes back a debt that could not be handed in. */
  putBack(debt: Debt): void;
  sweep(): void;
};

/** In milliseconds. */
type FullMs = { floor: number; pool: number };

/** Requests from a key's floor and from its store's pool. Only one `Debt` of a store has the debt of the pool. */
export type Debt = {
  storeId: string;
  keyId: string;
  allowance: KeyAllowance;
  floor: number;
  pool: number;
  awayMs: number;
  since: FullMs;
};

type KeyDebt = { fullMs: number; owed: number; allowance: KeyAllowance | undefined };
type StoreDebt = {
  seenMs: number;
  fullMs: number;
  owed: number;
  owesFromMs: number;
  /** The key that was served last. */
  last: string | undefined;
  keys: Map<string, KeyDebt>;
};

/** A store without requests for so long is forgotten, as if its buckets had been full during the outage. */
const FORGOTTEN_AFTER_MS = 60_000;

export function createOwed({ clock }: { clock: Clock }): Owed {
  const stores = new Map<string, StoreDebt>();
  const owing = new Set<string>();

  function storeOf(storeId: string): StoreDebt {
    let store = stores.get(storeId);
    if (!store) {
      store = { seenMs: 0, fullMs: 0, owed: 0, owesFromMs: 0, last: undefined, keys: new Map() };
      stores.set(storeId, store);
    }
    store.seenMs = clock.monotonicMs();
    return store;
  }

  function owe(
    storeId: string,
    keyId: string,
    allowance: KeyAllowance,
    { floor, pool }: FullMs,
    fromMs: number,
  ): void {
    const store = storeOf(storeId);
    store.owesFromMs = owing.has(storeId) ? Math.min(store.owesFromMs, fromMs) : fromMs;
    store.last = keyId;
    store.owed += pool;
    const key = keyOf(store, keyId);
    key.owed += floor;
    key.allowance = allowance;
    owing.add(storeId);
  }

  return {
    seen(storeId, keyId, full) {
      // The debt is measured from before the request was allowed.
      if (owing.has(storeId)) return;
      const store = storeOf(storeId);
      store.fullMs = full.pool;
      keyOf(store, keyId).fullMs = full.floor;
    },
    note(storeId, keyId, allowance, from) {
      const letIn = { floor: from === "floor" ? 1 : 0, pool: from === "pool" ? 1 : 0 };
      owe(storeId, keyId, allowance, letIn, clock.monotonicMs());
    },
    isAny: () => owing.size > 0,
    takeAll() {
      const all = [...owing].flatMap((storeId) => [
        ...debtsOf(storeId, storeOf(storeId), clock.monotonicMs()),
      ]);
      owing.clear();
      return all;
    },
    putBack({ storeId, keyId, allowance, pool, awayMs }) {
      // The draw may have arrived before its late answer, and must not be drawn from a floor twice.
      owe(storeId, keyId, allowance, { floor: 0, pool }, clock.monotonicMs() - awayMs);
    },
    sweep() {
      const untilMs = clock.monotonicMs() - FORGOTTEN_AFTER_MS;
      for (const [storeId, { seenMs }] of stores) {
        if (seenMs >= untilMs) continue;
        stores.delete(storeId);
        owing.delete(storeId);
      }
    },
  };
}

function keyOf({ keys }: StoreDebt, keyId: string): KeyDebt {
  const key = keys.get(keyId) ?? { fullMs: 0, owed: 0, allowance: undefined };
  keys.set(keyId, key);
  return key;
}

function* debtsOf(storeId: string, store: StoreDebt, nowMs: number): Generator<Debt> {
  const { last, owesFromMs, fullMs } = store;
  const awayMs = nowMs - owesFromMs;
  for (const [keyId, key] of store.keys) {
    const pool = keyId === last ? store.owed : 0;
    const { allowance } = key;
    if (!allowance || key.owed + pool === 0) continue;
    const since = { floor: key.fullMs, pool: fullMs };
    yield { storeId, keyId, allowance, floor: key.owed, pool, awayMs, since };
    key.owed = 0;
  }
  store.owed = 0;
}
