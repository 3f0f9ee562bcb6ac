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
 *     floor     rate r, a tenth more in store so that a jittery second is not refused; never lent
 *     open      four fifths of the shared pool, first come, first served
 *     dealt     one fifth of the shared pool, dealt to keys in turn, so that one key's flood leaves something for others:
 *               with n keys drawing on a pool of P, each is sure of one request every 5n/P seconds
 *     admin     two a second for administration, when all else is used up
 *
 * Each bucket holds one second's worth, so a quiet store can be asked for a second's worth at once.
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

export type Decision = {
  allowed: boolean;
  bucket: BucketName;
  reserved: { quota: number; left: number };
  shared: { quota: number; left: number };
  /** Requests of this key in this second, this one included. */
  asked: number;
  retryAfterSeconds: number;
};

export type Limiter = {
  take(draw: Draw): Decision;
  /** Hands the use so far to the log, so that a reader of the log sees it all. */
  settle(storeId: string): void;
  /** Forgets keys and stores whose buckets are full again: they are no different from ones never seen. */
  sweep(): void;
  size(): { stores: number; keys: number };
};

type KeyState = {
  floor: Bucket | undefined;
  dealtAtMs: number;
  drewInSecond: number;
  second: number;
  asked: number;
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
    count(useLog, storeId, keyId, key, second);

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
    return {
      allowed,
      bucket,
      reserved: { quota: key.floor?.rate ?? 0, left: key.floor ? wholeTokens(key.floor) : 0 },
      shared: { quota: store.shared, left: wholeTokens(store.open) },
      asked: key.asked,
      retryAfterSeconds: allowed ? 0 : untilServed(store, key),
    };
  }

  function settle(storeId: string): void {
    for (const [keyId, key] of stores.get(storeId)?.keys ?? []) handOver(useLog, storeId, keyId, key);
  }

  function sweep(): void {
    const nowMs = clock.monotonicMs();
    for (const [storeId, store] of stores) {
      for (const [keyId, key] of store.keys) {
        if (nowMs - key.second * 1000 < IDLE_AFTER_MS) continue;
        if (key.floor) fill(key.floor, nowMs);
        if (key.floor && !isFull(key.floor)) continue;
        handOver(useLog, storeId, keyId, key);
        store.keys.delete(keyId);
      }
      if (store.keys.size === 0) stores.delete(storeId);
    }
  }

  return {
    take,
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
  if (!key) {
    key = { floor: undefined, dealtAtMs: Number.NEGATIVE_INFINITY, drewInSecond: -1, second: -1, asked: 0 };
    store.keys.set(keyId, key);
  }
  const { reserved } = allowance;
  if (allowance.revision === store.revision && (key.floor?.rate ?? 0) !== reserved) {
    if (reserved === 0) {
      key.floor = undefined;
    } else if (!key.floor) {
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
  // A full bucket would spill what comes next, so that much is anybody's.
  if (nowMs - key.dealtAtMs < turnEveryMs && !isFull(store.dealt)) return false;
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

function count(useLog: UseLog, storeId: string, keyId: string, key: KeyState, second: number): void {
  if (key.second !== second) {
    handOver(useLog, storeId, keyId, key);
    key.second = second;
  }
  key.asked++;
}

function handOver(useLog: UseLog, storeId: string, keyId: string, key: KeyState): void {
  if (key.asked > 0) useLog.add(storeId, keyId, key.second, key.asked);
  key.asked = 0;
}

const floorCapacity = (reserved: number): number => reserved + Math.ceil(reserved / 10);

const openSize = (shared: number): [number, number] => {
  const rate = shared * (1 - DEALT_SHARE);
  return [rate, shared === 0 ? 0 : Math.max(1, rate)];
};

const dealtSize = (shared: number): [number, number] => {
  const rate = shared * DEALT_SHARE;
  return [rate, shared === 0 ? 0 : Math.max(2, rate)];
};

/** Never before the end of the window that the policy names (one second). */
const untilServed = (store: StoreState, key: KeyState): number =>
  Math.min(secondsUntilToken(store.open) ?? 60, (key.floor && secondsUntilToken(key.floor)) ?? 60);
