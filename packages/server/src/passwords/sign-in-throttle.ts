import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSecret } from "../lib/secrets.ts";
import {
  type Bucket,
  draw,
  fill,
  fullBucket,
  isFull,
  resize,
  secondsUntilToken,
  wholeTokens,
} from "../rate-limit/bucket.ts";
import { bucketScript } from "../rate-limit/bucket-script.ts";

/**
 * Slows down guessing of passwords. Only failures cost in the end, but every attempt pays in advance and a success gets
 * it back: otherwise a burst of guesses would all be let in while the first of them is still being checked. Every
 * bucket refills, so nobody is ever locked out for good.
 *
 * Where there is Valkey it decides, so that all instances count together; while it is away each gives its part, at least one
 * attempt. What Valkey lets in is drawn from this instance's part as well, and what that has left stands in for buckets that
 * Valkey has lost. A familiar source that is lost counts as any other until it has signed in again.
 */
export type SignInThrottle = {
  /** Takes what the attempt costs. Where there is not enough: how many seconds to wait, and nothing was taken. */
  check(attempt: Attempt): Promise<number | undefined>;
  succeeded(attempt: Attempt): Promise<void>;
  /** Nobody came to know whether the password was right: what was taken is given back. */
  abandoned(attempt: Attempt): Promise<void>;
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
/** Of each kind: in this process over all stores; of familiar sources in Valkey, of each store. */
const MAX_ENTRIES = 100_000;

type Counters = Pick<Valkey, "run" | "instances">;
type Deps = { clock: Clock; valkey?: Counters | undefined };

export function createSignInThrottle({ clock, valkey }: Deps): SignInThrottle {
  const alone = createAlone(clock, () => valkey?.instances() ?? 1);
  const { sweep, size } = alone;
  if (!valkey)
    return {
      check: async (attempt) => alone.check(attempt),
      succeeded: async (attempt) => alone.succeeded(attempt),
      abandoned: async (attempt) => alone.abandoned(attempt),
      sweep,
      size,
    };

  const ask = (step: string, attempt: Attempt): Promise<unknown> => {
    const { pair, source, account } = namesOf(attempt);
    const item = [step, attempt.isBackOffice ? 1 : 0, pair, source, account, ...alone.mostOf(attempt)];
    return valkey.run(scriptOf(), attempt.storeId, item);
  };
  return {
    async check(attempt) {
      const wait = await ask("check", attempt);
      if (wait === undefined) return alone.check(attempt);
      if (wait !== 0) return wait as number;
      alone.charge(attempt);
      return undefined;
    },
    async succeeded(attempt) {
      alone.succeeded(attempt);
      await ask("succeeded", attempt);
    },
    async abandoned(attempt) {
      alone.abandoned(attempt);
      await ask("abandoned", attempt);
    },
    sweep,
    size,
  };
}

const lua = ({ perSecond, burst }: Allowance): string => `{ rate = ${perSecond}, burst = ${burst} }`;
const scriptOf = bucketScript(
  new URL("sign-in-throttle.lua", import.meta.url),
  `local PAIR, SOURCE, ACCOUNT = ${lua(PAIR)}, ${lua(SOURCE)}, ${lua(ACCOUNT)}
local FAMILIAR, MAX_FAMILIAR = ${FAMILIAR_MS}, ${MAX_ENTRIES}`,
);

type Buckets = { allowance: Allowance; byKey: Map<string, Bucket> };

/** What this process counts by itself: all of every allowance, or one of several parts. */
function createAlone(clock: Clock, partsOf: () => number) {
  const pairs: Buckets = { allowance: PAIR, byKey: new Map() };
  const sources: Buckets = { allowance: SOURCE, byKey: new Map() };
  const accounts: Buckets = { allowance: ACCOUNT, byKey: new Map() };
  const signedInAtMs = new Map<string, number>();

  function isFamiliar(pair: string): boolean {
    const atMs = signedInAtMs.get(pair);
    return atMs !== undefined && clock.monotonicMs() - atMs < FAMILIAR_MS;
  }

  /** The buckets that an attempt draws from, each with the attempt's key in it. */
  function chargesOf(attempt: Attempt): [Buckets, string][] {
    const { pair, source, account } = namesOf(attempt);
    // The back office signs all shoppers in from one address: a limit by source would lock them all out.
    if (attempt.isBackOffice) return [[accounts, account]];
    const own: [Buckets, string][] = [
      [pairs, pair],
      [sources, source],
    ];
    return isFamiliar(pair) ? own : [...own, [accounts, account]];
  }

  function giveBack(attempt: Attempt): void {
    for (const [{ byKey }, key] of chargesOf(attempt)) {
      const bucket = byKey.get(key);
      if (bucket) bucket.tokens = Math.min(bucket.capacity, bucket.tokens + 1);
    }
  }

  const lookUpAll = (attempt: Attempt, nowMs: number) =>
    chargesOf(attempt).map(([of, key]) => ({ of, key, bucket: lookUp(of, key, nowMs, partsOf()) }));

  return {
    check(attempt: Attempt): number | undefined {
      const nowMs = clock.monotonicMs();
      const charges = lookUpAll(attempt, nowMs);
      const empty = charges.filter(({ bucket }) => wholeTokens(bucket) < 1);
      if (empty.length > 0) return Math.max(...empty.map(({ bucket }) => secondsUntilToken(bucket) ?? 1));
      for (const { of, key, bucket } of charges) {
        draw(bucket, nowMs);
        keep(of.byKey, key, bucket);
      }
      return undefined;
    },
    /** For an attempt that was let in elsewhere: takes what there is. */
    charge(attempt: Attempt): void {
      const nowMs = clock.monotonicMs();
      for (const { of, key, bucket } of lookUpAll(attempt, nowMs)) {
        if (!draw(bucket, nowMs)) bucket.tokens = 0;
        keep(of.byKey, key, bucket);
      }
    },
    succeeded(attempt: Attempt): void {
      giveBack(attempt);
      const { pair } = namesOf(attempt);
      pairs.byKey.delete(pair);
      keep(signedInAtMs, pair, clock.monotonicMs());
    },
    abandoned: giveBack,
    /** What there is for pair, source and account, if all instances have had as much as this one. */
    mostOf(attempt: Attempt): number[] {
      const { pair, source, account } = namesOf(attempt);
      const [nowMs, parts] = [clock.monotonicMs(), partsOf()];
      const most = (of: Buckets, key: string) => lookUp(of, key, nowMs, parts).tokens * parts;
      return [most(pairs, pair), most(sources, source), most(accounts, account)];
    },
    sweep(): void {
      const nowMs = clock.monotonicMs();
      for (const { byKey } of [pairs, sources, accounts]) {
        for (const [key, bucket] of byKey) {
          fill(bucket, nowMs);
          if (isFull(bucket)) byKey.delete(key);
        }
      }
      for (const pair of signedInAtMs.keys()) if (!isFamiliar(pair)) signedInAtMs.delete(pair);
    },
    size: (): number => pairs.byKey.size + sources.byKey.size + accounts.byKey.size + signedInAtMs.size,
  };
}

/** A new bucket is stored only when its attempt was let in: refused attempts must not evict others from a full map. */
function lookUp({ allowance, byKey }: Buckets, key: string, nowMs: number, parts: number): Bucket {
  const rate = allowance.perSecond / parts;
  const capacity = Math.max(1, allowance.burst / parts);
  const bucket = byKey.get(key) ?? fullBucket(rate, capacity, nowMs);
  fill(bucket, nowMs);
  if (bucket.rate !== rate) resize(bucket, rate, capacity);
  return bucket;
}

/** Stores the entry as the newest; a full map first drops the one that was stored longest ago. */
function keep<T>(entries: Map<string, T>, key: string, value: T): void {
  entries.delete(key);
  if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
  entries.set(key, value);
}

/** Hashed: what was typed into a sign-in form may be long, or a password, and is not to stay in any memory. */
const namesOf = ({ storeId, emailKey, source }: Attempt) => ({
  pair: nameOf(storeId, emailKey, source),
  source: nameOf(storeId, source),
  account: nameOf(storeId, emailKey),
});

/** 128 bits: no two meet by chance, and there may be many of them. */
const nameOf = (...parts: string[]): string => hashSecret(JSON.stringify(parts)).slice(0, 32);
