import { generateKeyPairSync, type JsonWebKey, sign, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { limits } from "../contract/limits.ts";
import { isSignedBy, readKeys, selectKey } from "./keys.ts";

const rsaPair = generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsa = rsaPair.publicKey.export({ format: "jwk" });
const otherRsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
const rsaOf = (modulusLength: number, publicExponent = 65_537) =>
  generateKeyPairSync("rsa", { modulusLength, publicExponent }).publicKey.export({ format: "jwk" });
const fromHex = (hex: string) => Buffer.from(hex, "hex").toString("base64url");
const curve = (namedCurve: string) =>
  generateKeyPairSync("ec", { namedCurve }).publicKey.export({ format: "jwk" });
const p256 = curve("P-256");
const ed25519 = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
const x25519 = generateKeyPairSync("x25519").publicKey.export({ format: "jwk" });
const ed448 = generateKeyPairSync("ed448").publicKey.export({ format: "jwk" });

const padded = (jwk: JsonWebKey) => ({
  ...jwk,
  n: Buffer.concat([Buffer.alloc(1), Buffer.from(jwk.n ?? "", "base64url")]).toString("base64url"),
});

type Jwk = JsonWebKey & Record<string, unknown>;
const read = (...keys: unknown[]) => readKeys({ keys }) ?? [];

describe("a key set", () => {
  test.each([
    ["no member keys", {}],
    ["an object as keys", { keys: { 0: rsa, length: 1 } }],
    ["a text as keys", { keys: "keys" }],
    ["null as keys", { keys: null }],
    ["one key in place of the list", { ...rsa }],
    ["more keys than we read", { keys: Array(limits.keys + 1).fill(rsa) }],
  ])("with %s is refused", (_, document) => {
    expect(readKeys(document)).toBeUndefined();
  });

  test("may be empty", () => {
    expect(readKeys({ keys: [] })).toEqual([]);
  });

  test("may have as many keys as the limit", () => {
    expect(readKeys({ keys: Array(limits.keys).fill(p256) })).toHaveLength(limits.keys);
  });
});

describe("a usable key", () => {
  test.each<[string, Jwk, string[]]>([
    ["RSA", rsa, ["RS256", "PS256"]],
    ["RSA bound to RS256", { ...rsa, alg: "RS256" }, ["RS256"]],
    ["RSA bound to PS256", { ...rsa, alg: "PS256" }, ["PS256"]],
    ["P-256", p256, ["ES256"]],
    ["P-256 bound to ES256", { ...p256, alg: "ES256" }, ["ES256"]],
    ["Ed25519", ed25519, ["EdDSA", "Ed25519"]],
    ["Ed25519 bound to EdDSA", { ...ed25519, alg: "EdDSA" }, ["EdDSA"]],
    ["RSA with an exponent above 65537", { ...rsa, e: fromHex("010003") }, ["RS256", "PS256"]],
    ["RSA of 8192 bits", { ...rsa, n: fromHex("ff".repeat(1024)) }, ["RS256", "PS256"]],
    ["for signatures", { ...rsa, use: "sig" }, ["RS256", "PS256"]],
    ["for signatures by key_ops", { ...rsa, key_ops: ["verify"] }, ["RS256", "PS256"]],
    ["with members that we do not know", { ...p256, x5c: ["!"], x5u: "http://127.0.0.1/", a: {} }, ["ES256"]],
  ])("goes with the algorithms of its kind: %s", (_, jwk, algorithms) => {
    const keys = read({ ...jwk, kid: "a" });
    expect(keys.map(({ kid, algorithms }) => ({ kid, algorithms }))).toEqual([{ kid: "a", algorithms }]);
    expect(keys[0]?.key.type).toBe("public");
  });

  test("is the key that was published", () => {
    const [found] = read(rsa);
    const signature = sign("sha256", Buffer.from("a"), rsaPair.privateKey);
    expect(found && verify("sha256", Buffer.from("a"), found.key, signature)).toBe(true);
    const [other] = read(otherRsa);
    expect(other && verify("sha256", Buffer.from("a"), other.key, signature)).toBe(false);
  });

  test("is public even if the private key was published", () => {
    const jwk = rsaPair.privateKey.export({ format: "jwk" });
    expect(jwk.d).toBeDefined();
    const [found] = read(jwk);
    expect(found?.key.type).toBe("public");
    expect(found?.key.export({ format: "jwk" })).toEqual(rsa);
  });

  test("needs no key id", () => {
    expect(read(rsa)[0]?.kid).toBeUndefined();
  });
});

describe("a decoy is skipped, and the key beside it is found (N29)", () => {
  test.each<[string, unknown]>([
    ["a symmetric key", { kty: "oct", k: "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0" }],
    ["a symmetric key that says RS256", { kty: "oct", k: "c2VjcmV0", alg: "RS256" }],
    ["a symmetric key for HS256", { kty: "oct", k: "c2VjcmV0", alg: "HS256", use: "sig" }],
    ["a key for encryption", { ...otherRsa, use: "enc" }],
    ["a key for encryption by its algorithm", { ...otherRsa, alg: "RSA-OAEP" }],
    ["a key for encryption by its operations", { ...otherRsa, key_ops: ["encrypt", "wrapKey"] }],
    ["a key for a use that we do not know", { ...otherRsa, use: "tls" }],
    ["a use that is no text", { ...otherRsa, use: ["sig"] }],
    ["a null as use", { ...otherRsa, use: null }],
    ["RSA of 1024 bits", rsaOf(1024)],
    ["RSA of 2040 bits", rsaOf(2040)],
    ["RSA of 2040 bits with a zero byte before them", padded(rsaOf(2040))],
    ["RSA with the exponent 3 (RFC 8017)", rsaOf(2048, 3)],
    ["RSA with the exponent 17", { ...otherRsa, e: fromHex("11") }],
    ["RSA with the exponent 65535", { ...otherRsa, e: fromHex("ffff") }],
    ["RSA with the exponent 3 after zero bytes", { ...otherRsa, e: fromHex("00000003") }],
    ["RSA with the exponent 1", { ...otherRsa, e: fromHex("01") }],
    ["RSA with an even exponent", { ...otherRsa, e: fromHex("010002") }],
    ["RSA with an exponent so large that checking takes long", { ...otherRsa, e: fromHex("0100000001") }],
    ["RSA of 8193 bits", { ...otherRsa, n: fromHex(`01${"ff".repeat(1024)}`) }],
    ["RSA that says ES256", { ...otherRsa, alg: "ES256" }],
    ["RSA that says HS256", { ...otherRsa, alg: "HS256" }],
    ["RSA that says none", { ...otherRsa, alg: "none" }],
    ["RSA that says rs256", { ...otherRsa, alg: "rs256" }],
    ["RSA that says RS512", { ...otherRsa, alg: "RS512" }],
    ["a list as algorithm", { ...otherRsa, alg: ["RS256"] }],
    ["RSA without a modulus", { kty: "RSA", e: "AQAB" }],
    ["RSA with an empty modulus", { kty: "RSA", n: "", e: "AQAB" }],
    ["RSA with a number as modulus", { kty: "RSA", n: 1, e: "AQAB" }],
    ["RSA with an object as modulus", { kty: "RSA", n: {}, e: [] }],
    ["P-384", curve("P-384")],
    ["P-521", curve("P-521")],
    ["secp256k1", curve("secp256k1")],
    ["P-384 that says P-256", { ...curve("P-384"), crv: "P-256" }],
    ["a point that is not on the curve", { ...p256, y: p256.x }],
    ["a point without y", { kty: "EC", crv: "P-256", x: p256.x }],
    ["X25519", x25519],
    ["Ed448", ed448],
    ["X25519 that says Ed25519 with a short x", { kty: "OKP", crv: "Ed25519", x: "AAAA" }],
    ["a kind that we do not know", { ...otherRsa, kty: "XYZ" }],
    ["a kind in another case", { ...otherRsa, kty: "rsa" }],
    ["a kind that every object has", { ...otherRsa, kty: "toString" }],
    ["no kind", { n: otherRsa.n, e: otherRsa.e }],
    ["a list as kind", { ...otherRsa, kty: ["RSA"] }],
    ["a number as key id", { ...otherRsa, kid: 1 }],
    ["null as key id", { ...otherRsa, kid: null }],
    ["a list as key id", { ...otherRsa, kid: ["a"] }],
    ["null", null],
    ["a text", "key"],
    ["a list", [otherRsa]],
    ["an empty object", {}],
  ])("%s", (_, decoy) => {
    const keys = read(decoy, rsa);
    expect(keys.map(({ key }) => key.export({ format: "jwk" }))).toEqual([rsa]);
    expect(selectKey(keys, undefined, "RS256")).toBe(keys[0]);
  });

  test("if there are only decoys, there is no key", () => {
    expect(
      readKeys({
        keys: [
          { kty: "oct", k: "AAAA" },
          { ...rsa, use: "enc" },
        ],
      }),
    ).toEqual([]);
  });
});

describe("the key that a token's header means", () => {
  const keys = read({ ...rsa, kid: "one" }, { ...otherRsa, kid: "two" }, { ...p256, kid: "three" });
  const kidOf = (kid: unknown, algorithm: string) => selectKey(keys, kid, algorithm)?.kid;

  test.each([
    ["one", "RS256", "one"],
    ["one", "PS256", "one"],
    ["two", "RS256", "two"],
    ["three", "ES256", "three"],
  ])("has its key id and its algorithm: %s with %s", (kid, algorithm, expected) => {
    expect(kidOf(kid, algorithm)).toBe(expected);
  });

  test.each([
    ["another kind's algorithm (R61)", "one", "ES256"],
    ["another kind's algorithm (R61)", "three", "RS256"],
    ["a symmetric algorithm", "one", "HS256"],
    ["none", "one", "none"],
    ["no algorithm", "one", ""],
    ["an algorithm in another case (R60)", "one", "rs256"],
    ["an unknown key id (A42)", "four", "RS256"],
    ["a key id in another case", "ONE", "RS256"],
    ["an empty key id", "", "RS256"],
    ["null as key id", null, "RS256"],
    ["a number as key id", 1, "RS256"],
    ["a list as key id", ["one"], "RS256"],
    ["an object as key id", { toString: () => "one" }, "RS256"],
    ["a name that every object has (R66)", "__proto__", "RS256"],
    ["a name that every object has (R66)", "constructor", "RS256"],
    ["a path (R66)", "../../../../dev/null", "RS256"],
    ["SQL (R66)", "one' OR '1'='1", "RS256"],
    ["a URL (R67)", "http://127.0.0.1/keys", "RS256"],
    ["64 KB", "a".repeat(65_536), "RS256"],
    ["the key id and more", "one\x00", "RS256"],
  ])("no key is chosen for %s", (_, kid, algorithm) => {
    expect(selectKey(keys, kid, algorithm)).toBeUndefined();
  });

  test("no key is chosen if the key is bound to another algorithm of its kind (R61)", () => {
    const bound = read({ ...rsa, kid: "one", alg: "PS256" });
    expect(selectKey(bound, "one", "RS256")).toBeUndefined();
    expect(selectKey(bound, undefined, "RS256")).toBeUndefined();
    expect(selectKey(bound, "one", "PS256")?.kid).toBe("one");
  });

  test("without a key id is the only key that fits (N29)", () => {
    expect(kidOf(undefined, "ES256")).toBe("three");
  });

  test("no key is chosen without a key id if several fit (N30, R105)", () => {
    expect(kidOf(undefined, "RS256")).toBeUndefined();
    expect(kidOf(undefined, "PS256")).toBeUndefined();
  });

  test("no key is chosen without a key id if none fits", () => {
    expect(kidOf(undefined, "EdDSA")).toBeUndefined();
    expect(selectKey([], undefined, "RS256")).toBeUndefined();
  });

  test("no key is chosen if two keys of one kind share the key id", () => {
    const twins = read({ ...rsa, kid: "one" }, { ...otherRsa, kid: "one" }, { ...p256, kid: "one" });
    expect(selectKey(twins, "one", "RS256")).toBeUndefined();
    expect(selectKey(twins, "one", "ES256")?.algorithms).toEqual(["ES256"]);
  });

  test("no key is chosen if the token has a key id and the keys have none", () => {
    expect(selectKey(read(rsa), "one", "RS256")).toBeUndefined();
  });
});

describe("a signature", () => {
  const signed = Buffer.from("a");
  const signature = sign("sha256", signed, rsaPair.privateKey);
  const key = { kid: undefined, algorithms: ["RS256"], key: rsaPair.publicKey };

  test("is valid with an algorithm of its key, and with no other (R61)", () => {
    expect(isSignedBy(key, "RS256", signed, signature)).toBe(true);
    for (const algorithm of ["PS256", "ES256", "EdDSA", "HS256", "none", "", "toString"])
      expect(isSignedBy(key, algorithm, signed, signature)).toBe(false);
    // Also where the key names an algorithm that Latchkey cannot check.
    expect(isSignedBy({ ...key, algorithms: ["RS512"] }, "RS512", signed, signature)).toBe(false);
  });

  test("that throws in the check is refused (R63)", () => {
    const ofAnotherKind = { ...key, key: generateKeyPairSync("ed25519").publicKey };
    expect(() => verify("sha256", signed, ofAnotherKind.key, signature)).toThrow();
    expect(isSignedBy(ofAnotherKind, "RS256", signed, signature)).toBe(false);
  });
});
