import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createKeyring } from "./keyring.ts";
import { isSealedEmpty, keyIdOfSealed, reseal, seal, unseal } from "./seal.ts";

const master = (byte: number): Buffer => Buffer.alloc(32, byte);
const keyring = createKeyring([master(1)]);
const CONTEXT = "profile-1";
const sealed = (text = "a secret") => seal(keyring, "client-secret", CONTEXT, text);
const open = (text: string) => unseal(keyring, "client-secret", CONTEXT, text);
/** Any characters at all, but whole ones. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .map((point) => String.fromCodePoint(point))
  .filter((character) => character.isWellFormed());

const anyText = fc.string({ unit: anyCharacter, maxLength: 300 });

describe("a sealed text", () => {
  test("opens to the original text", () => {
    fc.assert(
      fc.property(anyText, anyText, (text, context) => {
        expect(unseal(keyring, "client-secret", context, seal(keyring, "client-secret", context, text))).toBe(
          text,
        );
      }),
      { numRuns: 300 },
    );
  });

  test("is never the same twice", () => {
    expect(new Set(Array.from({ length: 100 }, () => sealed())).size).toBe(100);
  });

  test("shows nothing of the text but its length", () => {
    const text = "a secret that is long enough to be found";
    const bytes = Buffer.from(sealed(text).slice(9), "base64url");
    expect(bytes.includes(text.slice(0, 4))).toBe(false);
    expect(bytes).toHaveLength(12 + 16 + text.length);
  });

  test("is ASCII without characters that need an encoding", () => {
    expect(sealed("🔑")).toMatch(/^[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
  });

  test("has the id of the master key that sealed it", () => {
    expect(keyIdOfSealed(sealed())).toBe(keyring.current("client-secret").keyId.toString("hex"));
  });
});

describe("a text is not opened", () => {
  test("when any bit of its nonce, tag or content was flipped", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, minLength: 1, maxLength: 50 }),
        fc.nat(),
        (text, anyBit) => {
          const made = sealed(text);
          const bytes = Buffer.from(made.slice(9), "base64url");
          const bit = anyBit % (bytes.length * 8);
          bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
          expect(open(`${made.slice(0, 9)}${bytes.toString("base64url")}`)).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });

  test("when any bit of its written form was flipped", () => {
    const made = sealed();
    const opened = Array.from({ length: made.length * 7 }, (_, bit) => {
      const at = Math.floor(bit / 7);
      const turned = String.fromCharCode(made.charCodeAt(at) ^ (1 << (bit % 7)));
      return made.slice(0, at) + turned + made.slice(at + 1);
    }).filter((text) => open(text) !== undefined);
    expect(opened).toEqual([]);
  });

  test.each([
    ["a space at its end", (text: string) => `${text} `],
    ["padding at its end", (text: string) => `${text}==`],
    ["a line break inside", (text: string) => `${text.slice(0, 20)}\n${text.slice(20)}`],
    ["its key id in capitals", (text: string) => text.slice(0, 8).toUpperCase() + text.slice(8)],
    ["another sign behind its key id", (text: string) => `${text.slice(0, 8)}:${text.slice(9)}`],
  ])("when it has %s", (_, change) => {
    const made = sealed();
    expect(change(made)).not.toBe(made);
    expect(open(change(made))).toBeUndefined();
  });

  test.each([1, 2, 3])(
    "when its last character is another with the same bytes: a text of %d characters",
    (length) => {
      const made = seal(keyring, "client-secret", CONTEXT, "x".repeat(length));
      const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const opened = Array.from(letters, (letter) => made.slice(0, -1) + letter).filter(
        (text) => open(text) !== undefined,
      );
      expect(opened).toEqual([made]);
    },
  );

  test("when any part of its end is missing", () => {
    const made = sealed();
    const opened = Array.from({ length: made.length }, (_, length) => open(made.slice(0, length)));
    expect(opened.filter((text) => text !== undefined)).toEqual([]);
  });

  test("for another purpose", () => {
    expect(unseal(keyring, "access-token", CONTEXT, sealed())).toBeUndefined();
  });

  test.each(["profile-2", "", "PROFILE-1", "profile-1 ", "profile-1\x00"])(
    "in another context: %j",
    (context) => {
      expect(unseal(keyring, "client-secret", context, sealed())).toBeUndefined();
    },
  );

  test("with another keyring", () => {
    const made = seal(createKeyring([master(2)]), "client-secret", CONTEXT, "a secret");
    expect(open(made)).toBeUndefined();
  });

  test("when it carries the id of a key that did not seal it", () => {
    const both = createKeyring([master(2), master(1)]);
    const made = seal(both, "client-secret", CONTEXT, "a secret");
    const swapped = keyIdOfSealed(sealed()) + made.slice(8);
    expect(unseal(both, "client-secret", CONTEXT, made)).toBe("a secret");
    expect(unseal(both, "client-secret", CONTEXT, swapped)).toBeUndefined();
  });

  test("when it is garbage; no exception is thrown", () => {
    const keyId = keyIdOfSealed(sealed());
    const garbage = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: anyCharacter }).map((text) => `${keyId}.${text}`),
      fc.uint8Array({ maxLength: 80 }).map((bytes) => `${keyId}.${Buffer.from(bytes).toString("base64url")}`),
      fc.constantFrom("", ".", keyId, `${keyId}.`, "........", "\ud800".repeat(60)),
    );
    fc.assert(
      fc.property(garbage, (text) => {
        expect(open(text)).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });
});

describe("when the master key changes", () => {
  const made = sealed();

  test("the old key opens as long as it is in the list, and the new key seals", () => {
    const both = createKeyring([master(2), master(1)]);
    expect(unseal(both, "client-secret", CONTEXT, made)).toBe("a secret");
    const anew = seal(both, "client-secret", CONTEXT, "a secret");
    expect(keyIdOfSealed(anew)).not.toBe(keyIdOfSealed(made));
    expect(unseal(createKeyring([master(2)]), "client-secret", CONTEXT, anew)).toBe("a secret");
  });

  test("the old key opens nothing after its removal", () => {
    expect(unseal(createKeyring([master(2)]), "client-secret", CONTEXT, made)).toBeUndefined();
  });

  test("text sealed with the old key is sealed with the new key, an empty text too; text sealed with the new key stays", () => {
    const both = createKeyring([master(2), master(1)]);
    for (const text of ["a secret", ""]) {
      const anew = reseal(both, "client-secret", CONTEXT, sealed(text), "it");
      expect(unseal(createKeyring([master(2)]), "client-secret", CONTEXT, anew)).toBe(text);
      expect(reseal(both, "client-secret", CONTEXT, anew, "it")).toBe(anew);
    }
  });

  test("a text that no key opens is reported and kept", () => {
    const strangers = createKeyring([master(2), master(3)]);
    expect(() => reseal(strangers, "client-secret", CONTEXT, made, "the secret of a profile")).toThrow(
      "the secret of a profile cannot be opened with these master keys",
    );
  });
});

test("whether a text is empty is seen without opening it", () => {
  expect(["", "x", "a secret"].map((text) => isSealedEmpty(sealed(text)))).toEqual([true, false, false]);
});
