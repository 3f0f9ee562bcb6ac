import type { KeyObject } from "node:crypto";
import { type Jws, readJws, type Signer, type SigningAlgorithm } from "../lib/jws.ts";
import { createMemo } from "../lib/memo.ts";
import { deleteKeysBefore, PUBLISHED_BEFORE_MS, type PublishedKey, type StoredKey } from "./key-rows.ts";
import { KeySet, type KeySetDeps, ofKind } from "./key-set.ts";

type Deps = KeySetDeps & { customerTokenSeconds: number };

export const SIGNS_FOR_MS = 30 * 86_400_000;
const KEPT_AFTER_MS = 3_600_000;
const MAX_SIGNED = 10_000;

/**
 * The service's signing keys: ES256 for customer tokens, ES256 or RS256 for ID tokens. A new key is published ten
 * minutes before it signs, because verifiers may cache the key set for five minutes. An old key stays until the last
 * token that it signed has expired.
 */
export class SigningKeys {
  readonly #deps: Deps;
  readonly #keys: KeySet;
  readonly #signed = createMemo<{ jws: Jws; publicKey: KeyObject }>(MAX_SIGNED);

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#keys = new KeySet(deps);
  }

  /** For customer tokens. The first call makes the first key. */
  async current(): Promise<Signer> {
    const all = await this.#keys.all();
    // If another instance made the first key and its clock is ahead, the key may not sign yet by this clock.
    const key = this.#newestOf(all, "ES256") ?? ofKind(all, "ES256")[0];
    if (!key) throw new Error("there is no signing key");
    return key;
  }

  /** For ID tokens: a key of the wanted kind, or ES256 while there is no other. Never waits until a key is made. */
  async forIdTokens(alg: SigningAlgorithm): Promise<Signer> {
    return this.#newestOf(await this.#keys.all(), alg) ?? (await this.current());
  }

  #newestOf(keys: readonly StoredKey[], alg: SigningAlgorithm): StoredKey | undefined {
    return ofKind(keys, alg).findLast(({ signsFrom }) => signsFrom <= this.#deps.clock.now());
  }

  /** The content of a token that one of these keys has signed. Each signature is verified once. */
  async readSigned(text: string): Promise<Jws | undefined> {
    const known = this.#signed.get(text);
    // A remembered result is valid only while the key that verified it is still in the set.
    if (known && (await this.#keys.find(known.jws.kid)) === known.publicKey) return known.jws;
    const jws = readJws(text);
    const publicKey = jws && (await this.#keys.find(jws.kid));
    if (!publicKey || !jws.isSignedBy(publicKey)) return undefined;
    this.#signed.keep(text, { jws, publicKey });
    return jws;
  }

  /** Waits until there is a key of each kind, if one can be made: the reader may be about to verify an ID token. */
  async published(): Promise<PublishedKey[]> {
    const all = await this.#keys.all();
    const isComplete = ofKind(all, "RS256").length > 0;
    const keys = isComplete
      ? all
      : await this.prepare().then(
          () => this.#keys.all(),
          () => all,
        );
    return keys.map(({ jwk }) => jwk);
  }

  /** Makes the first RS256 key, if there is none. */
  async prepare(): Promise<void> {
    if (ofKind(await this.#keys.all(), "RS256").length > 0) return;
    await this.#keys.makeFirst("RS256", async () => {
      const all = await this.#keys.readAnew();
      if (ofKind(all, "RS256").length > 0) return undefined;
      const now = this.#deps.clock.now();
      // Verifiers may have cached a key set without this key, if another key has signed: then it signs later.
      const isNew = all.every(({ signsFrom }) => signsFrom > now - PUBLISHED_BEFORE_MS);
      return isNew ? now : now + PUBLISHED_BEFORE_MS;
    });
  }

  /** Makes the next keys when they are due, and deletes those that no valid token needs. */
  async maintain(): Promise<void> {
    await this.prepare();
    await this.#rotate("ES256");
    await this.#rotate("RS256");
    // The other keys still sign, so nothing else would report a key that cannot be opened.
    this.#keys.refuseUnopened();
  }

  /** Deletes the keys whose successor has signed for longer than a token is valid. */
  async #rotate(alg: SigningAlgorithm): Promise<void> {
    const newest = ofKind(await this.#keys.all(), alg).at(-1);
    const now = this.#deps.clock.now();
    if (!newest || newest.signsFrom > now) return;
    const isDue = (signsFrom: number) => signsFrom + SIGNS_FOR_MS - PUBLISHED_BEFORE_MS <= now;
    if (isDue(newest.signsFrom)) {
      await this.#keys.add(alg, now + PUBLISHED_BEFORE_MS, (last) => last !== undefined && isDue(last));
      await this.#keys.readAnew();
    }
    const keptMs = this.#deps.customerTokenSeconds * 1000 + KEPT_AFTER_MS;
    const successor = ofKind(await this.#keys.all(), alg).findLast(
      ({ signsFrom }) => signsFrom + keptMs <= now,
    );
    if (successor) await deleteKeysBefore(this.#deps.storage.db, alg, successor.signsFrom);
  }
}
