import type { Clock } from "../lib/clock.ts";
import { createPauses } from "../lib/pauses.ts";
import { type Bucket, draw, fill, isFull, secondsUntilToken, setTokens, wholeTokens } from "./bucket.ts";
import { drawerOf, giveToSource, standingOfSource, sweepSources } from "./claims.ts";
import { FORGOTTEN_AFTER_MS, give, leaving, memoryMs, reserveOf, standing } from "./fair-share.ts";
import { type KeyAllowance, type KeyState, keyOf, type StoreState, storeOf } from "./limiter-state.ts";
import type { UseLog } from "./use-log.ts";

/**
 * Decides whether a request may pass. A request draws on its key's floor first, then on what the store's keys share:
 *
 *     floor     what the key has reserved; never lent
 *     shared    the unreserved rest
 *     admin     two a second for administration, when all else is used up
 *
 * Floor and pool hold a second's worth and a reserve of a fifth on top. The reserve decides who goes first when they
 * are short (fair-share.ts). In a floor, the key's program, which has the secret, goes first; then the public source
 * that was served least lately. In the pool, each key's program and each key's public is one claimant, and the claimant
 * that was served least lately goes first; the same holds between the sources of one public.
 */
export type Draw = {
  storeId: string;
  keyId: string;
  /** The address of an implicit token's request; `undefined` for the program with the secret. */
  source: string | undefined;
  allowance: KeyAllowance;
  administration: boolean;
};

type BucketName = "reserved" | "shared" | "administration";

/** A key's quota and the rest of it for this caller. The rest never exceeds the quota. */
export type Left = {
  reserved: { quota: number; left: number };
  shared: { quota: number; left: number };
  /** Requests of this key in this second. */
  asked: number;
};

export type LimiterDecision = Left & { allowed: boolean; bucket: BucketName; retryAfterSeconds: number };

export type Limiter = {
  take(draw: Draw): LimiterDecision | Promise<LimiterDecision>;
  /** The same figures without taking a token. */
  look(draw: Draw): Left | Promise<Left>;
  /** Adds the use so far to the log, so that a reader sees all of it. */
  settle(storeId: string): Promise<void>;
  /** Forgets keys and stores with full buckets, which equal new ones. */
  sweep(): Promise<void>;
  size(): { stores: number; keys: number; sources: number };
};

/** The tokens in the buckets of a store and a key, fractions included. */
type Tokens = { floor: number; pool: number };

/** The limiter of one instance, which decides without waiting. */
type OwnLimiter = Omit<Limiter, "take" | "look"> & {
  take(draw: Draw): LimiterDecision;
  look(draw: Draw): Left;
  /** Continues from the levels of the shared buckets. */
  goOnFrom(draw: Draw, tokens: Tokens): void;
};

/** The tokens that this caller must leave in each bucket. */
type Leaving = { floor: number; pool: number };

const IDLE_AFTER_MS = 10_000;

export function createLimiter({ clock, useLog }: { clock: Clock; useLog: UseLog }): OwnLimiter {
  const stores = new Map<string, StoreState>();

  function take({ storeId, keyId, source, allowance, administration }: Draw): LimiterDecision {
    const nowMs = clock.monotonicMs();
    const second = Math.floor(nowMs / 1000);
    const store = storeOf(stores, storeId, allowance, nowMs);
    const key = keyOf(store, keyId, allowance, nowMs);
    count(useLog, storeId, key, second);

    const leave = leavingOf(store, key, source, nowMs);
    let bucket: BucketName = "reserved";
    let allowed = key.floor !== undefined && draw(key.floor, nowMs, leave.floor);
    if (!allowed) {
      bucket = "shared";
      allowed = draw(store.pool, nowMs, leave.pool);
      if (allowed) give(drawerOf(key.claims, source), store.most, nowMs, memoryMs(store.pool.rate));
    }
    if (allowed && source !== undefined) giveToSource(key.claims, source, nowMs, sourceMemoryMs(store, key));
    if (!allowed && administration && draw(store.administration, nowMs)) {
      bucket = "administration";
      allowed = true;
    }
    if (!allowed) key.refused++;
    const { reserved, shared, asked } = left(store, key, leave, nowMs);
    const retryAfterSeconds = allowed ? 0 : untilServed(store, key, leave, administration);
    return { allowed, bucket, reserved, shared, asked, retryAfterSeconds };
  }

  function look({ storeId, keyId, source, allowance }: Draw): Left {
    const nowMs = clock.monotonicMs();
    const store = storeOf(stores, storeId, allowance, nowMs);
    const key = keyOf(store, keyId, allowance, nowMs);
    return left(store, key, leavingOf(store, key, source, nowMs), nowMs);
  }

  function goOnFrom({ storeId, keyId, allowance }: Draw, { floor, pool }: Tokens): void {
    const nowMs = clock.monotonicMs();
    const store = storeOf(stores, storeId, allowance, nowMs);
    const key = keyOf(store, keyId, allowance, nowMs);
    setTokens(store.pool, pool, nowMs);
    if (key.floor) setTokens(key.floor, floor, nowMs);
  }

  async function settle(storeId: string): Promise<void> {
    const pause = createPauses();
    for (const key of stores.get(storeId)?.keys.values() ?? []) {
      await pause(1);
      handOver(useLog, storeId, key);
    }
  }

  async function sweep(): Promise<void> {
    const nowMs = clock.monotonicMs();
    const pause = createPauses();
    for (const [storeId, store] of stores) {
      for (const [keyId, key] of store.keys) {
        await pause(1);
        sweepSources(key.claims, nowMs - FORGOTTEN_AFTER_MS);
        if (!isIdle(key, nowMs)) continue;
        handOver(useLog, storeId, key);
        store.keys.delete(keyId);
      }
      fill(store.pool, nowMs);
      // The administration bucket is full after a second without its requests.
      if (store.keys.size === 0 && isFull(store.pool)) stores.delete(storeId);
    }
  }

  return { take, look, goOnFrom, settle, sweep, size: () => sizeOf(stores) };
}

