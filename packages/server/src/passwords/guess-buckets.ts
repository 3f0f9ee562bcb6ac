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

export type SignInAttempt = {
  storeId: string;
  emailKey: string;
  source: string;
  /** The store's own server signs in all of its shoppers from one address. */
  isBackOffice: boolean;
};

export type GuessRate = { perSecond: number; burst: number };

/** A source at an account: a forgotten password, or a guess. */
export const PAIR: GuessRate = { perSecond: 0.1, burst: 5 };
/** A source at all accounts of a store: many people behind one address, or a list of stolen passwords. */
export const SOURCE: GuessRate = { perSecond: 5, burst: 100 };
/** All sources at an account: guesses by a botnet. */
export const ACCOUNT: GuessRate = { perSecond: 1, burst: 50 };

/**
 * How long a source that has signed in to an account is exempt from ACCOUNT there. So guesses from other sources cannot
 * keep the owner out.
 */
export const FAMILIAR_MS = 30 * 86_400_000;
/** The bound of each kind of entry: in this process over all stores; of familiar sources in Valkey for each store. */
export const MAX_ENTRIES = 100_000;

type GuessBuckets = { limit: GuessRate; byKey: Map<string, Bucket> };
type GuessKind = keyof ReturnType<typeof namesOf>;

/** The buckets of this process. With several instances, each process has its part of every rate and burst. */
export class OwnGuesses {
  readonly #clock: Clock;
  readonly #partsOf: () => number;
  readonly #buckets: Record<GuessKind, GuessBuckets> = {
    pair: { limit: PAIR, byKey: new Map() },
    source: { limit: SOURCE, byKey: new Map() },
    account: { limit: ACCOUNT, byKey: new Map() },
  };
  readonly #signedInAtMs = new Map<string, number>();

  constructor(clock: Clock, partsOf: () => number) {
    this.#clock = clock;
    this.#partsOf = partsOf;
  }

  /** Draws from every bucket of the attempt. If one is empty, draws from none and returns the seconds to wait. */
  check(attempt: SignInAttempt): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const charges = this.#chargesOf(attempt, nowMs);
    const empty = charges.filter(({ bucket }) => wholeTokens(bucket) < 1);
    if (empty.length > 0) return Math.max(...empty.map(({ bucket }) => secondsUntilToken(bucket) ?? 1));
    for (const { of, key, bucket } of charges) {
      draw(bucket, nowMs);
      keep(of.byKey, key, bucket);
    }
    return undefined;
  }

  /** For an attempt that Valkey has let in: draws what there is. */
  charge(attempt: SignInAttempt): void {
    const nowMs = this.#clock.monotonicMs();
    for (const { of, key, bucket } of this.#chargesOf(attempt, nowMs)) {
      if (!draw(bucket, nowMs)) bucket.tokens = 0;
      keep(of.byKey, key, bucket);
    }
  }

  succeeded(attempt: SignInAttempt): void {
    this.refund(attempt);
    const { pair } = namesOf(attempt);
    this.#buckets.pair.byKey.delete(pair);
    keep(this.#signedInAtMs, pair, this.#clock.monotonicMs());
  }

  refund(attempt: SignInAttempt): void {
    for (const [{ byKey }, key] of this.#keysOf(attempt)) {
      const bucket = byKey.get(key);
      if (bucket) bucket.tokens = Math.min(bucket.capacity, bucket.tokens + 1);
    }
  }

  /** The tokens that pair, source and account can have left, if every instance has used as much as this one. */
  mostOf(attempt: SignInAttempt): number[] {
    const names = namesOf(attempt);
    const nowMs = this.#clock.monotonicMs();
    const mostOf = (kind: GuessKind) =>
      this.#lookUp(this.#buckets[kind], names[kind], nowMs).tokens * this.#partsOf();
    return [mostOf("pair"), mostOf("source"), mostOf("account")];
  }

  sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const { byKey } of Object.values(this.#buckets)) {
      for (const [key, bucket] of byKey) {
        fill(bucket, nowMs);
        if (isFull(bucket)) byKey.delete(key);
      }
    }
    for (const pair of this.#signedInAtMs.keys())
      if (!this.#isFamiliar(pair)) this.#signedInAtMs.delete(pair);
  }

  size(): number {
    return Object.values(this.#buckets).reduce((sum, { byKey }) => sum + byKey.size, this.#signedInAtMs.size);
  }

  #isFamiliar(pair: string): boolean {
    const atMs = this.#signedInAtMs.get(pair);
    return atMs !== undefined && this.#clock.monotonicMs() - atMs < FAMILIAR_MS;
  }

  /** The kinds of bucket that an attempt draws from, each with the attempt's key in it. */
  #keysOf(attempt: SignInAttempt): [GuessBuckets, string][] {
    const names = namesOf(attempt);
    // The back office signs all shoppers in from one address: a limit by source would lock them all out.
    const kinds: GuessKind[] = attempt.isBackOffice ? [] : ["pair", "source"];
    if (attempt.isBackOffice || !this.#isFamiliar(names.pair)) kinds.push("account");
    return kinds.map((kind) => [this.#buckets[kind], names[kind]]);
  }

  #chargesOf(attempt: SignInAttempt, nowMs: number) {
    return this.#keysOf(attempt).map(([of, key]) => ({ of, key, bucket: this.#lookUp(of, key, nowMs) }));
  }

  /**
   * `check` stores a new bucket only if it lets the attempt in: refused attempts must not evict other entries from a
   * full map.
   */
  #lookUp({ limit, byKey }: GuessBuckets, key: string, nowMs: number): Bucket {
    const parts = this.#partsOf();
    const rate = limit.perSecond / parts;
    const capacity = Math.max(1, limit.burst / parts);
    const bucket = byKey.get(key) ?? fullBucket(rate, capacity, nowMs);
    fill(bucket, nowMs);
    if (bucket.rate !== rate) resize(bucket, rate, capacity);
    return bucket;
  }
}

/** Stores the entry as the newest. A full map first drops its oldest entry. */
function keep<T>(entries: Map<string, T>, key: string, value: T): void {
  entries.delete(key);
  if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
  entries.set(key, value);
}

/**
 * Hashed, because the text of a sign-in form can be long, or a password typed into the wrong field, and must not stay
 * in memory.
 */
export const namesOf = ({ storeId, emailKey, source }: SignInAttempt) => ({
  pair: nameOf(storeId, emailKey, source),
  source: nameOf(storeId, source),
  account: nameOf(storeId, emailKey),
});

/** 128 bits: short, and no two names are equal by chance. */
const nameOf = (...parts: string[]): string => hashSecret(JSON.stringify(parts)).slice(0, 32);
