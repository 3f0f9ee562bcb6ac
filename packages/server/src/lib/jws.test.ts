import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJws, type Signer, signJws } from "./jws.ts";

const newSigner = (kid = "ours"): Signer => ({
  kid,
  alg: "ES256",
  privateKey: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
});

const signer = newSigner();
const publicKey = createPublicKey(signer.privateKey);
const CLAIMS = { iss: "https://keys.example", sub: "ada", aud: "here", exp: 1_800_000_000, amr: ["fed"] };
const token = signJws(signer, "at+jwt", CLAIMS);
const [header = "", payload = "", signature = ""] = token.split(".");

const part = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const signed = (headerText: unknown, claims: unknown = CLAIMS, key = signer.privateKey): string => {
  const text = `${part(headerText)}.${part(claims)}`;
  const bytes = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
  return `${text}.${bytes.toString("base64url")}`;
};
const isGood = (text: string): boolean => readJws(text)?.isSignedBy(publicKey) ?? false;

describe("a token that Latchkey signs", () => {
  test("has the given claims, and its signature matches its key and no other", () => {
    const jws = readJws(token);
    expect(jws).toMatchObject({ kid: "ours", typ: "at+jwt", claims: CLAIMS });
    expect(jws?.isSignedBy(publicKey)).toBe(true);
    expect(jws?.isSignedBy(createPublicKey(newSigner().privateKey))).toBe(false);
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({
      alg: "ES256",
      typ: "at+jwt",
      kid: "ours",
    });
  });

  test("is read back with all its claims, whatever they are", () => {
    const claims = fc.dictionary(
      fc
        .stringMatching(/^[a-z_]{1,12}$/)
        .filter((name) => !["constructor", "prototype", "__proto__"].includes(name)),
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 })),
      { maxKeys: 6 },
    );
    fc.assert(
      fc.property(claims, fc.constantFrom("at+jwt", "JWT"), (given, typ) => {
        const jws = readJws(signJws(signer, typ, given));
        expect({ typ: jws?.typ, claims: { ...jws?.claims } }).toEqual({ typ, claims: { ...given } });
        expect(jws?.isSignedBy(publicKey)).toBe(true);
      }),
    );
  });

  test("names its kind, so that no kind passes for another (R58, R68)", () => {
    expect(readJws(signJws(signer, "JWT", CLAIMS))?.typ).toBe("JWT");
    expect(isGood(token.replace(header, part({ alg: "ES256", typ: "JWT", kid: "ours" })))).toBe(false);
  });
});

describe("a changed token is refused", () => {
  test("with any flipped bit", () => {
    for (let at = 0; at < token.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = String.fromCharCode(token.charCodeAt(at) ^ (1 << bit));
        expect(isGood(token.slice(0, at) + flipped + token.slice(at + 1)), `${at}.${bit}`).toBe(false);
      }
    }
  });

  test("with any character removed, added or doubled", () => {
    for (let at = 0; at < token.length; at++) {
      expect(isGood(token.slice(0, at) + token.slice(at + 1)), `without ${at}`).toBe(false);
      expect(isGood(`${token.slice(0, at)}A${token.slice(at)}`), `more at ${at}`).toBe(false);
    }
    expect(isGood(token + token.slice(-1))).toBe(false);
  });

  test("made of parts of two tokens", () => {
    const [otherHeader, otherPayload, otherSignature] = signJws(signer, "JWT", {
      ...CLAIMS,
      sub: "eve",
    }).split(".");
    for (const mixed of [
      [otherHeader, payload, signature],
      [header, otherPayload, signature],
      [header, payload, otherSignature],
      [header, otherPayload, otherSignature],
    ])
      expect(isGood(mixed.join("."))).toBe(false);
  });

  test("with a signature of zeros, cut short, too long, or in another encoding", () => {
    const der = sign("sha256", Buffer.from(`${header}.${payload}`), signer.privateKey);
    const plain = Buffer.from(signature, "base64url");
    for (const bytes of [
      Buffer.alloc(64),
      Buffer.alloc(64, 0xff),
      plain.subarray(0, 63),
      plain.subarray(0, 32),
      Buffer.concat([plain, Buffer.alloc(1)]),
      Buffer.concat([plain, plain]),
      der,
    ])
      expect(isGood(`${header}.${payload}.${bytes.toString("base64url")}`)).toBe(false);
  });
});

