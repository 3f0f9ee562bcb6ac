import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { limits } from "../contract/limits.ts";
import { isId, newId } from "../lib/ids.ts";
import { createKeyring } from "../lib/keyring.ts";
import { seal } from "../lib/seal.ts";
import type { ProfileKey } from "../profiles/profile.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import {
  challengeOf,
  digest,
  idpSecretsOf,
  isDigest,
  isOver,
  openAttempt,
  type SignOnAttempt,
  sealAttempt,
} from "./attempt.ts";
import { newBrowserValue } from "./browser-tie.ts";

const master = (byte: number): Buffer => Buffer.alloc(32, byte);
const keyring = createKeyring([master(1)]);
const clock = handClock();
const place: ProfileKey = { storeId: newId(), realmId: newId(), profileId: newId() };

const newAttempt = (changes: Partial<SignOnAttempt> = {}): SignOnAttempt => ({
  id: newId(),
  startedAt: clock.now(),
  clientId: "customers",
  clientState: "the storefront's state",
  clientNonce: null,
  clientRedirectDigest: digest("https://shop.example/signed-in"),
  codeChallenge: challengeOf("v".repeat(43)),
  idpIssuer: "https://idp.example",
  browserDigest: digest(newBrowserValue()),
  ...changes,
});

const open = (idpState: string, at: ProfileKey = place, keys = keyring) => openAttempt(keys, at, idpState);

const anyId = fc.uuid().filter(isId);
/** Any text that a query can carry, without lone surrogates. */
const anyText = fc.string({ unit: "binary", maxLength: 300 });

