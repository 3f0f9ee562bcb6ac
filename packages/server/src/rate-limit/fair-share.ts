import { HAIR } from "./bucket.ts";

/**
 * Who goes first when a bucket is short. A bucket holds a second's worth and a reserve on top of it. Whoever has had the
 * most lately must leave all of the reserve behind; whoever has had half as much leaves half of it; who comes new may
 * take the last token. So a flood lives on what flows in above the reserve, those who ask for less find something there,
 * and one that asks alone is given all that flows in. Nobody has to be counted, and nothing is held back that would spill.
 */
export type Share = {
  /** What a claimant was given, as it was at `atMs`; it fades from then on. */
  had: number;
  atMs: number;
};

export const newShare = (): Share => ({ had: 0, atMs: Number.NEGATIVE_INFINITY });

/** What was given so long ago has no say any more: a claimant that was quiet for this long is like a new one. */
export const FORGOTTEN_AFTER_MS = 9_000;

/**
 * How long it takes what a claimant had to fade to a third (1/e): half a second, and the time in which the bucket gives
 * five, so that in a slow one more than the last claimant is remembered.
 */
export const memoryMs = (rate: number): number => 500 + 10_000 / Math.max(rate, 1);

function hadLately(share: Share, nowMs: number, memory: number): number {
  const sinceMs = nowMs - share.atMs;
  if (sinceMs >= FORGOTTEN_AFTER_MS) return 0;
  return sinceMs > 0 ? share.had * Math.exp(-sinceMs / memory) : share.had;
}

/** 0: has had nothing lately. 1: nobody among its rivals has had more. */
export function standing(share: Share, most: Share, nowMs: number, memory: number): number {
  const had = hadLately(share, nowMs, memory);
  return had === 0 ? 0 : Math.min(1, had / hadLately(most, nowMs, memory));
}

/** One more was given to this claimant. `most` is the largest share among its rivals, which fades as each of them does. */
export function give(share: Share, most: Share, nowMs: number, memory: number): void {
  share.had = hadLately(share, nowMs, memory) + 1;
  share.atMs = nowMs;
  most.had = Math.max(hadLately(most, nowMs, memory), share.had);
  most.atMs = nowMs;
}

/** Half of the reserve, in whole tokens, since only those can be left for somebody. */
const halfReserve = (rate: number): number => Math.ceil(rate / 10);

export const reserveOf = (rate: number): number => 2 * halfReserve(rate);

/** A second's worth and the reserve. */
export const capacityOf = (rate: number): number => rate + reserveOf(rate);

/**
 * What must be left in a bucket of this rate by a drawer (a key's program, or all of a key's public) of this standing.
 * A program leaves at most half of the reserve. So does a source of a public that has had nothing; the one that has had
 * the most of its public leaves twice as much, so that there is something for its other sources.
 *
 * Rounded to whole tokens, half a token down: `exp` differs in its last digit here and in limiter.lua, so a half is what is
 * within a hair of one.
 */
export const leaving = (rate: number, ofDrawer: number, ofSource: number): number =>
  Math.floor(halfReserve(rate) * ofDrawer * (1 + ofSource) + 0.5 - HAIR);