describe("the header decides nothing", () => {
  test.each([
    "none",
    "None",
    "",
    "HS256",
    "ES384",
    "ES512",
    "RS512",
    "PS256",
    "EdDSA",
    "es256",
    null,
    ["ES256"],
    1,
  ])("the algorithm %j is refused, with a valid ES256 signature too (R60, R62)", (alg) => {
    expect(readJws(signed({ alg, typ: "at+jwt", kid: "ours" }))).toBeUndefined();
  });

  test("an unsigned token is refused (R62)", () => {
    const unsigned = `${part({ alg: "none", typ: "at+jwt", kid: "ours" })}.${payload}`;
    for (const text of [unsigned, `${unsigned}.`, `${unsigned}.AA`, `${header}.${payload}.`])
      expect(isGood(text)).toBe(false);
  });

  test("HS256 with the public key as its secret is refused (A40)", () => {
    const text = `${part({ alg: "HS256", typ: "at+jwt", kid: "ours" })}.${payload}`;
    const spellings = [
      publicKey.export({ type: "spki", format: "pem" }),
      publicKey.export({ type: "spki", format: "der" }),
      JSON.stringify(publicKey.export({ format: "jwk" })),
    ];
    for (const secret of spellings) {
      const mac = createHmac("sha256", secret).update(text).digest("base64url");
      expect(isGood(`${text}.${mac}`)).toBe(false);
    }
  });

  test("a key in the header is ignored (A41)", () => {
    const evil = newSigner();
    const jwk = createPublicKey(evil.privateKey).export({ format: "jwk" });
    const forged = signed({ alg: "ES256", typ: "at+jwt", kid: "ours", jwk }, CLAIMS, evil.privateKey);
    expect(isGood(forged)).toBe(false);
  });

  test.each<[string, object]>([
    ["no type", { alg: "ES256", kid: "ours" }],
    ["a list as type", { alg: "ES256", typ: ["at+jwt"], kid: "ours" }],
    ["no key id", { alg: "ES256", typ: "at+jwt" }],
    ["a number as key id", { alg: "ES256", typ: "at+jwt", kid: 1 }],
    ["an extension that must be understood", { alg: "ES256", typ: "at+jwt", kid: "ours", crit: ["exp"] }],
    ["an empty list of such extensions", { alg: "ES256", typ: "at+jwt", kid: "ours", crit: [] }],
    ["null for such extensions", { alg: "ES256", typ: "at+jwt", kid: "ours", crit: null }],
  ])("%s is refused", (_, given) => {
    expect(readJws(signed(given))).toBeUndefined();
  });
});

