import { createHash } from "node:crypto";

/** Letters and digits that cannot be mistaken for one another when they are read out (Crockford's base 32). */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** What a shopper can read out over the telephone: eight characters, made from the attempt's id. */
export function referenceOf(attemptId: string): string {
  const bytes = createHash("sha256").update(`reference ${attemptId}`).digest();
  const letters = [...bytes.subarray(0, 8)].map((byte) => ALPHABET[byte % 32]).join("");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/**
 * As we write it, whatever it was typed like: in lower case, with spaces or without the dash, and with the letters that Crockford's
 * base 32 leaves out because they look like others. What has not eight characters is left alone.
 */
export function spellReference(typed: string): string {
  const plain = typed.toUpperCase().replaceAll(/[^0-9A-Z]/g, "");
  const letters = plain.replaceAll("O", "0").replaceAll(/[IL]/g, "1").replaceAll("U", "V");
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : typed.toUpperCase();
}
