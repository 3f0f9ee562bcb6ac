import { HAIR } from "./bucket.ts";

/**
 * Decides who goes first when a bucket is short. A bucket holds a second's worth and a reserve on top. The claimant
 * that was given the most lately must leave the whole reserve; a claimant with half as much leaves half of it; a new
 * claimant may take the last token. So a flood lives on the inflow above the reserve, others find tokens in the
 * reserve, and a claimant that is alone gets the whole inflow. The rule does not need the number of claimants, and
 * holds back no token that a full bucket would lose.
 */
export type Share = {
  /** The tokens that a claimant was given, as of `atMs`. The value fades from then on. */
  had: number;
  atMs: number;
};

export const newShare = (): Share => ({ had: 0, atMs: Number.NEGATIVE_INFINITY });

/** After this time nothing is left of a share, and the claimant counts as new. */
export const FORGOTTEN_AFTER_MS = 9_000;

/**
 * The time in which a share fades to a third (1/e): half a second, plus the time in which the bucket gives five tokens,
 * so that a slow bucket remembers more than its last claimant.
 */
export const memoryMs = (rate: number): number => 500 + 10_000 / Math.max(rate, 1);

function hadLately(share: Share, nowMs: number, memory: number): number {
  const sinceMs = nowMs - share.atMs;
  if (sinceMs >= FORGOTTEN_AFTER_MS) return 0;
  return sinceMs > 0 ? share.had * Math.exp(-sinceMs / memory) : share.had;
}

/** 0: was given nothing lately. 1: no rival was given more. */
export function standing(share: Share, most: Share, nowMs: number, memory: number): number {
  const had = hadLately(share, nowMs, memory);
  return had === 0 ? 0 : Math.min(1, had / hadLately(most, nowMs, memory));
}

/** One more token for this claimant. `most` is the largest share among its rivals, and fades as their shares do. */
export function give(share: Share, most: Share, nowMs: number, memory: number): void {
  share.had = hadLately(share, nowMs, memory) + 1;
  share.atMs = nowMs;
  most.had = Math.max(hadLately(most, nowMs, memory), share.had);
  most.atMs = nowMs;
}

/** Half of the reserve in whole tokens, because only whole tokens can be left. */
const halfReserve = (rate: number): number => Math.ceil(rate / 10);

export const reserveOf = (rate: number): number => 2 * halfReserve(rate);

/** A second's worth and the reserve. */
export const capacityOf = (rate: number): number => rate + reserveOf(rate);

/**
 * How many tokens a claimant must leave in a bucket of this rate; `ofDrawer` is the standing of the key's program or of
 * all its public. A program leaves at most half of the reserve. A public source leaves at most half too; but the source
 * that was served most lately leaves twice as much, so that tokens remain for the other sources.
 *
 * Rounded to whole tokens, half a token down. `exp` differs in its last digit between here and limiter.lua, so values
 * within a small distance of a half count as a half.
 */
export const leaving = (rate: number, ofDrawer: number, ofSource: number): number =>
  Math.floor(halfReserve(rate) * ofDrawer * (1 + ofSource) + 0.5 - HAIR);
