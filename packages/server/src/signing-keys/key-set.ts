import type { KeyObject } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import type { SigningAlgorithm } from "../lib/jws.ts";
import type { Keyring } from "../lib/keyring.ts";
import { createSingleFlight } from "../lib/single-flight.ts";
import type { Storage } from "../storage/storage.ts";
import { afterOthers, insertKey, newKey, readKeys, type StoredKey } from "./key-rows.ts";

export type KeySetDeps = {
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  /** Tests replace it: an RSA key takes a tenth of a second to generate. */
  makeKey?: typeof newKey | undefined;
};

const RELOAD_MS = 60_000;
const LOOK_AGAIN_MS = 1000;

export const ofKind = (keys: readonly StoredKey[], wanted: SigningAlgorithm): StoredKey[] =>
  keys.filter(({ alg }) => alg === wanted);

/** The signing keys in memory: read once a minute, and again after any process has changed them. */
export class KeySet {
  readonly #deps: KeySetDeps;
  readonly #readOnce = createSingleFlight<StoredKey[]>();
  readonly #makeOnce = createSingleFlight<StoredKey[]>();
  #known: StoredKey[] = [];
  #unopened = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #changes = 0;

  constructor(deps: KeySetDeps) {
    this.#deps = deps;
    // Without a store id the change may be of the keys. A read that has begun before is not kept.
    deps.storage.changes.listen((storeId) => {
      if (storeId !== undefined) return;
      this.#changes++;
      this.#readAtMs = Number.NEGATIVE_INFINITY;
    });
  }

  /**
   * All keys that can be opened, in the order in which they sign. Makes the first ES256 key if there is none. While the
   * database does not answer, returns the keys of the last read.
   */
  async all(): Promise<StoredKey[]> {
    if (this.#known.length > 0 && this.#ageMs() < RELOAD_MS) return this.#known;
    try {
      const found = await this.#read();
      if (ofKind(found, "ES256").length > 0) return found;
      this.refuseUnopened();
      // Once for all that wait: each of them would hold a connection while it waits for the lock.
      return await this.makeFirst("ES256", async () => this.#deps.clock.now());
    } catch (error) {
      if (this.#known.length === 0) throw error;
      return this.#known;
    }
  }

  /** Call it after a key was made: a read that began before does not have the new key, and is not joined. */
  readAnew(): Promise<StoredKey[]> {
    this.#changes++;
    return this.#read();
  }

  #read(): Promise<StoredKey[]> {
    const before = this.#changes;
    return this.#readOnce(String(before), async () => {
      const { keys, unopened } = await readKeys(this.#deps);
      if (this.#changes !== before) return keys;
      this.#known = keys;
      this.#unopened = unopened;
      this.#readAtMs = this.#deps.clock.monotonicMs();
      return keys;
    });
  }

  #ageMs(): number {
    return this.#deps.clock.monotonicMs() - this.#readAtMs;
  }

  refuseUnopened(): void {
    if (this.#unopened === 0) return;
    throw new Error("a signing key is damaged, or was sealed with a master key that is not here");
  }

  /** An unknown id causes another read, but at most one a second. */
  async find(kid: string): Promise<KeyObject | undefined> {
    const keyIn = (keys: StoredKey[]) => keys.find((key) => key.kid === kid)?.publicKey;
    const found = keyIn(await this.all());
    if (found || this.#ageMs() < LOOK_AGAIN_MS) return found;
    return keyIn(await this.#read());
  }

  /** Once for all callers of this process. `signsFrom` returns undefined if there is a key already. */
  makeFirst(alg: SigningAlgorithm, signsFrom: () => Promise<number | undefined>): Promise<StoredKey[]> {
    return this.#makeOnce(alg, async () => {
      const from = await signsFrom();
      if (from === undefined) return this.#known;
      await this.add(alg, from, (newest) => newest === undefined);
      return this.readAnew();
    });
  }

  /** Generates the key before it takes the lock. `isWanted` decides under the lock, by the newest key's start. */
  async add(
    alg: SigningAlgorithm,
    signsFrom: number,
    isWanted: (newest: number | undefined) => boolean,
  ): Promise<void> {
    const made = await (this.#deps.makeKey ?? newKey)(alg);
    await afterOthers(this.#deps, alg, async (trx, newest) => {
      if (isWanted(newest)) await insertKey(trx, this.#deps, made, signsFrom);
    });
  }
}
