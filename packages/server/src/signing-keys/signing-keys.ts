import type { KeyObject } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { type Jws, readJws, type Signer, type SigningAlgorithm } from "../lib/jws.ts";
import type { Keyring } from "../lib/keyring.ts";
import { createMemo } from "../lib/memo.ts";
import { createSingleFlight } from "../lib/single-flight.ts";
import type { Storage } from "../storage/storage.ts";
import {
  afterOthers,
  deleteKeysBefore,
  insertKey,
  type Key,
  newKey,
  PUBLISHED_BEFORE_MS,
  type PublishedKey,
  readKeys,
} from "./key-rows.ts";

/**
 * The keys that we sign with: ES256 for customer tokens, either kind for ID tokens. A new one is published before it signs, so
 * that whoever keeps our key set for five minutes knows it in time; an old one stays until the last token it signed has expired.
 */
export type SigningKeys = {
  /** For customer tokens. The first one is made when it is first asked for. */
  current(): Promise<Signer>;
  /** For ID tokens: of the kind that is asked for, or of ES256 while there is no other. Waits for no key to be made. */
  forIdTokens(alg: SigningAlgorithm): Promise<Signer>;
  /** What a token says, if one of these keys has signed it. A signature that was seen before is not checked again. */
  readSigned(text: string): Promise<Jws | undefined>;
  /** Whoever reads it may be about to check an ID token: they wait until there is a key of each kind, if one can be made. */
  published(): Promise<PublishedKey[]>;
  /** Makes the first key of RS256, where there is none: at the start, and for whoever reads what we publish. */
  prepare(): Promise<void>;
  /** Makes the next keys when they are due, and drops those that are over. */
  maintain(): Promise<void>;
};

type Deps = {
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  customerTokenSeconds: number;
  /** Stands in for the making of a key: an RSA key takes a tenth of a second. */
  makeKey?: typeof newKey | undefined;
};

const RELOAD_MS = 60_000;
const LOOK_AGAIN_MS = 1000;
export const SIGNS_FOR_MS = 30 * 86_400_000;
const KEPT_AFTER_MS = 3_600_000;
const MAX_SIGNED = 10_000;

