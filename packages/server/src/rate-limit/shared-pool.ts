import { type Bucket, draw, fill, fullBucket, isFull, resize, wholeTokens } from "./bucket.ts";

/**
 * What a store's keys share. Four fifths are open: first come, first served. One fifth is dealt to keys in turn, so that
 * one key's flood leaves something for the others: while n keys draw on a pool of P, none that asks at least twice a second
 * is refused for longer than 10n/P seconds on end.
 */
export type SharedPool = {
  rate: number;
  open: Bucket;
  dealt: Bucket;
  /** How many keys drew in the second `second`, and in the one before. */
  second: number;
  drawing: number;
  drewBefore: number;
};

/** What the pool remembers of a key. */
export type Turn = { dealtAtMs: number; drewInSecond: number };

const DEALT_SHARE = 0.2;

export const newTurn = (): Turn => ({ dealtAtMs: Number.NEGATIVE_INFINITY, drewInSecond: -1 });

export const newPool = (rate: number, nowMs: number): SharedPool => ({
  rate,
  open: fullBucket(...openSize(rate), nowMs),
  dealt: fullBucket(...dealtSize(rate), nowMs),
  second: 0,
  drawing: 0,
  drewBefore: 0,
});

export function resizePool(pool: SharedPool, rate: number, nowMs: number): void {
  if (pool.rate === rate) return;
  fillPool(pool, nowMs);
  pool.rate = rate;
  resize(pool.open, ...openSize(rate));
  resize(pool.dealt, ...dealtSize(rate));
}

export function fillPool(pool: SharedPool, nowMs: number): void {
  fill(pool.open, nowMs);
  fill(pool.dealt, nowMs);
}

export const isPoolFull = (pool: SharedPool): boolean => isFull(pool.open) && isFull(pool.dealt);

/** Never more than the pool gives in a second. */
export const leftInPool = (pool: SharedPool): number =>
  Math.min(pool.rate, wholeTokens(pool.open) + wholeTokens(pool.dealt));

export function drawFromPool(pool: SharedPool, key: Turn, nowMs: number): boolean {
  if (pool.rate === 0) return false;
  const keys = countDrawing(pool, key, Math.floor(nowMs / 1000));
  if (draw(pool.open, nowMs)) return true;
  fill(pool.dealt, nowMs);
  const turnEveryMs = (keys * 1000) / pool.dealt.rate;
  const isItsTurn = nowMs - key.dealtAtMs >= turnEveryMs;
  // A full bucket would spill what comes next, so that much is anybody's; and a key that is alone leaves one for a
  // newcomer and may have the rest.
  const isSpare = isFull(pool.dealt) || (keys === 1 && wholeTokens(pool.dealt) >= 2);
  if (!isItsTurn && !isSpare) return false;
  if (!draw(pool.dealt, nowMs)) return false;
  key.dealtAtMs = nowMs;
  return true;
}

/** How many keys draw at the moment, counted by whole seconds. */
function countDrawing(pool: SharedPool, key: Turn, second: number): number {
  if (pool.second !== second) {
    pool.drewBefore = second - pool.second === 1 ? pool.drawing : 0;
    pool.drawing = 0;
    pool.second = second;
  }
  if (key.drewInSecond !== second) {
    key.drewInSecond = second;
    pool.drawing++;
  }
  return Math.max(pool.drawing, pool.drewBefore);
}

const openSize = (pool: number): [number, number] => {
  const rate = pool * (1 - DEALT_SHARE);
  return [rate, pool === 0 ? 0 : Math.max(1, rate)];
};

const dealtSize = (pool: number): [number, number] => {
  const rate = pool * DEALT_SHARE;
  // One more than a second's worth: the one for a newcomer.
  return [rate, pool === 0 ? 0 : Math.max(2, rate + 1)];
};
