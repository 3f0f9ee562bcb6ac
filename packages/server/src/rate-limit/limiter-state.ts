import { type Bucket, fill, fullBucket, resize } from "./bucket.ts";
import { newClaims, type PoolClaims } from "./claims.ts";
import { capacityOf, newShare, type Share } from "./fair-share.ts";
import { ADMINISTRATION_FLOOR } from "./plan.ts";

/** The limits of a store, and what a key has reserved of them. */
export type KeyAllowance = {
  /** The store's revision that these figures belong to: older ones never replace newer ones. */
  revision: number;
  rateLimit: number;
  totalReserved: number;
  reserved: number;
};

/** What the limiter of one instance has in memory of a store and its keys. */
export type KeyState = {
  /** The one copy of its id that the log of use refers to: each request brings a new one. */
  id: string;
  floor: Bucket | undefined;
  claims: PoolClaims;
  second: number;
  asked: number;
  refused: number;
  /** How many of those are in the log already. */
  logged: { asked: number; refused: number };
};

export type StoreState = {
  revision: number;
  pool: Bucket;
  /** The largest share that anybody has had of the pool. */
  most: Share;
  administration: Bucket;
  keys: Map<string, KeyState>;
};

export function storeOf(
  stores: Map<string, StoreState>,
  storeId: string,
  allowance: KeyAllowance,
  nowMs: number,
): StoreState {
  let store = stores.get(storeId);
  const shared = allowance.rateLimit - allowance.totalReserved;
  if (!store) {
    store = {
      revision: allowance.revision,
      pool: fullBucket(shared, capacityOf(shared), nowMs),
      most: newShare(),
      administration: fullBucket(ADMINISTRATION_FLOOR, ADMINISTRATION_FLOOR, nowMs),
      keys: new Map(),
    };
    stores.set(storeId, store);
  } else if (allowance.revision > store.revision || isDividedAnew(store, allowance, shared)) {
    store.revision = allowance.revision;
    changeRate(store.pool, shared, nowMs);
  }
  return store;
}

/** The same limits, and another part of them for this instance: shared-limiter.ts. */
const isDividedAnew = (store: StoreState, { revision }: KeyAllowance, shared: number): boolean =>
  revision === store.revision && shared !== store.pool.rate;

/** When the change came is not known here: what rises counts as risen since somebody last asked. */
function changeRate(bucket: Bucket, rate: number, nowMs: number): void {
  if (rate < bucket.rate) fill(bucket, nowMs);
  resize(bucket, rate, capacityOf(rate));
}

export function keyOf(store: StoreState, keyId: string, allowance: KeyAllowance, nowMs: number): KeyState {
  let key = store.keys.get(keyId);
  const isNew = key === undefined;
  if (!key) {
    const logged = { asked: 0, refused: 0 };
    key = { id: keyId, floor: undefined, claims: newClaims(), second: -1, asked: 0, refused: 0, logged };
    store.keys.set(keyId, key);
  }
  const { reserved } = allowance;
  if ((isNew || allowance.revision === store.revision) && (key.floor?.rate ?? 0) !== reserved) {
    if (key.floor) changeRate(key.floor, reserved, nowMs);
    else key.floor = fullBucket(reserved, capacityOf(reserved), nowMs);
  }
  return key;
}