export function createSigningKeys(deps: Deps): SigningKeys {
  const { clock, makeKey = newKey } = deps;
  const signed = createMemo<{ jws: Jws; publicKey: KeyObject }>(MAX_SIGNED);
  const once = createSingleFlight<Key[]>();
  const makingFirst = createSingleFlight<void>();
  const ofKind = (all: readonly Key[], wanted: SigningAlgorithm) => all.filter(({ alg }) => alg === wanted);
  let known: Key[] = [];
  let unopened = 0;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let changes = 0;
  // Of any store: a key may have been removed. What was asked for before that is answered, but not kept.
  deps.storage.changes.listen((storeId) => {
    if (storeId !== undefined) return;
    changes++;
    readAtMs = Number.NEGATIVE_INFINITY;
  });

  function read(): Promise<Key[]> {
    const before = changes;
    return once(String(before), async () => {
      const { keys: found, unopened: others } = await readKeys(deps);
      if (changes !== before) return found;
      known = found;
      unopened = others;
      readAtMs = clock.monotonicMs();
      return found;
    });
  }

  /** After a key was made: a read that was begun before that does not have it, so that this one does not join it. */
  function readAnew(): Promise<Key[]> {
    changes++;
    return read();
  }

  /** While the database cannot be read, the keys that were read last stay in use. One that cannot be opened is passed over. */
  async function keys(): Promise<Key[]> {
    if (known.length > 0 && clock.monotonicMs() - readAtMs < RELOAD_MS) return known;
    try {
      const found = await read();
      if (ofKind(found, "ES256").length > 0) return found;
      refuseUnopened();
      // Once for all who wait: each of them would hold a connection in the queue for the lock.
      await makingFirst("ES256", () => addFirst("ES256", clock.now()));
      return await readAnew();
    } catch (error) {
      if (known.length === 0) throw error;
      return known;
    }
  }

  function refuseUnopened(): void {
    if (unopened === 0) return;
    throw new Error("a signing key is damaged, or was sealed with a master key that is not here");
  }

  /** Generates a key before it takes the lock. Of several instances the first to get the lock stores its key; the others drop theirs. */
  async function addFirst(alg: SigningAlgorithm, signsFrom: number): Promise<void> {
    const made = await makeKey(alg);
    await afterOthers(deps, alg, async (trx, newest) => {
      if (newest === undefined) await insertKey(trx, deps, made, signsFrom);
    });
  }

  async function prepare(): Promise<void> {
    if (ofKind(await keys(), "RS256").length > 0) return;
    await makingFirst("RS256", async () => {
      const all = await readAnew();
      if (ofKind(all, "RS256").length > 0) return;
      const now = clock.now();
      // If another key has signed for a while, verifiers may have a cached key set without this one: it signs ten minutes later.
      const isNew = all.every(({ signsFrom }) => signsFrom > now - PUBLISHED_BEFORE_MS);
      await addFirst("RS256", isNew ? now : now + PUBLISHED_BEFORE_MS);
      await readAnew();
    });
  }

  const newestOf = (all: readonly Key[], alg: SigningAlgorithm): Key | undefined =>
    ofKind(all, alg)
      .filter(({ signsFrom }) => signsFrom <= clock.now())
      .at(-1);

  async function current(): Promise<Key> {
    const all = await keys();
    // The first key may have been made by an instance whose clock is a little ahead of ours.
    const key = newestOf(all, "ES256") ?? ofKind(all, "ES256")[0];
    if (!key) throw new Error("there is no signing key");
    return key;
  }

  /** The next key of a kind when it is due; and those are dropped whose successor has signed for longer than a token lives. */
  async function rotate(alg: SigningAlgorithm): Promise<void> {
    const newest = ofKind(await keys(), alg).at(-1);
    const now = clock.now();
    if (!newest || newest.signsFrom > now) return;
    const isDue = (signsFrom: number) => signsFrom + SIGNS_FOR_MS - PUBLISHED_BEFORE_MS <= now;
    if (isDue(newest.signsFrom)) {
      const made = await makeKey(alg);
      await afterOthers(deps, alg, async (trx, last) => {
        if (last !== undefined && isDue(last)) await insertKey(trx, deps, made, now + PUBLISHED_BEFORE_MS);
      });
      await readAnew();
    }
    const keptMs = deps.customerTokenSeconds * 1000 + KEPT_AFTER_MS;
    const successor = ofKind(await keys(), alg)
      .filter(({ signsFrom }) => signsFrom + keptMs <= now)
      .at(-1);
    if (successor) await deleteKeysBefore(deps.storage.db, alg, successor.signsFrom);
  }

  async function find(kid: string): Promise<KeyObject | undefined> {
    const of = (all: Key[]) => all.find((key) => key.kid === kid)?.publicKey;
    const found = of(await keys());
    if (found || clock.monotonicMs() - readAtMs < LOOK_AGAIN_MS) return found;
    return of(await read());
  }

  return {
    current,
    forIdTokens: async (alg) => newestOf(await keys(), alg) ?? (await current()),
    async readSigned(text) {
      const known = signed.get(text);
      // A remembered verdict holds only while the key that it was checked with is still in the set.
      if (known && (await find(known.jws.kid)) === known.publicKey) return known.jws;
      const jws = readJws(text);
      const publicKey = jws && (await find(jws.kid));
      if (!publicKey || !jws.isSignedBy(publicKey)) return undefined;
      signed.keep(text, { jws, publicKey });
      return jws;
    },
    async published() {
      const all = await keys();
      const isWhole = ofKind(all, "RS256").length > 0;
      const then = isWhole ? all : await prepare().then(keys, () => all);
      return then.map(({ jwk }) => jwk);
    },
    prepare,
    async maintain() {
      await prepare();
      await rotate("ES256");
      await rotate("RS256");
      // The others are in use, so that nobody else would notice.
      refuseUnopened();
    },
  };
}
