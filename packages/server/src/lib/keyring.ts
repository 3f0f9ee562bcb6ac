import { createHash, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";

/**
 * The master keys, in the operator's order: the first one seals and signs new values, any of them can open old ones. Each
 * purpose has a key of its own, derived from the master key, so that nothing made for one purpose passes for another.
 */
export type Keyring = {
  /** For new values: the first master key's id, and the key derived from it. */
  current(purpose: Purpose): { keyId: Buffer; key: KeyObject };
  /** For old values: the key derived from the master key with this id, or undefined when that one is not configured. */
  find(purpose: Purpose, keyId: Buffer): KeyObject | undefined;
};

export type Purpose =
  | "access-token"
  | "client-secret"
  | "signing-key"
  | "sign-on-attempt"
  | "idp-nonce"
  | "idp-verifier"
  | "idempotent-answer";

export const KEY_ID_BYTES = 4;

export function createKeyring(masterKeys: readonly Buffer[]): Keyring {
  const [first] = masterKeys;
  if (!first) throw new Error("a keyring needs at least one master key");
  const derived = new Map<string, KeyObject>();

  function derive(purpose: Purpose, masterKey: Buffer): KeyObject {
    const name = `${purpose}:${keyIdOf(masterKey).toString("hex")}`;
    let key = derived.get(name);
    if (!key) {
      key = createSecretKey(Buffer.from(hkdfSync("sha256", masterKey, "latchkey", purpose, 32)));
      derived.set(name, key);
    }
    return key;
  }

  return {
    current: (purpose) => ({ keyId: keyIdOf(first), key: derive(purpose, first) }),
    find(purpose, keyId) {
      const masterKey = masterKeys.find((candidate) => keyIdOf(candidate).equals(keyId));
      return masterKey && derive(purpose, masterKey);
    },
  };
}

/** The first bytes of a hash: they tell master keys apart and give nothing of them away. */
function keyIdOf(masterKey: Buffer): Buffer {
  return createHash("sha256").update("latchkey key id").update(masterKey).digest().subarray(0, KEY_ID_BYTES);
}
