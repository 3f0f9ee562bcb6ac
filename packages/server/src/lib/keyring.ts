import { createHash, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";

/**
 * The master keys, in the operator's order: the first makes new things, all of them open old ones. Each use gets a key
 * of its own, derived from the master key and the purpose, so that nothing made for one purpose passes for another.
 */
export type Keyring = {
  /** The id and the derived key that make new things. */
  current(purpose: Purpose): { keyId: Buffer; key: KeyObject };
  /** The derived key of an older thing, or undefined when its master key is not here. */
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

/** Names a master key without telling anything of it. */
function keyIdOf(masterKey: Buffer): Buffer {
  return createHash("sha256").update("latchkey key id").update(masterKey).digest().subarray(0, KEY_ID_BYTES);
}