describe("the form is one", () => {
  const GOOD = { alg: "ES256", typ: "at+jwt", kid: "ours" };

  test.each<[string, string]>([
    ["nothing", ""],
    ["two parts", `${header}.${payload}`],
    ["four parts", `${token}.AA`],
    ["five parts, as if encrypted", `${header}.AA.AA.AA.AA`],
    ["empty parts", ".."],
    ["a space in front", ` ${token}`],
    ["a line break behind", `${token}\n`],
    ["padding", `${token}==`],
    ["the alphabet with plus and slash", `${header}.${payload}.${"+/".repeat(43)}`],
    ["JSON serialization", JSON.stringify({ protected: header, payload, signature })],
    ["an access token", "lkat_0123456789abcdef"],
    ["a letter outside ASCII", `${token}é`],
  ])("%s is not a token (R69)", (_, text) => {
    expect(readJws(text)).toBeUndefined();
  });

  test("another spelling of the same bytes is refused: spare bits are zero", () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const next = letters[letters.indexOf(signature.slice(-1)) + 1] ?? "";
    const respelled = `${header}.${payload}.${signature.slice(0, -1)}${next}`;
    expect(Buffer.from(respelled.split(".")[2] ?? "", "base64url")).toEqual(
      Buffer.from(signature, "base64url"),
    );
    expect(readJws(respelled)).toBeUndefined();
  });

  test.each<[string, unknown, unknown]>([
    ["claims that are a list", GOOD, []],
    ["claims that are null", GOOD, "null"],
    ["claims that are a text", GOOD, '"text"'],
    ["claims that are no JSON", GOOD, "{"],
    ["a claim twice", GOOD, '{"sub":"ada","sub":"eve"}'],
    ["a claim called __proto__", GOOD, '{"__proto__":{"sub":"eve"}}'],
    ["claims that are nested deep", GOOD, '{"a":{"a":{"a":{"a":{}}}}}'],
    ["a mark in front of the claims", GOOD, '\uFEFF{"sub":"ada"}'],
    ["a header that is a list", [GOOD], CLAIMS],
    ["a header member twice", '{"alg":"none","alg":"ES256","typ":"at+jwt","kid":"ours"}', CLAIMS],
  ])("%s: refused, although the signature is valid (N39)", (_, headerText, claims) => {
    expect(readJws(signed(headerText, claims))).toBeUndefined();
  });

  test("a token has at most 4096 characters", () => {
    const texts = [2954, 2955].map((length) => signJws(signer, "at+jwt", { x: "x".repeat(length) }));
    expect(texts.map((text) => [text.length, readJws(text) !== undefined])).toEqual([
      [4096, true],
      [4097, false],
    ]);
  });

  test("claims may be nested four levels deep", () => {
    expect(readJws(signJws(signer, "JWT", { a: { a: { a: {} } } }))).toHaveProperty("claims.a.a.a", {});
  });

  test("spare bits are zero in header and claims too, although the signature covers them", () => {
    const respelled = (text: string) => {
      const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      return text.slice(0, -1) + letters[letters.indexOf(text.slice(-1)) + 1];
    };
    // As long as they are, their last characters have bits to spare.
    const [headerPart, claimsPart] = [part({ ...GOOD, x: "" }), part({ sub: "ada" })];
    for (const text of [`${respelled(headerPart)}.${claimsPart}`, `${headerPart}.${respelled(claimsPart)}`]) {
      const bytes = sign("sha256", Buffer.from(text), { key: signer.privateKey, dsaEncoding: "ieee-p1363" });
      expect(readJws(`${text}.${bytes.toString("base64url")}`)).toBeUndefined();
    }
  });

  test("no input makes it throw", () => {
    const anyText = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.array(fc.base64String({ maxLength: 60 }), { maxLength: 6 }).map((parts) => parts.join(".")),
      fc.tuple(fc.json(), fc.json()).map(([a, b]) => signed(a, b)),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        expect(() => readJws(text)?.isSignedBy(publicKey)).not.toThrow();
      }),
    );
  });
});

describe("RS256", () => {
  const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const rsa: Signer = { kid: "rsa", alg: "RS256", privateKey: pair.privateKey };

  test("signs and verifies; a key works only with the algorithm of its kind (R61)", () => {
    const token = signJws(rsa, "JWT", { sub: "ada" });
    expect(readJws(token)?.isSignedBy(pair.publicKey)).toBe(true);
    expect(readJws(token)?.isSignedBy(publicKey)).toBe(false);
    expect(() => signJws({ ...rsa, alg: "ES256" }, "JWT", {})).toThrow("the key rsa is none for ES256");
    const [header, claims] = ['{"alg":"ES256","typ":"JWT","kid":"rsa"}', '{"sub":"ada"}'].map((part) =>
      Buffer.from(part).toString("base64url"),
    );
    const signature = sign("sha256", Buffer.from(`${header}.${claims}`), pair.privateKey);
    const confused = `${header}.${claims}.${signature.toString("base64url")}`;
    expect(readJws(confused)?.isSignedBy(pair.publicKey)).toBe(false);
    expect(readJws(signJws(signer, "JWT", {}))?.isSignedBy(pair.publicKey)).toBe(false);
  });

  test("a signature by an EC key under an RS256 header is refused (R61)", () => {
    const [header, claims] = ['{"alg":"RS256","typ":"JWT","kid":"ours"}', '{"sub":"ada"}'].map(part);
    const der = sign("sha256", Buffer.from(`${header}.${claims}`), signer.privateKey);
    expect(readJws(`${header}.${claims}.${der.toString("base64url")}`)?.isSignedBy(publicKey)).toBe(false);
  });
});