describe("a sealed attempt", () => {
  test("opens to the same attempt, for any values of the storefront", () => {
    fc.assert(
      fc.property(anyText, fc.option(anyText), (clientState, clientNonce) => {
        const attempt = newAttempt({ clientState, clientNonce });
        expect(open(sealAttempt(keyring, place, attempt))).toEqual(attempt);
      }),
      { numRuns: 300 },
    );
  });

  test("needs no encoding in a query, and differs at each sealing", () => {
    const attempt = newAttempt({ clientState: "🔑&=#\r\n" });
    const sealed = Array.from({ length: 50 }, () => sealAttempt(keyring, place, attempt));
    for (const text of sealed) expect(text).toMatch(/^[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
    expect(new Set(sealed).size).toBe(50);
  });

  test("shows none of its values", () => {
    const attempt = newAttempt();
    const bytes = Buffer.from(sealAttempt(keyring, place, attempt).slice(9), "base64url");
    for (const part of [attempt.id, attempt.clientState, attempt.codeChallenge, attempt.browserDigest])
      expect(bytes.includes(part)).toBe(false);
  });

  test("is refused after any flipped bit of its bytes (N90)", () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (clientState, anyBit) => {
        const sealed = sealAttempt(keyring, place, newAttempt({ clientState }));
        const bytes = Buffer.from(sealed.slice(9), "base64url");
        const bit = anyBit % (bytes.length * 8);
        bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(open(`${sealed.slice(0, 9)}${bytes.toString("base64url")}`)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test("is refused after any flipped bit of its text (N90)", () => {
    const sealed = sealAttempt(keyring, place, newAttempt());
    const opened = Array.from({ length: sealed.length * 7 }, (_, bit) => {
      const at = Math.floor(bit / 7);
      const turned = String.fromCharCode(sealed.charCodeAt(at) ^ (1 << (bit % 7)));
      return sealed.slice(0, at) + turned + sealed.slice(at + 1);
    }).filter((text) => open(text) !== undefined);
    expect(opened).toEqual([]);
  });

  test("is refused when it is cut, extended or made up", () => {
    const sealed = sealAttempt(keyring, place, newAttempt());
    const changed = fc.oneof(
      fc.nat(sealed.length - 1).map((length) => sealed.slice(0, length)),
      fc.string({ minLength: 1, maxLength: 5 }).map((more) => sealed + more),
      fc.string({ minLength: 1, maxLength: 5 }).map((more) => more + sealed),
      fc.string({ unit: "binary", maxLength: 100 }),
      fc.constantFrom("", ".", "undefined", "null", sealed.slice(0, 9)),
    );
    fc.assert(
      fc.property(changed, (text) => {
        expect(open(text)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test("does not open under another store, realm or profile (N95)", () => {
    const sealed = sealAttempt(keyring, place, newAttempt());
    const other = fc
      .record({ storeId: anyId, realmId: anyId, profileId: anyId }, { requiredKeys: [] })
      .filter((changes) => Object.keys(changes).length > 0);
    fc.assert(
      fc.property(other, (changes) => {
        expect(open(sealed, { ...place, ...changes })).toBeUndefined();
      }),
    );
    const { storeId, realmId, profileId } = place;
    for (const swapped of [
      { storeId: realmId, realmId: storeId, profileId },
      { storeId, realmId: profileId, profileId: realmId },
      { storeId: profileId, realmId, profileId: storeId },
    ])
      expect(open(sealed, swapped)).toBeUndefined();
  });

  test("does not open text sealed for another purpose under the same path (R68)", () => {
    const context = `${place.storeId}/${place.realmId}/${place.profileId}`;
    const text = JSON.stringify(newAttempt());
    expect(open(seal(keyring, "sign-on-attempt", context, text))).toBeDefined();
    for (const purpose of ["client-secret", "idempotent-answer", "signing-key"] as const)
      expect(open(seal(keyring, purpose, context, text))).toBeUndefined();
  });

  test("opens only while its master key is in the list (T53)", () => {
    const sealed = sealAttempt(keyring, place, newAttempt());
    expect(open(sealed, place, createKeyring([master(2), master(1)]))).toBeDefined();
    expect(open(sealed, place, createKeyring([master(2)]))).toBeUndefined();
  });

  test("expires after ten minutes, to the millisecond (N100)", () => {
    const lifeMs = limits.attemptSeconds * 1000;
    expect(lifeMs).toBe(600_000);
    const ages = fc.oneof(fc.integer({ min: 0, max: 2 * lifeMs }), fc.constantFrom(lifeMs - 1, lifeMs));
    fc.assert(
      fc.property(ages, (ageMs) => {
        const attempt = newAttempt({ startedAt: clock.now() - ageMs });
        expect(isOver({ clock }, attempt, 0)).toBe(ageMs >= lifeMs);
      }),
    );
  });
});

describe("nonce and verifier of the second leg", () => {
  const secretsOf = (attempt: SignOnAttempt, keys = keyring) =>
    idpSecretsOf(keys, sealAttempt(keys, place, attempt), attempt.id);

  test("are the same on every instance and at every call", () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const sealed = sealAttempt(keyring, place, newAttempt({ id }));
        const secrets = idpSecretsOf(keyring, sealed, id);
        expect(idpSecretsOf(createKeyring([master(1)]), sealed, id)).toEqual(secrets);
        expect(idpSecretsOf(createKeyring([master(2), master(1)]), sealed, id)).toEqual(secrets);
      }),
    );
  });

  test("differ from one another and from one attempt to the next (R78)", () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyId, { minLength: 2, maxLength: 20 }), (ids) => {
        const values = ids.flatMap((id) => Object.values(secretsOf(newAttempt({ id }))));
        expect(new Set(values).size).toBe(ids.length * 2);
      }),
    );
  });

  test("cannot be made without the master key", () => {
    const attempt = newAttempt();
    const sealed = sealAttempt(keyring, place, attempt);
    const { idpNonce, idpVerifier } = idpSecretsOf(keyring, sealed, attempt.id);
    const elsewhere = Object.values(secretsOf(attempt, createKeyring([master(2)])));
    expect(elsewhere).not.toContain(idpNonce);
    expect(elsewhere).not.toContain(idpVerifier);
    expect(() => idpSecretsOf(createKeyring([master(2)]), sealed, attempt.id)).toThrow();
    for (const guess of [attempt.id, sealed, `idp-verifier${attempt.id}`])
      expect([idpNonce, idpVerifier]).not.toContain(digest(guess));
  });

  test("are long enough, and of the alphabet of RFC 7636 4.1 (R20)", () => {
    fc.assert(
      fc.property(anyId, (id) => {
        for (const value of Object.values(secretsOf(newAttempt({ id }))))
          expect(value).toMatch(/^[A-Za-z0-9\-._~]{43,128}$/);
      }),
    );
  });
});

describe("PKCE", () => {
  test("the challenge is the one of RFC 7636, appendix B (R21, R25)", () => {
    expect(challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).toBe(
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    );
  });

  test("the challenge is the unpadded hash of any verifier, and always 43 characters (R21)", () => {
    const unit = fc.constantFrom(..."ABCxyz0189-._~");
    fc.assert(
      fc.property(fc.string({ unit, minLength: 43, maxLength: 128 }), (verifier) => {
        const challenge = challengeOf(verifier);
        expect(challenge).toBe(createHash("sha256").update(verifier, "ascii").digest("base64url"));
        expect(isDigest(challenge)).toBe(true);
      }),
    );
  });

  const good = challengeOf("x".repeat(43));
  test.each([
    ["nothing", ""],
    ["42 characters", good.slice(1)],
    ["44 characters", `${good}A`],
    ["padding", `${good}=`],
    ["padding in place of a character", `${good.slice(1)}=`],
    ["a plus", `+${good.slice(1)}`],
    ["a slash", `/${good.slice(1)}`],
    ["a dot", `.${good.slice(1)}`],
    ["a space", ` ${good.slice(1)}`],
    ["a line break at its end", `${good}\n`],
    ["a line break in place of its end", `${good.slice(1)}\n`],
    ["two lines", `${good}\n${good}`],
    ["a letter that only looks like one", `А${good.slice(1)}`],
  ])("%s is no challenge (R22, T09)", (_, text) => {
    expect(isDigest(text)).toBe(false);
  });
});

describe("the reference", () => {
  test("is two groups of four characters that sound and look different", () => {
    fc.assert(
      fc.property(fc.oneof(anyId, anyText), (attemptId) => {
        const reference = referenceOf(attemptId);
        expect(reference).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
        expect(reference).not.toMatch(/[ILOU]/);
      }),
      { numRuns: 300 },
    );
  });

  test("is the same for the same attempt, in this version and the next", () => {
    const attemptId = "01980000-0000-7000-8000-000000000000";
    expect([referenceOf(attemptId), referenceOf(attemptId)]).toEqual(["3TAK-NJ60", "3TAK-NJ60"]);
  });

  test("differs between attempts", () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `attempt ${index}`);
    expect(new Set(ids.map(referenceOf)).size).toBe(ids.length);
  });

  test("uses every character about equally often", () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 4000; index++)
      for (const character of referenceOf(`attempt ${index}`).replace("-", ""))
        counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(32);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});
