import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashesEqual, hashSecret, isWellFormed, newCredential, type Prefix } from "./secrets.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The checksum is no secret, so a stranger can put a right one behind anything. */
function withChecksum(body: string): string {
  let [rest, text] = [crc32(body), ""];
  for (let i = 0; i < 6; i++) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return body + text;
}

describe.each<[Prefix, number]>([
  ["lkid", 22],
  ["lksk", 43],
  ["lkac", 43],
  ["lksl", 43],
])("%s", (prefix, randomLength) => {
  const length = 4 + 1 + randomLength + 6;
  const credential = fc.constant(null).map(() => newCredential(prefix));

  test("is its prefix, random letters and digits, and a checksum", () => {
    const text = newCredential(prefix);
    expect(text).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{${randomLength}}[0-9A-Za-z]{6}$`));
    expect(isWellFormed(prefix, text)).toBe(true);
  });

  test("is never made twice", () => {
    expect(new Set(Array.from({ length: 1000 }, () => newCredential(prefix))).size).toBe(1000);
  });

  test("is not valid as another kind of credential", () => {
    for (const other of (["lkid", "lksk", "lkac", "lksl"] as const).filter((one) => one !== prefix))
      expect(isWellFormed(other, newCredential(prefix))).toBe(false);
  });

  test("with any one character changed is refused", () => {
    const character = fc.oneof(
      fc.constantFrom(...ALPHABET),
      fc.string({ minLength: 1, maxLength: 1, unit: "binary" }),
    );
    fc.assert(
      fc.property(credential, fc.nat(length - 1), character, (text, at, changed) => {
        fc.pre(text[at] !== changed);
        expect(isWellFormed(prefix, text.slice(0, at) + changed + text.slice(at + 1))).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("with two adjacent characters swapped is refused", () => {
    fc.assert(
      fc.property(credential, fc.nat(length - 2), (text, at) => {
        fc.pre(text[at] !== text[at + 1]);
        const swapped = text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2);
        expect(isWellFormed(prefix, swapped)).toBe(false);
      }),
    );
  });

  test("cut off anywhere, at either end, is refused", () => {
    const text = newCredential(prefix);
    for (let at = 0; at < length; at++) {
      expect(isWellFormed(prefix, text.slice(0, at))).toBe(false);
      if (at > 0) expect(isWellFormed(prefix, text.slice(at))).toBe(false);
    }
  });

  test("with any text before, inside or after it is refused", () => {
    fc.assert(
      fc.property(
        credential,
        fc.nat(length),
        fc.string({ minLength: 1, unit: "binary" }),
        (text, at, more) => {
          expect(isWellFormed(prefix, text.slice(0, at) + more + text.slice(at))).toBe(false);
        },
      ),
    );
  });

  test("a credential of another length is refused, even with a right checksum", () => {
    for (let random = 0; random <= 64; random++) {
      const isRight = random === randomLength;
      expect(isWellFormed(prefix, withChecksum(`${prefix}_${"a".repeat(random)}`))).toBe(isRight);
    }
  });

  test("uses all letters and digits equally often", () => {
    const counts = new Map<string, number>();
    const made = 5000;
    for (let i = 0; i < made; i++) {
      for (const letter of newCredential(prefix).slice(5, 5 + randomLength)) {
        counts.set(letter, (counts.get(letter) ?? 0) + 1);
      }
    }
    const even = (made * randomLength) / ALPHABET.length;
    expect([...counts.keys()].sort().join("")).toBe(ALPHABET);
    for (const count of counts.values()) expect(Math.abs(count / even - 1)).toBeLessThan(0.15);
  });
});

test("a checksum that begins with zeros keeps its length", () => {
  // 2 ** 32 is less than five times 62 ** 5, so about one checksum in five begins with a zero.
  const made = Array.from({ length: 500 }, () => newCredential("lkid"));
  expect(made.some((text) => text.at(-6) === "0")).toBe(true);
  expect(made.every((text) => isWellFormed("lkid", text))).toBe(true);
});

test.each(["\0", " ", "'", "é", "%", "\n", "-"])(
  "a credential with %j in it was not made by us",
  (character) => {
    expect(isWellFormed("lkid", withChecksum(`lkid_${"a".repeat(21)}${character}`))).toBe(false);
  },
);

describe("hashes", () => {
  test("a secret is kept as its SHA-256 (FIPS 180-2, B.1)", () => {
    expect(hashSecret("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  test("two hashes are equal only if their secrets are", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (left, right) => {
        expect(hashesEqual(hashSecret(left), hashSecret(right))).toBe(left === right);
        expect(hashesEqual(hashSecret(left), hashSecret(left))).toBe(true);
      }),
    );
  });

  test("a hash with one changed digit is not equal", () => {
    const hash = hashSecret("secret");
    for (let at = 0; at < hash.length; at++) {
      const digit = hash[at] === "0" ? "1" : "0";
      expect(hashesEqual(hash, hash.slice(0, at) + digit + hash.slice(at + 1))).toBe(false);
    }
  });

  test.each([0, 2, 32, 62, 128])(
    "a hash of another length (%d digits) is not equal, and no exception is thrown",
    (digits) => {
      const hash = hashSecret("secret");
      const other = hash.repeat(2).slice(0, digits);
      expect(hashesEqual(hash, other)).toBe(false);
      expect(hashesEqual(other, hash)).toBe(false);
    },
  );

  test.each([
    ["zz", "yy"],
    ["abc", "ab"],
    ["", "not a hash"],
  ])("%j and %j are not hashes, so they are not equal", (left, right) => {
    expect(hashesEqual(left, right)).toBe(false);
  });
});
