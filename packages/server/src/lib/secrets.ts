import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * Credentials look like `lksk_<43 random characters><6 characters of checksum>`. Secret scanners find a leaked one by
 * its prefix. The checksum tells a typing error from a wrong secret without the database.
 */
export type Prefix = "lkid" | "lksk" | "lkac" | "lksl";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECKSUM_LENGTH = 6;
const RANDOM_LENGTH = { lkid: 22, lksk: 43, lkac: 43, lksl: 43 } as const satisfies Record<Prefix, number>;

export function newCredential(prefix: Prefix): string {
  const body = `${prefix}_${randomText(RANDOM_LENGTH[prefix])}`;
  return body + checksum(body);
}

/** True when the text has the shape of a credential and its checksum is right. */
export function isWellFormed(prefix: Prefix, text: string): boolean {
  const length = prefix.length + 1 + RANDOM_LENGTH[prefix] + CHECKSUM_LENGTH;
  if (text.length !== length || !text.startsWith(`${prefix}_`) || !/^[0-9A-Za-z_]+$/.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === text.slice(-CHECKSUM_LENGTH);
}

/** Plain SHA-256 is enough for secrets of 256 random bits, which cannot be guessed. */
export const hashSecret = (secret: string): string => hash("sha256", secret);

export function hashesEqual(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte; bytes above it would favour the first letters.
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