function sizeOf(stores: ReadonlyMap<string, StoreState>): ReturnType<Limiter["size"]> {
  const keys = [...stores.values()].flatMap((store) => [...store.keys.values()]);
  const sources = keys.reduce((sum, { claims }) => sum + (claims.public?.sources.size ?? 0), 0);
  return { stores: stores.size, keys: keys.length, sources };
}

function isIdle({ second, floor }: KeyState, nowMs: number): boolean {
  if (nowMs - second * 1000 < IDLE_AFTER_MS) return false;
  if (floor) fill(floor, nowMs);
  return !floor || isFull(floor);
}

function count(useLog: UseLog, storeId: string, key: KeyState, second: number): void {
  if (key.second !== second) {
    handOver(useLog, storeId, key);
    key.second = second;
    key.asked = 0;
    key.refused = 0;
    key.logged = { asked: 0, refused: 0 };
  }
  key.asked++;
}

function handOver(useLog: UseLog, storeId: string, key: KeyState): void {
  const { second, asked, refused, logged } = key;
  if (asked > logged.asked)
    useLog.add(storeId, key.id, second, asked - logged.asked, refused - logged.refused);
  key.logged = { asked, refused };
}

const sourceMemoryMs = (store: StoreState, key: KeyState): number =>
  memoryMs(store.pool.rate + (key.floor?.rate ?? 0));

/** Fast path: above the reserve, fairness changes nothing, so standings are not computed. */
function leavingOf(store: StoreState, key: KeyState, source: string | undefined, nowMs: number): Leaving {
  const { pool, most } = store;
  const { floor, claims } = key;
  const leave = { floor: 0, pool: reserveOf(pool.rate) };
  fill(pool, nowMs);
  const isPoolShort = pool.tokens < 1 + leave.pool;
  if (floor && source !== undefined) {
    fill(floor, nowMs);
    leave.floor = reserveOf(floor.rate);
  }
  const isFloorShort = leave.floor > 0 && floor !== undefined && floor.tokens < 1 + leave.floor;
  if (!isPoolShort && !isFloorShort) return leave;
  const ofSource = standingOfSource(claims, source, nowMs, sourceMemoryMs(store, key));
  if (isFloorShort) leave.floor = leaving(floor.rate, 1, ofSource);
  if (isPoolShort) {
    const ofDrawer = standing(drawerOf(claims, source), most, nowMs, memoryMs(pool.rate));
    leave.pool = leaving(pool.rate, ofDrawer, ofSource);
  }
  return leave;
}

function left(store: StoreState, key: KeyState, leave: Leaving, nowMs: number): Left {
  return {
    reserved: key.floor ? leftIn(key.floor, leave.floor, nowMs) : { quota: 0, left: 0 },
    shared: leftIn(store.pool, leave.pool, nowMs),
    asked: key.second === Math.floor(nowMs / 1000) ? key.asked : 0,
  };
}

function leftIn(bucket: Bucket, leaving: number, nowMs: number): { quota: number; left: number } {
  fill(bucket, nowMs);
  const left = Math.max(0, wholeTokens(bucket) - leaving);
  return { quota: bucket.rate, left: Math.min(bucket.rate, left) };
}

/** At least the end of the window that the policy names, one second; a minute if no token ever comes. */
function untilServed(store: StoreState, key: KeyState, leave: Leaving, administration: boolean): number {
  return Math.min(
    secondsUntilToken(store.pool, leave.pool) ?? 60,
    (key.floor && secondsUntilToken(key.floor, leave.floor)) ?? 60,
    administration ? (secondsUntilToken(store.administration) ?? 60) : 60,
  );
}
