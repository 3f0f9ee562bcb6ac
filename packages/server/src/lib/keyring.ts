import { createHash, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";

/**
 * The master keys in the operator's order. The first one seals and signs new values; all of them open old ones. Each
 * purpose has a key derived from the master key, so a value made for one purpose is invalid for another.
 */
export type Keyring = {
  /** For new values: the first master key's id, and the key derived from it. */
  current(purpose: Purpose): { keyId: Buffer; key: KeyObject };
  /** For old values: the key derived from the master key with this id; undefined when it is not configured. */
  find(purpose: Purpose, keyId: Buffer): KeyObject | undefined;
};

export type Purpose =
  | "access-token"
  | "client-secret"
  | "signing-key"
  | "sign-on-attempt"
  | "sign-out"
  | "idp-nonce"
  | "idp-verifier"
  | "idempotent-answer"
  | "webhook-secret"
  | "email-digest"
  | "test-sign-on"
  | "test-sign-on-attempt";

export const KEY_ID_BYTES = 4;

export function createKeyring(masterKeys: readonly Buffer[]): Keyring {
  const all = masterKeys.map(
    (masterKey): MasterKey => ({ masterKey, keyId: keyIdOf(masterKey), derived: new Map() }),
  );
  const [first] = all;
  if (!first) throw new Error("a keyring needs at least one master key");

  return {
    current: (purpose) => ({ keyId: first.keyId, key: derive(first, purpose) }),
    find(purpose, keyId) {
      const known = all.find((candidate) => candidate.keyId.equals(keyId));
      return known && derive(known, purpose);
    },
  };
}

type MasterKey = { masterKey: Buffer; keyId: Buffer; derived: Map<Purpose, KeyObject> };

function derive({ masterKey, derived }: MasterKey, purpose: Purpose): KeyObject {
  const known = derived.get(purpose);
  if (known) return known;
  const key = createSecretKey(Buffer.from(hkdfSync("sha256", masterKey, "latchkey", purpose, 32)));
  derived.set(purpose, key);
  return key;
}

/** The first bytes of a hash: they identify a master key and reveal nothing about it. */
function keyIdOf(masterKey: Buffer): Buffer {
  return createHash("sha256").update("latchkey key id").update(masterKey).digest().subarray(0, KEY_ID_BYTES);
}
