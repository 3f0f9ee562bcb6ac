import type { Clock } from "../lib/clock.ts";
import {
  type Bucket,
  draw,
  fill,
  fullBucket,
  isFull,
  resize,
  secondsUntilToken,
  wholeTokens,
} from "./bucket.ts";
import { ADMINISTRATION_FLOOR } from "./plan.ts";
import {
  drawFromPool,
  fillPool,
  isPoolFull,
  leftInPool,
  newPool,
  newTurn,
  resizePool,
  type SharedPool,
  type Turn,
} from "./shared-pool.ts";
import type { UseLog } from "./use-log.ts";

/**
 * Decides whether a request may pass. A request draws on its key's floor first, then on what the store's keys share:
 *
 *     floor     rate r, in store a second's worth and a tenth more, so that a jittery second is not refused; never lent
 *     shared    what nobody has reserved; see shared-pool.ts
 *     admin     two a second for administration, when all else is used up
 *
 * Each bucket holds about one second's worth, so a quiet store can be asked for a second's worth at once.
 */
export type Allowance = {
  /** The store's revision that these figures belong to: older ones never replace newer ones. */
  revision: number;
  rateLimit: number;
  totalReserved: number;
  reserved: number;
};

export type Draw = { storeId: string; keyId: string; allowance: Allowance; administration: boolean };

export type BucketName = "reserved" | "shared" | "administration";

/** What a key has, and what is left of it now: never more than the quota, so that nobody is invited to more. */
export type Left = {
  reserved: { quota: number; left: number };
  shared: { quota: number; left: number };
  /** Requests of this key in this second. */
  asked: number;
};

export type Decision = Left & { allowed: boolean; bucket: BucketName; retryAfterSeconds: number };

export type Limiter = {
  take(draw: Draw): Decision;
  /** The same figures without drawing anything. */
  look(draw: Draw): Left;
  /** Hands the use so far to the log, so that a reader of the log sees it all. */
  settle(storeId: string): void;
  /** Forgets keys and stores whose buckets are full again: they are no different from ones never seen. */
  sweep(): void;
  size(): { stores: number; keys: number };
};

type KeyState = Turn & {
  /** The one copy of its id that the log of use refers to: each request brings a new one. */
  id: string;
  floor: Bucket | undefined;
  second: number;
  asked: number;
  /** How many of those asked are in the log already. */
  logged: number;
};

type StoreState = { revision: number; pool: SharedPool; administration: Bucket; keys: Map<string, KeyState> };

const IDLE_AFTER_MS = 10_000;

export function createLimiter({ clock, useLog }: { clock: Clock; useLog: UseLog }): Limiter {
  const stores = new Map<string, StoreState>();

  function take({ storeId, keyId, allowance, administration }: Draw): Decision {
    const nowMs = clock.monotonicMs();
    const second = Math.floor(nowMs / 1000);
    const store = storeOf(stores, storeId, allowance, nowMs);
    const key = keyOf(store, keyId, allowance, nowMs);
    count(useLog, storeId, key, second);

    let bucket: BucketName = "reserved";
    let allowed = key.floor !== undefined && draw(key.floor, nowMs);
    if (!allowed) {
      bucket = "shared";
      allowed = drawFromPool(store.pool, key, nowMs);
    }
    if (!allowed && administration && draw(store.administration, nowMs)) {
      bucket = "administration";
      allowed = true;
    }
    const { reserved, shared, asked } = left(store, key, nowMs);
    // What is still there when a key is refused is dealt to others first: for this one nothing is left.
    if (!allowed) shared.left = 0;
    const retryAfterSeconds = allowed ? 0 : untilServed(store, key, administration);
    return { allowed, bucket, reserved, shared, asked, retryAfterSeconds };
  }

  function look({ storeId, keyId, allowance }: Draw): Left {
    const nowMs = clock.monotonicMs();
    const store = storeOf(stores, storeId, allowance, nowMs);
    return left(store, keyOf(store, keyId, allowance, nowMs), nowMs);
  }

  function settle(storeId: string): void {
    for (const key of stores.get(storeId)?.keys.values() ?? []) handOver(useLog, storeId, key);
  }

  function sweep(): void {
    const nowMs = clock.monotonicMs();
    for (const [storeId, store] of stores) {
      for (const [keyId, key] of store.keys) {
        if (nowMs - key.second * 1000 < IDLE_AFTER_MS) continue;
        if (key.floor) fill(key.floor, nowMs);
        if (key.floor && !isFull(key.floor)) continue;
        handOver(useLog, storeId, key);
        store.keys.delete(keyId);
      }
      fillPool(store.pool, nowMs);
      fill(store.administration, nowMs);
      const isRested = isPoolFull(store.pool) && isFull(store.administration);
      if (store.keys.size === 0 && isRested) stores.delete(storeId);
    }
  }

  return {
    take,
    look,
    settle,
    sweep,
    size: () => ({
      stores: stores.size,
      keys: [...stores.values()].reduce((sum, store) => sum + store.keys.size, 0),
    }),
  };
}

