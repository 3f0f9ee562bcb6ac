import type { Clock } from "../lib/clock.ts";
import { hashSecret } from "../lib/secrets.ts";
import {
  type Bucket,
  draw,
  fill,
  fullBucket,
  isFull,
  secondsUntilToken,
  wholeTokens,
} from "../rate-limit/bucket.ts";

/**
 * Slows down guessing of passwords. Only failures cost in the end, but every attempt pays in advance and a success gets
 * it back: otherwise a burst of guesses would all be let in while the first of them is still being checked. Every
 * bucket refills, so nobody is ever locked out for good.
 */
export type SignInThrottle = {
  /** Takes what the attempt costs. Where there is not enough: how many seconds to wait, and nothing was taken. */
  check(attempt: Attempt): number | undefined;
  succeeded(attempt: Attempt): void;
  /** Nobody came to know whether the password was right: what was taken is given back. */
  abandoned(attempt: Attempt): void;
  sweep(): void;
  size(): number;
};

export type Attempt = {
  storeId: string;
  emailKey: string;
  source: string;
  /** The store's own server, which signs in all of its shoppers from one address. */
  isBackOffice: boolean;
};

type Allowance = { perSecond: number; burst: number };

/** One source at one account: somebody who does not remember, or who guesses. */
export const PAIR: Allowance = { perSecond: 0.1, burst: 5 };
/** One source at all accounts of a store: many people behind one address, or a list of stolen passwords. */
export const SOURCE: Allowance = { perSecond: 5, burst: 100 };
/** One account from everywhere: guessing by a botnet. */
export const ACCOUNT: Allowance = { perSecond: 1, burst: 50 };

/**
 * How long a source that signed in to an account is spared what others do to that account: who guesses from everywhere
 * cannot keep the owner out.
 */
export const FAMILIAR_MS = 30 * 86_400_000;
const MAX_ENTRIES = 100_000;

type Buckets = { allowance: Allowance; byKey: Map<string, Bucket> };

export function createSignInThrottle({ clock }: { clock: Clock }): SignInThrottle {
  const pairs: Buckets = { allowance: PAIR, byKey: new Map() };
  const sources: Buckets = { allowance: SOURCE, byKey: new Map() };
  const accounts: Buckets = { allowance: ACCOUNT, byKey: new Map() };
  const signedInAtMs = new Map<string, number>();

  function isFamiliar(pair: string): boolean {
    const atMs = signedInAtMs.get(pair);
    return atMs !== undefined && clock.monotonicMs() - atMs < FAMILIAR_MS;
  }

  /** The buckets that an attempt draws from, each with the attempt's key in it. */
  function chargesOf({ storeId, emailKey, source, isBackOffice }: Attempt): [Buckets, string][] {
    const pair = keyOf(storeId, emailKey, source);
    const account: [Buckets, string] = [accounts, keyOf(storeId, emailKey)];
    // The back office signs all shoppers in from one address: a limit by source would lock them all out.
    if (isBackOffice) return [account];
    const own: [Buckets, string][] = [
      [pairs, pair],
      [sources, keyOf(storeId, source)],
    ];
    return isFamiliar(pair) ? own : [...own, account];
  }

  function giveBack(attempt: Attempt): void {
    for (const [{ byKey }, key] of chargesOf(attempt)) {
      const bucket = byKey.get(key);
      if (bucket) bucket.tokens = Math.min(bucket.capacity, bucket.tokens + 1);
    }
  }

  return {
    check(attempt) {
      const nowMs = clock.monotonicMs();
      const charges = chargesOf(attempt).map(([of, key]) => ({ of, key, bucket: lookUp(of, key, nowMs) }));
      const empty = charges.filter(({ bucket }) => wholeTokens(bucket) < 1);
      if (empty.length > 0) return Math.max(...empty.map(({ bucket }) => secondsUntilToken(bucket) ?? 1));
      for (const { of, key, bucket } of charges) {
        draw(bucket, nowMs);
        keep(of.byKey, key, bucket);
      }
      return undefined;
    },
    succeeded(attempt) {
      giveBack(attempt);
      const pair = keyOf(attempt.storeId, attempt.emailKey, attempt.source);
      pairs.byKey.delete(pair);
      keep(signedInAtMs, pair, clock.monotonicMs());
    },
    abandoned: giveBack,
    sweep() {
      const nowMs = clock.monotonicMs();
      for (const { byKey } of [pairs, sources, accounts]) {
        for (const [key, bucket] of byKey) {
          fill(bucket, nowMs);
          if (isFull(bucket)) byKey.delete(key);
        }
      }
      for (const pair of signedInAtMs.keys()) if (!isFamiliar(pair)) signedInAtMs.delete(pair);
    },
    size: () => pairs.byKey.size + sources.byKey.size + accounts.byKey.size + signedInAtMs.size,
  };
}

/** A new bucket is stored only when its attempt was let in: refused attempts must not evict others from a full map. */
function lookUp({ allowance, byKey }: Buckets, key: string, nowMs: number): Bucket {
  const bucket = byKey.get(key) ?? fullBucket(allowance.perSecond, allowance.burst, nowMs);
  fill(bucket, nowMs);
  return bucket;
}

/** Stores the entry as the newest; a full map first drops the one that was stored longest ago. */
function keep<T>(entries: Map<string, T>, key: string, value: T): void {
  entries.delete(key);
  if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
  entries.set(key, value);
}

/** Hashed: what was typed into a sign-in form may be long, or a password, and is not to stay in memory. */
const keyOf = (...parts: string[]): string => hashSecret(JSON.stringify(parts));
