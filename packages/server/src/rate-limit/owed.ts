import type { Clock } from "../lib/clock.ts";
import type { KeyAllowance } from "./limiter-state.ts";

/**
 * What this instance has let in while it could not ask: it is drawn from the shared buckets when they can be asked again. Without that,
 * what flows into the shared buckets meanwhile would be given twice.
 */
type Owed = {
  /** How long the buckets have been full in all, as each answer says. */
  seen(storeId: string, keyId: string, full: FullMs): void;
  /** One request was let in, from the key's floor or from the pool. */
  note(storeId: string, keyId: string, allowance: KeyAllowance, from: "floor" | "pool"): void;
  isAny(): boolean;
  /** All that is owed; nothing is owed any more. */
  takeAll(): Debt[];
  /** A debt that could not be handed in. */
  putBack(debt: Debt): void;
  sweep(): void;
};

/** In milliseconds. */
type FullMs = { floor: number; pool: number };

/** Requests of a key's floor and of its store's pool: all of a store's pool is in one of its debts. */
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
  /** Who was let in last. */
  last: string | undefined;
  keys: Map<string, KeyDebt>;
};

/** A store that was not seen for so long is forgotten: what flowed into its buckets while this instance was away counts as spilled. */
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
      // What is owed is measured from before it was let in.
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
      // It may have arrived, and only the answer was late: a floor must not be drawn from twice.
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
