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
import type { UseLog } from "./use-log.ts";

/**
 * Decides whether a request may pass. A request draws on its key's floor first, then on what the store's keys share:
 *
 *     floor     rate r, in store a second's worth and a tenth more, so that a jittery second is not refused; never lent
 *     open      four fifths of the shared pool, first come, first served
 *     dealt     one fifth of the shared pool, dealt to keys in turn, so that one key's flood leaves something for others:
 *               while n keys draw on a pool of P, none that asks at least twice a second is refused for longer than
 *               10n/P seconds on end
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

type KeyState = {
  /** The one copy of its id that the log of use refers to: each request brings a new one. */
  id: string;
  floor: Bucket | undefined;
  dealtAtMs: number;
  drewInSecond: number;
  second: number;
  asked: number;
  /** How many of those asked are in the log already. */
  logged: number;
};

type StoreState = {
  revision: number;
  shared: number;
  open: Bucket;
  dealt: Bucket;
  administration: Bucket;
  keys: Map<string, KeyState>;
  /** How many keys drew on the shared pool in the second `second`, and in the one before. */
  second: number;
  drawing: number;
  drewBefore: number;
};

const IDLE_AFTER_MS = 10_000;
const DEALT_SHARE = 0.2;

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
      allowed = drawShared(store, key, nowMs, second);
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
      for (const bucket of [store.open, store.dealt, store.administration]) fill(bucket, nowMs);
      const isRested = isFull(store.open) && isFull(store.dealt) && isFull(store.administration);
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
      shared,
      open: fullBucket(...openSize(shared), nowMs),
      dealt: fullBucket(...dealtSize(shared), nowMs),
      administration: fullBucket(ADMINISTRATION_FLOOR, ADMINISTRATION_FLOOR, nowMs),
      keys: new Map(),
      second: 0,
      drawing: 0,
      drewBefore: 0,
    };
    stores.set(storeId, store);
  } else if (allowance.revision > store.revision) {
    store.revision = allowance.revision;
    if (store.shared !== shared) {
      store.shared = shared;
      fill(store.open, nowMs);
      fill(store.dealt, nowMs);
      resize(store.open, ...openSize(shared));
      resize(store.dealt, ...dealtSize(shared));
    }
  }
  return store;
}

function keyOf(store: StoreState, keyId: string, allowance: Allowance, nowMs: number): KeyState {
  let key = store.keys.get(keyId);
  const isNew = key === undefined;
  if (!key) {
    key = {
      id: keyId,
      floor: undefined,
      dealtAtMs: Number.NEGATIVE_INFINITY,
      drewInSecond: -1,
      second: -1,
      asked: 0,
      logged: 0,
    };
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

function drawShared(store: StoreState, key: KeyState, nowMs: number, second: number): boolean {
  if (store.shared === 0) return false;
  const keys = countDrawing(store, key, second);
  if (draw(store.open, nowMs)) return true;
  fill(store.dealt, nowMs);
  const turnEveryMs = (keys * 1000) / store.dealt.rate;
  const isItsTurn = nowMs - key.dealtAtMs >= turnEveryMs;
  // A full bucket would spill what comes next, so that much is anybody's; and a key that is alone leaves one for a
  // newcomer and may have the rest.
  const isSpare = isFull(store.dealt) || (keys === 1 && wholeTokens(store.dealt) >= 2);
  if (!isItsTurn && !isSpare) return false;
  if (!draw(store.dealt, nowMs)) return false;
  key.dealtAtMs = nowMs;
  return true;
}

/** How many keys draw on the shared pool at the moment, counted by whole seconds. */
function countDrawing(store: StoreState, key: KeyState, second: number): number {
  if (store.second !== second) {
    store.drewBefore = second - store.second === 1 ? store.drawing : 0;
    store.drawing = 0;
    store.second = second;
  }
  if (key.drewInSecond !== second) {
    key.drewInSecond = second;
    store.drawing++;
  }
  return Math.max(store.drawing, store.drewBefore);
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

const openSize = (shared: number): [number, number] => {
  const rate = shared * (1 - DEALT_SHARE);
  return [rate, shared === 0 ? 0 : Math.max(1, rate)];
};

const dealtSize = (shared: number): [number, number] => {
  const rate = shared * DEALT_SHARE;
  // One more than a second's worth: the one for a newcomer.
  return [rate, shared === 0 ? 0 : Math.max(2, rate + 1)];
};

function left(store: StoreState, key: KeyState, nowMs: number): Left {
  fill(store.open, nowMs);
  fill(store.dealt, nowMs);
  if (key.floor) fill(key.floor, nowMs);
  const floorQuota = key.floor ? key.floor.rate : 0;
  const ofFloor = key.floor ? wholeTokens(key.floor) : 0;
  const ofShared = wholeTokens(store.open) + wholeTokens(store.dealt);
  return {
    reserved: { quota: floorQuota, left: Math.min(floorQuota, ofFloor) },
    shared: { quota: store.shared, left: Math.min(store.shared, ofShared) },
    asked: key.second === Math.floor(nowMs / 1000) ? key.asked : 0,
  };
}

/** Never before the end of the window that the policy names (one second); a minute where nothing ever comes. */
function untilServed(store: StoreState, key: KeyState, administration: boolean): number {
  const buckets = [
    store.open,
    ...(key.floor ? [key.floor] : []),
    ...(administration ? [store.administration] : []),
  ];
  return Math.min(...buckets.map((bucket) => secondsUntilToken(bucket) ?? 60));
}
