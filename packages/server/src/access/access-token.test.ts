import { createHmac, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newId } from "../lib/ids.ts";
import { createKeyring, type Keyring } from "../lib/keyring.ts";
import { type AccessToken, readAccessToken, writeAccessToken } from "./access-token.ts";

const keyring = createKeyring([randomBytes(32)]);
const TOKEN: AccessToken = {
  grant: "implicit",
  storeId: newId(),
  holderId: newId(),
  tokenId: newId(),
  issuedAt: 1_767_225_600_000,
  expiresAt: 1_767_229_200_000,
};
const written = writeAccessToken(keyring, TOKEN);
const PREFIX = "lkat_";
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const read = (text: string) => readAccessToken(keyring, text);
const bytesOf = (text: string) => Buffer.from(text.slice(PREFIX.length), "base64url");

/** The bytes with a correct HMAC after them, which only the holder of the key can compute. */
function marked(bytes: Buffer, by: Keyring = keyring): string {
  const body = bytes.subarray(0, -32);
  const mac = createHmac("sha256", by.current("access-token").key).update(body).digest();
  return PREFIX + Buffer.concat([body, mac]).toString("base64url");
}

describe("an access token", () => {
  test("contains the data that it was written with, for every grant", () => {
    expect(read(written)).toEqual(TOKEN);
    for (const grant of ["client_credentials", "member"] as const) {
      const other = { ...TOKEN, grant };
      expect(read(writeAccessToken(keyring, other))).toEqual(other);
    }
  });

  test("is refused in a non-canonical base64url spelling", () => {
    const spare = Array.from(LETTERS, (letter) => written.slice(0, -1) + letter).filter(
      (text) => text !== written && bytesOf(text).equals(bytesOf(written)),
    );
    expect(spare).toHaveLength(15);
    const plain = `${PREFIX}${bytesOf(written).toString("base64")}`;
    const respelled = [
      ...spare,
      plain,
      plain.replaceAll("=", ""),
      `${written}=`,
      `${written}==`,
      `${written} `,
      `${written}\n`,
      `${written.slice(0, 40)}\n${written.slice(40)}`,
      `${written.slice(0, -1)}=${written.slice(-1)}`,
      written.replace(PREFIX, "LKAT_"),
    ].filter((text) => text !== written);
    expect(respelled.filter((text) => read(text) !== undefined)).toEqual([]);
  });

  test("is refused with any bit of its text changed", () => {
    for (let at = 0; at < written.length; at++) {
      for (let bit = 0; bit < 7; bit++) {
        const turned = String.fromCharCode(written.charCodeAt(at) ^ (1 << bit));
        expect(read(written.slice(0, at) + turned + written.slice(at + 1)), `${at}.${bit}`).toBeUndefined();
      }
    }
  });

  test("is refused if it is too short, too long, or has no prefix", () => {
    for (let length = 0; length < written.length; length++)
      expect(read(written.slice(0, length)), String(length)).toBeUndefined();
    for (const text of [`${written}A`, written.slice(PREFIX.length), `lkac_${written.slice(PREFIX.length)}`])
      expect(read(text)).toBeUndefined();
  });

  test("is refused if its HMAC comes from another master key or another purpose", () => {
    const other = createKeyring([randomBytes(32)]);
    expect(readAccessToken(other, written)).toBeUndefined();
    // The id of the right key, and the HMAC of another key.
    expect(read(marked(bytesOf(written), other))).toBeUndefined();
    const { key } = keyring.current("idempotent-answer");
    const body = bytesOf(written).subarray(0, -32);
    const mac = createHmac("sha256", key).update(body).digest();
    expect(read(PREFIX + Buffer.concat([body, mac]).toString("base64url"))).toBeUndefined();
  });

  test("is refused with a correct HMAC but an unknown version or grant", () => {
    const changed = (at: number, value: number) => {
      const bytes = bytesOf(written);
      bytes[at] = value;
      return marked(bytes);
    };
    expect(read(changed(0, 1))).toEqual(TOKEN);
    for (const version of [0, 2, 255]) expect(read(changed(0, version))).toBeUndefined();
    for (const grant of [3, 255]) expect(read(changed(5, grant))).toBeUndefined();
  });

  test("is refused without an exception for any other text", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc
            .uint8Array({ minLength: 94, maxLength: 94 })
            .map((b) => PREFIX + Buffer.from(b).toString("base64url")),
        ),
        (text) => {
          expect(read(text)).toBeUndefined();
        },
      ),
      { numRuns: 50 },
    );
  });
});
