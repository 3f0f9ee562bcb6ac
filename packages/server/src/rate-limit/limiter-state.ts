import { type Bucket, fill, fullBucket, resize } from "./bucket.ts";
import { newClaims, type PoolClaims } from "./claims.ts";
import { capacityOf, newShare, type Share } from "./fair-share.ts";
import { ADMINISTRATION_FLOOR } from "./plan.ts";

/** The limits of a store, and the reservation of a key. */
export type KeyAllowance = {
  /** The store's revision of these figures. Figures of an older revision never replace them. */
  revision: number;
  rateLimit: number;
  totalReserved: number;
  reserved: number;
};

/** The limiter's state of a store and its keys, in this instance's memory. */
export type KeyState = {
  /** One copy of the id, which the log of use refers to; each request brings a new string. */
  id: string;
  floor: Bucket | undefined;
  claims: PoolClaims;
  second: number;
  asked: number;
  refused: number;
  /** How many of those the log has already. */
  logged: { asked: number; refused: number };
};

export type StoreState = {
  revision: number;
  pool: Bucket;
  /** The largest share of the pool among all claimants. */
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

/** The same limits with another part of them for this instance (shared-limiter.ts). */
const isDividedAnew = (store: StoreState, { revision }: KeyAllowance, shared: number): boolean =>
  revision === store.revision && shared !== store.pool.rate;

/** The time of the change is unknown here, so an increase counts from the last call. */
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
