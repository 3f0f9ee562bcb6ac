import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { KEY_ID_BYTES, type Keyring, type Purpose } from "./keyring.ts";
import { operatorFault } from "./operator-fault.ts";

/**
 * Encrypts text that the service must read again. AES-256-GCM with a key per purpose, bound to its context, so a sealed
 * text copied to another row does not open there.
 *
 *     <master key's id, hex> . base64url( nonce 12 | tag 16 | text )
 */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function seal(keyring: Keyring, purpose: Purpose, context: string, text: string): string {
  const { keyId, key } = keyring.current(purpose);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return `${keyId.toString("hex")}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")}`;
}

/** The text; undefined when it was not sealed for this purpose and context with a configured key. */
export function unseal(
  keyring: Keyring,
  purpose: Purpose,
  context: string,
  sealed: string,
): string | undefined {
  const key = keyring.find(purpose, Buffer.from(keyIdOfSealed(sealed), "hex"));
  const bytes = Buffer.from(sealed.slice(KEY_ID_BYTES * 2 + 1), "base64url");
  // The decoders skip unknown characters and spare bits, so only text that encodes back to itself is accepted.
  const spelled = `${keyIdOfSealed(sealed).toLowerCase()}.${bytes.toString("base64url")}`;
  if (!key || spelled !== sealed || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([
      decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
      decipher.final(),
    ]).toString("utf8");
  } catch {
    return undefined;
  }
}

/** Seals with the first master key, unless that key has sealed the text already. `what`: its name in the error. */
export function reseal(
  keyring: Keyring,
  purpose: Purpose,
  context: string,
  sealed: string,
  what: string,
): string {
  if (keyIdOfSealed(sealed) === keyring.current(purpose).keyId.toString("hex")) return sealed;
  const text = unseal(keyring, purpose, context, sealed);
  if (text === undefined) throw operatorFault(`${what} cannot be opened with these master keys`);
  return seal(keyring, purpose, context, text);
}

/** The id of the master key of a sealed text, without opening it. */
export const keyIdOfSealed = (sealed: string): string => sealed.slice(0, KEY_ID_BYTES * 2);

/** Whether the sealed text is empty, without opening it: this cipher does not change a text's length. */
export const isSealedEmpty = (sealed: string): boolean =>
  Buffer.from(sealed.slice(KEY_ID_BYTES * 2 + 1), "base64url").length <= NONCE_BYTES + TAG_BYTES;