function storeOf(
  stores: Map<string, StoreState>,
  storeId: string,
  allowance: Allowance,
  nowMs: number,
): StoreState {
  let store = stores.get(storeId);
  const shared = allowance.rateLimit - allowance.totalReserved;
  if (!store) {
    store = {
      revision: allowance.revision,
      pool: newPool(shared, nowMs),
      administration: fullBucket(ADMINISTRATION_FLOOR, ADMINISTRATION_FLOOR, nowMs),
      keys: new Map(),
    };
    stores.set(storeId, store);
  } else if (allowance.revision > store.revision) {
    store.revision = allowance.revision;
    resizePool(store.pool, shared, nowMs);
  }
  return store;
}

function keyOf(store: StoreState, keyId: string, allowance: Allowance, nowMs: number): KeyState {
  let key = store.keys.get(keyId);
  const isNew = key === undefined;
  if (!key) {
    key = { ...newTurn(), id: keyId, floor: undefined, second: -1, asked: 0, logged: 0 };
    store.keys.set(keyId, key);
  }
  const { reserved } = allowance;
  if ((isNew || allowance.revision === store.revision) && (key.floor?.rate ?? 0) !== reserved) {
    if (!key.floor) {
      key.floor = fullBucket(reserved, floorCapacity(reserved), nowMs);
    } else {
      fill(key.floor, nowMs);
      resize(key.floor, reserved, floorCapacity(reserved));
    }
  }
  return key;
}

function count(useLog: UseLog, storeId: string, key: KeyState, second: number): void {
  if (key.second !== second) {
    handOver(useLog, storeId, key);
    key.second = second;
    key.asked = 0;
    key.logged = 0;
  }
  key.asked++;
}

function handOver(useLog: UseLog, storeId: string, key: KeyState): void {
  if (key.asked > key.logged) useLog.add(storeId, key.id, key.second, key.asked - key.logged);
  key.logged = key.asked;
}

const floorCapacity = (reserved: number): number => reserved + Math.ceil(reserved / 10);

function left(store: StoreState, key: KeyState, nowMs: number): Left {
  fillPool(store.pool, nowMs);
  if (key.floor) fill(key.floor, nowMs);
  const floorQuota = key.floor ? key.floor.rate : 0;
  const ofFloor = key.floor ? wholeTokens(key.floor) : 0;
  return {
    reserved: { quota: floorQuota, left: Math.min(floorQuota, ofFloor) },
    shared: { quota: store.pool.rate, left: leftInPool(store.pool) },
    asked: key.second === Math.floor(nowMs / 1000) ? key.asked : 0,
  };
}

/** Never before the end of the window that the policy names (one second); a minute where nothing ever comes. */
function untilServed(store: StoreState, key: KeyState, administration: boolean): number {
  const buckets = [
    store.pool.open,
    ...(key.floor ? [key.floor] : []),
    ...(administration ? [store.administration] : []),
  ];
  return Math.min(...buckets.map((bucket) => secondsUntilToken(bucket) ?? 60));
}
