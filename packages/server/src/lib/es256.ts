import { type KeyObject, sign, verify } from "node:crypto";

/**
 * ES256 signatures as JWS writes them: two numbers of 32 bytes (RFC 7518, section 3.4). Node reads and writes that form
 * only with an options object, for which it throws and catches two errors per call; that costs more than the signature.
 * So Node uses its own form, DER, and this file converts.
 */
const NUMBER_BYTES = 32;
const SEQUENCE = 0x30;
const INTEGER = 0x02;

export function signEs256(privateKey: KeyObject, data: Buffer): Buffer {
  const der = sign("sha256", data, privateKey);
  const signature = Buffer.alloc(2 * NUMBER_BYTES);
  const next = readInteger(der, 2, signature, NUMBER_BYTES);
  readInteger(der, next, signature, 2 * NUMBER_BYTES);
  return signature;
}

export function isEs256(publicKey: KeyObject, data: Buffer, signature: Buffer): boolean {
  if (signature.length !== 2 * NUMBER_BYTES) return false;
  const numbers = Buffer.concat([
    toInteger(signature.subarray(0, NUMBER_BYTES)),
    toInteger(signature.subarray(NUMBER_BYTES)),
  ]);
  return verify("sha256", data, publicKey, Buffer.concat([Buffer.of(SEQUENCE, numbers.length), numbers]));
}

/** Copies the number at `at` so that its last byte comes before `end`. Returns the position of the next number. */
function readInteger(der: Buffer, at: number, target: Buffer, end: number): number {
  const from = at + 2;
  const next = from + (der[at + 1] as number);
  // DER puts a zero before a number whose first bit is set, and leaves leading zeros out.
  const first = Math.max(from, next - NUMBER_BYTES);
  der.copy(target, end - (next - first), first, next);
  return next;
}

function toInteger(bytes: Buffer): Buffer {
  let from = 0;
  while (from < NUMBER_BYTES - 1 && bytes[from] === 0) from++;
  const isNegative = (bytes[from] as number) > 0x7f;
  const number = bytes.subarray(from);
  const head = isNegative ? [INTEGER, number.length + 1, 0] : [INTEGER, number.length];
  return Buffer.concat([Buffer.from(head), number]);
}
