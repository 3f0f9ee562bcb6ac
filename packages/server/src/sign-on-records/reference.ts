import { hash } from "node:crypto";

/** Letters and digits that sound and look different (Crockford's base 32). */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Eight characters for the telephone, made from the attempt's id. */
export function referenceOf(attemptId: string): string {
  const bytes = hash("sha256", `reference ${attemptId}`, "buffer");
  const letters = [...bytes.subarray(0, 8)].map((byte) => ALPHABET[byte % 32]).join("");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** The stored spelling of a reference. Case, spaces and dashes do not matter; I, L and O are read as digits. */
export function readReference(typed: string): string | undefined {
  const letters = typed
    .replaceAll(/[\s\p{Pd}._]/gu, "")
    .toUpperCase()
    .replaceAll(/[IL]/g, "1")
    .replaceAll("O", "0");
  const isOne = letters.length === 8 && [...letters].every((letter) => ALPHABET.includes(letter));
  return isOne ? `${letters.slice(0, 4)}-${letters.slice(4)}` : undefined;
}
