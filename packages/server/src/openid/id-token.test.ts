import {
  constants,
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  sign,
} from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { type HostileIdp, startHostileIdp } from "../../test/support/hostile-idp.ts";
import { newIdpClient, type ReadyClient } from "../../test/support/idp-client.ts";
import { show } from "../lib/show.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import type { JsonObject } from "./discovery.ts";
import { type ExpectedNonce, verifyIdToken } from "./id-token.ts";

/** ID tokens of a provider that signs whatever it likes. */

const NONCE = "the nonce of this sign-on";
const clock = handClock();
const nowSeconds = () => clock.now() / 1000;

let idp: HostileIdp;
let storage: Storage;
let client: ReadyClient;

beforeAll(async () => {
  idp = await startHostileIdp();
  storage = await openStorage({ clock }, "sqlite::memory:");
});
afterAll(async () => {
  await idp.close();
  await storage.close();
});
beforeEach(() => {
  idp.hooks = {};
  idp.journal.length = 0;
  client = newIdpClient({ idp, storage, clock });
});

const good = (changes: object = {}): JsonObject => ({
  iss: idp.issuer,
  aud: idp.clientId,
  sub: "subject",
  iat: nowSeconds(),
  exp: nowSeconds() + 300,
  nonce: NONCE,
  ...changes,
});

type Expected = { nonce?: ExpectedNonce; accessToken?: string };

async function verify(token: unknown, { nonce = { value: NONCE }, accessToken }: Expected = {}) {
  return verifyIdToken(await client(), token, { nonce, accessToken });
}

/** The reason, or `undefined` for a token that was accepted. */
async function reasonFor(token: unknown, expected: Expected = {}): Promise<string | undefined> {
  const verdict = await verify(token, expected);
  return "reason" in verdict ? verdict.reason : undefined;
}

const withClaims = (changes: object) => reasonFor(idp.signToken(good(changes)));

// Other algorithms than the hostile provider's own.

const rsaPair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsa = rsaPair();
const otherRsa = rsaPair();
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed25519 = generateKeyPairSync("ed25519");
const jwkOf = ({ publicKey }: KeyPairKeyObjectResult, more: object = {}): JsonObject => ({
  ...publicKey.export({ format: "jwk" }),
  ...more,
});

type Signer = (input: Buffer) => Buffer;
const pss = (key: KeyObject, saltLength: number) => ({
  key,
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength,
});
const signers = {
  RS256:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha256", input, key),
  RS512:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha512", input, key),
  PS256:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha256", input, pss(key, 32)),
  PS384:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha384", input, pss(key, 48)),
  ES256:
    (key: KeyObject): Signer =>
    (input) =>
      sign("sha256", input, { key, dsaEncoding: "ieee-p1363" }),
  EdDSA:
    (key: KeyObject): Signer =>
    (input) =>
      sign(null, input, key),
  Ed25519:
    (key: KeyObject): Signer =>
    (input) =>
      sign(null, input, key),
};
const hs256 =
  (secret: string | Buffer): Signer =>
  (input) =>
    createHmac("sha256", secret).update(input).digest();
const unsigned: Signer = () => Buffer.alloc(0);

const bytesOf = (part: object | string | Buffer) =>
  Buffer.isBuffer(part) ? part : Buffer.from(typeof part === "string" ? part : JSON.stringify(part));

/** Header and payload as objects, or as the very text or bytes that they are to be. */
function compact(
  header: object | string | Buffer,
  payload: object | string | Buffer,
  signer: Signer,
): string {
  const signed = [header, payload].map((part) => bytesOf(part).toString("base64url")).join(".");
  return `${signed}.${signer(Buffer.from(signed)).toString("base64url")}`;
}

/** From now on the provider has these keys, and says that it signs with these algorithms. */
function publish(algorithms: string[], keys: JsonObject[]) {
  idp.hooks.discovery = (document) => ({ ...document, id_token_signing_alg_values_supported: algorithms });
  idp.hooks.keys = () => ({ keys });
}

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split(".")[0] as string, "base64url").toString()).kid;

/** The header that the provider's own tokens have, with whatever else. */
const ownHeader = (more: object = {}) => ({ alg: "ES256", kid: kidOf(idp.signToken({})), ...more });

const rawPair = p256();

/** Rightly signed, over bytes that the provider's own code would not write. */
function signRaw(header: object | string | Buffer, payload: object | string | Buffer): string {
  publish(["ES256"], [jwkOf(rawPair, { kid: ownHeader().kid })]);
  return compact(header, payload, signers.ES256(rawPair.privateKey));
}

describe("a good token", () => {
  test("gives its claims, and says what was looked at, in its order", async () => {
    const verdict = await verify(
      idp.signToken(good({ azp: idp.clientId, nbf: nowSeconds(), email: "a@b.c" })),
    );
    expect(verdict).toMatchObject({ claims: { sub: "subject", email: "a@b.c" } });
    expect(verdict.checks.map(({ check, passed }) => [check, passed])).toEqual(
      ["alg", "key", "signature", "iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "sub"].map((part) => [
        `id_token.${part}`,
        true,
      ]),
    );
  });

  test("may have our client id as the one element of a list (N09)", async () => {
    expect(await withClaims({ aud: [idp.clientId] })).toBeUndefined();
  });

  test.each(["JWT", "jwt", "Jwt", "application/jwt", "Application/JWT"])(
    "may say that its type is %s",
    async (typ) => {
      expect(await reasonFor(idp.signToken(good(), { typ }))).toBeUndefined();
    },
  );

  test("may be one that the storefront asked for: then the nonce is not ours to know", async () => {
    expect(await reasonFor(idp.signToken(good({ nonce: "its own" })), { nonce: "not_sent" })).toBeUndefined();
  });

  test("may bring claims that we do not depend on, c_hash among them (N43)", async () => {
    expect(await withClaims({ c_hash: "wrong", auth_time: "yesterday", acr: 1, amr: {} })).toBeUndefined();
  });

  test("is good with RS256 (N28)", async () => {
    publish(["RS256"], [jwkOf(rsa, { kid: "a" })]);
    const token = compact({ alg: "RS256", kid: "a" }, good(), signers.RS256(rsa.privateKey));
    expect(await reasonFor(token)).toBeUndefined();
  });

  test.each([
    ["PS256", rsa],
    ["EdDSA", ed25519],
    ["Ed25519", ed25519],
  ] as const)("is good with %s", async (alg, pair) => {
    publish([alg], [jwkOf(pair, { kid: "a" })]);
    expect(
      await reasonFor(compact({ alg, kid: "a" }, good(), signers[alg](pair.privateKey))),
    ).toBeUndefined();
  });
});

describe("issuer and audience", () => {
  test("refuses another issuer (N01)", async () => {
    expect(await withClaims({ iss: `${idp.issuer}1` })).toBe("id_token.iss");
  });

  test.each([
    ["a slash more", () => `${idp.issuer}/`],
    ["another case", () => idp.issuer.toUpperCase()],
    ["a list", () => [idp.issuer]],
    ["null", () => null],
    ["nothing in it", () => ""],
  ])("refuses an issuer with %s: compared to the letter (R107)", async (_, iss) => {
    expect(await withClaims({ iss: iss() })).toBe("id_token.iss");
  });

  test("refuses a token without an issuer (N02)", async () => {
    expect(await withClaims({ iss: undefined })).toBe("id_token.iss");
  });

  test("refuses another audience (N04)", async () => {
    expect(await withClaims({ aud: `${idp.clientId}1` })).toBe("id_token.aud");
  });

  test("refuses a token without an audience (N05)", async () => {
    expect(await withClaims({ aud: undefined })).toBe("id_token.aud");
  });

  test("refuses an ID token for two audiences (N06)", async () => {
    expect(await withClaims({ aud: [idp.clientId, "stranger"] })).toBe("id_token.aud");
    expect(await withClaims({ aud: ["stranger", idp.clientId] })).toBe("id_token.aud");
  });

  test("refuses an ID token for two audiences although azp is ours (N07)", async () => {
    expect(await withClaims({ aud: [idp.clientId, "stranger"], azp: idp.clientId })).toBe("id_token.aud");
  });

  test.each<[string, unknown]>([
    ["an empty list", []],
    ["our client id twice", ["the-store", "the-store"]],
    ["a list in a list", [["the-store"]]],
    ["an object", { "the-store": true }],
    ["null", null],
    ["a list in a text", "the-store stranger"],
    ["another case", "The-Store"],
  ])("refuses %s as audience", async (_, aud) => {
    expect(await withClaims({ aud })).toBe("id_token.aud");
  });

  test("refuses a token that was given to another client although the audience is ours (N08)", async () => {
    expect(await withClaims({ azp: "stranger" })).toBe("id_token.azp");
  });

  test.each([null, "", ["the-store"], 1])("refuses %j as azp", async (azp) => {
    expect(await withClaims({ azp })).toBe("id_token.azp");
  });
});

describe("times", () => {
  const DAY = 86_400;

  test("refuses a token that does not say when it was issued (N10)", async () => {
    expect(await withClaims({ iat: undefined })).toBe("id_token.iat");
  });

  test("refuses a token that was issued a week ago (N11), or more than ten minutes", async () => {
    expect(await withClaims({ iat: nowSeconds() - 7 * DAY })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() - 601 })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() - 600.001 })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() - 600 })).toBeUndefined();
  });

  test("refuses a token that will be issued in ten minutes (N12), but not for a clock that is a minute fast", async () => {
    expect(await withClaims({ iat: nowSeconds() + 600 })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() + 61 })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() + 60 })).toBeUndefined();
  });

  test("refuses a token without an end (N13)", async () => {
    expect(await withClaims({ exp: undefined })).toBe("id_token.exp");
  });

  test("refuses a token that expired six minutes ago (N14)", async () => {
    expect(await withClaims({ exp: nowSeconds() - 360 })).toBe("id_token.exp");
  });

  test("accepts a token that expired thirty seconds ago, and refuses one after more than a minute (N15)", async () => {
    expect(await withClaims({ exp: nowSeconds() - 30 })).toBeUndefined();
    expect(await withClaims({ exp: nowSeconds() - 60 })).toBe("id_token.exp");
    expect(await withClaims({ exp: nowSeconds() - 61 })).toBe("id_token.exp");
  });

  const noInstants = [
    '"4102444800"',
    "1e400",
    "-1e400",
    '"NaN"',
    "-1",
    "[4102444800]",
    "{}",
    "null",
    "true",
    '""',
  ];
  test.each(noInstants)("refuses %s as the end (N16)", async (exp) => {
    const payload = JSON.stringify(good({ exp: 0 })).replace('"exp":0', `"exp":${exp}`);
    expect(await reasonFor(signRaw(ownHeader(), payload))).toBe("id_token.exp");
  });

  test.each(noInstants)("refuses %s as the time of issue (N16)", async (iat) => {
    const payload = JSON.stringify(good({ iat: 0 })).replace('"iat":0', `"iat":${iat}`);
    expect(await reasonFor(signRaw(ownHeader(), payload))).toBe("id_token.iat");
  });

  test("an end that no calendar has is far away, and no reason to fall over (N16)", async () => {
    expect(await withClaims({ exp: 1e300 })).toBeUndefined();
    expect(await withClaims({ exp: -1e300 })).toBe("id_token.exp");
  });

  test("refuses a token that is good in ten minutes (N17), but not for a clock that is a minute fast", async () => {
    expect(await withClaims({ nbf: nowSeconds() + 600 })).toBe("id_token.nbf");
    expect(await withClaims({ nbf: nowSeconds() + 61 })).toBe("id_token.nbf");
    expect(await withClaims({ nbf: nowSeconds() + 60 })).toBeUndefined();
  });

  test.each(["0", null, [0], {}, false])("refuses %j as the beginning", async (nbf) => {
    expect(await withClaims({ nbf })).toBe("id_token.nbf");
  });
});

describe("the nonce", () => {
  test("refuses another nonce (N18)", async () => {
    expect(await withClaims({ nonce: `${NONCE}1` })).toBe("id_token.nonce");
  });

  test("refuses a token without the nonce that was sent (N19)", async () => {
    expect(await withClaims({ nonce: undefined })).toBe("id_token.nonce");
  });

  test.each([null, "", [NONCE], 0, true])("refuses %j as nonce (N19)", async (nonce) => {
    expect(await withClaims({ nonce })).toBe("id_token.nonce");
  });

  test("refuses everything when the nonce that was sent is not known any more", async () => {
    const lost = { value: undefined as never };
    expect(await reasonFor(idp.signToken(good({ nonce: undefined })), { nonce: lost })).toBe(
      "id_token.nonce",
    );
    expect(await reasonFor(idp.signToken(good({ nonce: "" })), { nonce: { value: "" } })).toBe(
      "id_token.nonce",
    );
  });
});

describe("the subject", () => {
  test("refuses a token without a subject (N03)", async () => {
    expect(await withClaims({ sub: undefined })).toBe("id_token.sub");
  });

  test.each<[string, unknown]>([
    ["nothing", ""],
    ["256 characters", "s".repeat(256)],
    ["a number", 1],
    ["an object", { id: "subject" }],
    ["a list", ["subject"]],
    ["null", null],
    ["true", true],
    ["NUL inside", "sub\0ject"],
    ["a line break", "subject\n"],
    ["a letter beyond ASCII", "sübject"],
  ])("refuses %s as subject (N41)", async (_, sub) => {
    expect(await withClaims({ sub })).toBe("id_token.sub");
  });

  test.each(["Subject", "null", "undefined", "0", " subject ", "s".repeat(255)])(
    "leaves the subject %j as it is: a text like any other (N41)",
    async (sub) => {
      expect(await verify(idp.signToken(good({ sub })))).toMatchObject({ claims: { sub } });
    },
  );
});

describe("the hash of the access token (N42)", () => {
  const hash = (text: string, algorithm = "sha256") => {
    const digest = createHash(algorithm).update(text).digest();
    return digest.subarray(0, digest.length / 2).toString("base64url");
  };
  const withHash = (at_hash: unknown, accessToken?: string) =>
    reasonFor(idp.signToken(good({ at_hash })), accessToken === undefined ? {} : { accessToken });

  test("must fit when it is there", async () => {
    expect(await withHash(hash("at"), "at")).toBeUndefined();
    expect(await withHash(hash("other"), "at")).toBe("id_token.at_hash");
    expect(await withHash(hash("at", "sha512"), "at")).toBe("id_token.at_hash");
    expect(await withHash(`${hash("at")}==`, "at")).toBe("id_token.at_hash");
  });

  test("may be absent", async () => {
    expect(await withHash(undefined, "at")).toBeUndefined();
  });

  test("belongs to an access token: without one it is refused", async () => {
    expect(await withHash(hash("at"))).toBe("id_token.at_hash");
    expect(await withHash(hash(""))).toBe("id_token.at_hash");
  });

  test.each([null, "", 1, [], {}])("refuses %j", async (atHash) => {
    expect(await withHash(atHash, "at")).toBe("id_token.at_hash");
  });

  test.each(["EdDSA", "Ed25519"] as const)("is made with SHA-512 for %s", async (alg) => {
    publish([alg], [jwkOf(ed25519)]);
    const reasonOf = (at_hash: string) =>
      reasonFor(compact({ alg }, good({ at_hash }), signers[alg](ed25519.privateKey)), { accessToken: "at" });
    expect(await reasonOf(hash("at", "sha512"))).toBeUndefined();
    expect(await reasonOf(hash("at"))).toBe("id_token.at_hash");
  });
});

describe("signatures", () => {
  const spoil = (token: string) => {
    const [header, payload, signature] = token.split(".");
    const bytes = Buffer.from(signature as string, "base64url").map((byte) => byte ^ 0x5a);
    return `${header}.${payload}.${Buffer.from(bytes).toString("base64url")}`;
  };

  test("refuses a spoilt signature with RS256 (N20)", async () => {
    publish(["RS256"], [jwkOf(rsa, { kid: "a" })]);
    const token = compact({ alg: "RS256", kid: "a" }, good(), signers.RS256(rsa.privateKey));
    expect(await reasonFor(spoil(token))).toBe("id_token.signature");
  });

  test("refuses a spoilt signature with ES256 (N21)", async () => {
    expect(await reasonFor(spoil(idp.signToken(good())))).toBe("id_token.signature");
  });

  test.each([
    ["no signature", ""],
    ["a short signature", "AAAA"],
    ["a signature of zeros (CVE-2022-21449)", Buffer.alloc(64).toString("base64url")],
    ["a signature in DER", sign("sha256", Buffer.from("x"), p256().privateKey).toString("base64url")],
  ])("refuses %s", async (_, signature) => {
    const [header, payload] = idp.signToken(good()).split(".");
    expect(await reasonFor(`${header}.${payload}.${signature}`)).toBe("id_token.signature");
  });

  test("looks at the signature before it looks at any claim", async () => {
    const verdict = await verify(spoil(idp.signToken(good({ iss: "x", aud: "y", exp: 0 }))));
    expect(verdict).toMatchObject({ reason: "id_token.signature" });
    expect(verdict.checks.at(-1)).toEqual({ check: "id_token.signature", passed: false });
  });

  test("any one bit that is changed makes it another token", async () => {
    const token = idp.signToken(good());
    expect(await reasonFor(token)).toBeUndefined();
    const flips = Array.from({ length: token.length * 8 }, (_, bit) => {
      const at = bit >> 3;
      const flipped = String.fromCharCode(token.charCodeAt(at) ^ (1 << (bit & 7)));
      return token.slice(0, at) + flipped + token.slice(at + 1);
    });
    const reasons = await Promise.all(flips.map((flipped) => reasonFor(flipped)));
    expect(reasons.filter((reason) => !reason?.startsWith("id_token."))).toEqual([]);
  });
});

describe("algorithms", () => {
  const SECRET = "first secret";

  test.each([
    ["a wrong one", "a guess"],
    ["an empty one", ""],
  ])("refuses HS256 with %s as secret (N22)", async (_, secret) => {
    expect(await reasonFor(compact({ alg: "HS256" }, good(), hs256(secret)))).toBe("id_token.alg");
  });

  test("refuses HS256 with our own client secret, also where the provider says that it signs so (N23)", async () => {
    publish(["HS256", "RS256"], [jwkOf(rsa), { kty: "oct", k: Buffer.from(SECRET).toString("base64url") }]);
    expect(await reasonFor(compact({ alg: "HS256" }, good(), hs256(SECRET)))).toBe("id_token.alg");
  });

  const pem = rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
  test.each<[string, string | Buffer]>([
    ["PEM", pem],
    ["PEM without the last line break", pem.trimEnd()],
    ["PEM of PKCS #1", rsa.publicKey.export({ type: "pkcs1", format: "pem" }).toString()],
    ["DER", rsa.publicKey.export({ type: "spki", format: "der" })],
    ["the text of the JWK", JSON.stringify(rsa.publicKey.export({ format: "jwk" }))],
    ["the modulus", rsa.publicKey.export({ format: "jwk" }).n as string],
  ])("refuses HS256 with the public key as its secret: %s (N24)", async (_, secret) => {
    publish(["RS256", "HS256"], [jwkOf(rsa, { kid: "a" })]);
    expect(await reasonFor(compact({ alg: "HS256", kid: "a" }, good(), hs256(secret)))).toBe("id_token.alg");
    // The name of the right algorithm over the wrong proof is no better.
    expect(await reasonFor(compact({ alg: "RS256", kid: "a" }, good(), hs256(secret)))).toBe(
      "id_token.signature",
    );
  });

  test.each(["none", "None", "NONE", "nOnE", "", " none"])("refuses the algorithm %j (N25)", async (alg) => {
    publish(["none", "RS256"], [jwkOf(rsa)]);
    expect(await reasonFor(compact({ alg }, good(), unsigned))).toBe("id_token.alg");
  });

  test.each([undefined, null, 0, true, ["ES256"], { toString: "ES256" }])(
    "refuses %j as algorithm",
    async (alg) => {
      expect(await reasonFor(idp.signToken(good(), { alg }))).toBe("id_token.alg");
    },
  );

  test.each([
    ["RS512", rsa],
    ["PS384", rsa],
  ] as const)("refuses %s, rightly signed, also where the provider lists it (N27)", async (alg, pair) => {
    publish([alg, "RS256"], [jwkOf(pair)]);
    expect(await reasonFor(compact({ alg }, good(), signers[alg](pair.privateKey)))).toBe("id_token.alg");
  });

  test("refuses one that is sound but that the provider does not list (N27)", async () => {
    publish(["RS256"], [jwkOf(rsa)]);
    expect(await reasonFor(compact({ alg: "PS256" }, good(), signers.PS256(rsa.privateKey)))).toBe(
      "id_token.alg",
    );
  });

  test("refuses the right algorithm in another case (R60)", async () => {
    expect(await reasonFor(idp.signToken(good(), { alg: "es256" }))).toBe("id_token.alg");
  });

  test("refuses a key that is bound to another algorithm (R61)", async () => {
    publish(["RS256", "PS256"], [jwkOf(rsa, { kid: "a", alg: "PS256" })]);
    const token = compact({ alg: "RS256", kid: "a" }, good(), signers.RS256(rsa.privateKey));
    expect(await reasonFor(token)).toBe("id_token.key");
  });
});

describe("keys", () => {
  test("without a key id, takes the only key that can be meant, decoys or not (N29)", async () => {
    publish(
      ["RS256"],
      [
        jwkOf(p256()),
        jwkOf(ed25519),
        jwkOf(otherRsa, { use: "enc" }),
        { kty: "oct", k: "AAAA", alg: "RS256" },
        jwkOf(rsa, { kid: "a" }),
      ],
    );
    expect(await reasonFor(compact({ alg: "RS256" }, good(), signers.RS256(rsa.privateKey)))).toBeUndefined();
  });

  test("without a key id, refuses to choose among three keys (N30)", async () => {
    const keys = [rsa, otherRsa, rsaPair()].map((pair, index) => jwkOf(pair, { kid: `${index}` }));
    publish(["RS256"], keys);
    expect(await reasonFor(compact({ alg: "RS256" }, good(), signers.RS256(rsa.privateKey)))).toBe(
      "id_token.key",
    );
  });

  test("after a second rotation within ten seconds the record says when the key set is read again, and then it works", async () => {
    expect(await withClaims({})).toBeUndefined();
    idp.rotateKey();
    expect(await withClaims({})).toBeUndefined();
    idp.rotateKey();
    clock.advance(4000);
    const verdict = await verify(idp.signToken(good()));
    expect(verdict).toMatchObject({ reason: "id_token.key" });
    expect(verdict.checks.at(-1)?.expected).toBe(
      "a key of the provider; its key set is read again in 6 s at the earliest",
    );
    clock.advance(6000);
    expect(await withClaims({})).toBeUndefined();
  });

  test("looks once for a key that it does not know, and not again within ten seconds (N32)", async () => {
    const token = compact({ alg: "ES256", kid: "unknown" }, good(), signers.ES256(p256().privateKey));
    expect(await reasonFor(token)).toBe("id_token.key");
    expect(idp.asked("/keys")).toBe(2);
    expect(await reasonFor(token)).toBe("id_token.key");
    expect(idp.asked("/keys")).toBe(2);
    expect(await reasonFor(idp.signToken(good()))).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ["a path", "../../etc/passwd"],
    ["SQL", "' OR 1=1--"],
    ["a name that every object has", "__proto__"],
    ["a URL", "http://127.0.0.1/keys"],
    ["nothing", ""],
    ["2 KB", "k".repeat(2048)],
    ["a number", 1],
    ["null", null],
    ["a list", ["key-1"]],
    ["an object", { kid: "key-1" }],
  ])("refuses %s as key id (N33)", async (_, kid) => {
    expect(await reasonFor(idp.signToken(good(), { kid }))).toBe("id_token.key");
  });

  test("refuses 64 KB of key id before it reads it (N33)", async () => {
    expect(await reasonFor(idp.signToken(good(), { kid: "k".repeat(65_536) }))).toBe("id_token.malformed");
    expect(idp.asked("/keys")).toBe(1);
  });

  test("refuses a key id of 1,025 characters even if the provider has such a key, and does not look for it (N33)", async () => {
    const withKeyId = (length: number) => {
      const kid = "k".repeat(length);
      publish(["RS256"], [jwkOf(rsa, { kid })]);
      return reasonFor(compact({ alg: "RS256", kid }, good(), signers.RS256(rsa.privateKey)));
    };
    expect(await withKeyId(1025)).toBe("id_token.key");
    expect(idp.asked("/keys")).toBe(1);
    expect(await withKeyId(1024)).toBeUndefined();
  });

  test("ignores a key that the token brings along (N34)", async () => {
    const attacker = p256();
    const signer = signers.ES256(attacker.privateKey);
    const jwk = jwkOf(attacker, { kid: "theirs" });
    expect(await reasonFor(compact(ownHeader({ jwk }), good(), signer))).toBe("id_token.signature");
    expect(await reasonFor(compact({ alg: "ES256", kid: "theirs", jwk }, good(), signer))).toBe(
      "id_token.key",
    );
    expect(await reasonFor(compact({ alg: "ES256", jwk }, good(), signer))).toBe("id_token.signature");
  });

  test("goes to no address that the token names, whether it is refused or accepted (N35)", async () => {
    const bait = { jku: `${idp.origin}/bait`, x5u: `${idp.origin}/bait`, x5c: ["AAAA"], x5t: "AAAA" };
    const attacker = signers.ES256(p256().privateKey);
    expect(await reasonFor(compact(ownHeader(bait), good(), attacker))).toBe("id_token.signature");
    expect(await reasonFor(compact({ alg: "ES256", kid: "theirs", ...bait }, good(), attacker))).toBe(
      "id_token.key",
    );
    expect(await reasonFor(idp.signToken(good(), bait))).toBeUndefined();
    expect(new Set(idp.journal.map(({ path }) => path))).toEqual(
      new Set(["/.well-known/openid-configuration", "/keys"]),
    );
  });

  test("a provider may replace its keys between two sign-ons, also within a minute (N53)", async () => {
    for (let i = 0; i < 3; i++) {
      expect(await reasonFor(idp.signToken(good()))).toBeUndefined();
      idp.rotateKey();
      clock.advance(10_000);
    }
    expect(idp.asked("/keys")).toBe(3);
  });

  test("a provider may replace its keys after we have read them and before it signs (N54)", async () => {
    await client();
    idp.rotateKey();
    expect(await reasonFor(idp.signToken(good()))).toBeUndefined();
    expect(idp.asked("/keys")).toBe(2);
  });

  test("a key replaced under its old name costs one more reading, for twenty sign-ons at once (N54)", async () => {
    const [before, after] = [p256(), p256()];
    publish(["ES256"], [jwkOf(before, { kid: "same" })]);
    await client();
    publish(["ES256"], [jwkOf(after, { kid: "same" })]);
    const token = compact({ alg: "ES256", kid: "same" }, good(), signers.ES256(after.privateKey));
    const reasons = await Promise.all(Array.from({ length: 20 }, () => reasonFor(token)));
    expect(reasons).toEqual(Array(20).fill(undefined));
    expect(idp.asked("/keys")).toBe(2);
    const old = compact({ alg: "ES256", kid: "same" }, good(), signers.ES256(before.privateKey));
    expect(await reasonFor(old)).toBe("id_token.signature");
  });

  test("many bad signatures do not make us hammer the provider", async () => {
    const token = compact(ownHeader(), good(), signers.ES256(p256().privateKey));
    for (let i = 0; i < 20; i++) expect(await reasonFor(token)).toBe("id_token.signature");
    expect(idp.asked("/keys")).toBe(2);
  });
});

describe("the form", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  test.each([
    ["with a key wrapped by RSA", { alg: "RSA-OAEP", enc: "A256GCM" }],
    ["compressed", { alg: "dir", enc: "A256GCM", zip: "DEF" }],
    ["with a password of 1e9 rounds", { alg: "PBES2-HS256+A128KW", enc: "A128GCM", p2c: 1e9, p2s: "AAAA" }],
  ])("refuses an encrypted token unread: %s (N37, A46)", async (_, header) => {
    expect(await reasonFor(`${part(header)}.AAAA.AAAA.AAAA.AAAA`)).toBe("id_token.encrypted");
    expect(await reasonFor(`${part(header)}..AAAA.AAAA.AAAA`)).toBe("id_token.encrypted");
    expect(await reasonFor("....")).toBe("id_token.encrypted");
  });

  const cut = (token: string) => token.split(".") as [string, string, string];
  test.each<[string, (token: string) => unknown]>([
    ["a space in front", (token) => ` ${token}`],
    ["a space behind", (token) => `${token} `],
    ["a line break behind", (token) => `${token}\n`],
    ["one part", (token) => cut(token)[0]],
    ["two parts", (token) => cut(token).slice(0, 2).join(".")],
    ["four parts", (token) => `${token}.AAAA`],
    ["six parts", (token) => `${token}.AAAA.AAAA.AAAA`],
    ["a plus", (token) => `${token.slice(0, -4)}+AAA`],
    ["a slash", (token) => `${token.slice(0, -4)}/AAA`],
    ["padding", (token) => `${token}=`],
    ["bits left over", (token) => `${token.slice(0, -1)}B`],
    ["a character too many", (token) => `${token}AAA`],
    ["five parts and a space", (token) => `${token}.AAAA.AAA A`],
    ["dots alone", () => ".."],
    ["an empty header", (token) => `.${cut(token)[1]}.${cut(token)[2]}`],
    ["an empty payload", (token) => `${cut(token)[0]}..${cut(token)[2]}`],
    ["nothing", () => ""],
    ["no text", () => undefined],
    ["a list", (token) => [token]],
    ["letters of another script", (token) => token.replace("e", "\u0435")],
    ["65 KB", () => idp.signToken(good({ more: "x".repeat(50_000) }))],
    [
      "the JSON form, flattened",
      (token) => {
        const [header, payload, signature] = cut(token);
        return JSON.stringify({ protected: header, payload, signature });
      },
    ],
    [
      "the JSON form as an object",
      (token) => {
        const [header, payload, signature] = cut(token);
        return { payload, signatures: [{ protected: header, signature }] };
      },
    ],
  ])("refuses what is not one token in its compact form: %s (N38)", async (_, change) => {
    expect(await reasonFor(change(idp.signToken(good())))).toBe("id_token.malformed");
  });

  test("may have 65,536 characters, and no more", async () => {
    const ofLength = (length: number): string => {
      for (const more of ["", "x", "xx"])
        for (let filler = 48_700; filler < 49_100; filler++) {
          const token = idp.signToken(good({ filler: "x".repeat(filler) }), { more });
          if (token.length === length) return token;
        }
      throw new Error("no such token");
    };
    expect(await reasonFor(ofLength(65_536))).toBeUndefined();
    expect(await reasonFor(ofLength(65_537))).toBe("id_token.malformed");
  });

  test("whatever it is refused for is the last thing that was looked at, and did not pass", async () => {
    const stranger = compact({ alg: "ES256", kid: "unknown" }, good(), signers.ES256(p256().privateKey));
    for (const token of [
      "no token",
      `${idp.signToken(good())}.AAAA.AAAA`,
      idp.signToken(good(), { alg: "RS256" }),
      stranger,
    ]) {
      const verdict = await verify(token);
      expect(verdict.checks.at(-1)).toMatchObject({
        check: "reason" in verdict ? verdict.reason : "accepted",
        passed: false,
      });
    }
  });

  const deep = (depth: number) => `{"x":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const json = (value: object) => JSON.stringify(value);
  type Parts = () => [string | Buffer, string | Buffer];

  test.each<[string, Parts]>([
    ["a byte order mark before the header", () => [`\ufeff${json(ownHeader())}`, json(good())]],
    ["a byte order mark before the payload", () => [json(ownHeader()), `\ufeff${json(good())}`]],
    ["bytes that are no UTF-8", () => [json(ownHeader()), Buffer.from('{"iss":"\xff"}', "latin1")]],
    ["UTF-16", () => [json(ownHeader()), Buffer.from(json(good()), "utf16le")]],
    ["a payload that is a list", () => [json(ownHeader()), "[]"]],
    ["a payload that is null", () => [json(ownHeader()), "null"]],
    ["a payload that is a token itself", () => [json(ownHeader()), idp.signToken(good())]],
    ["a header that is a text", () => ['"ES256"', json(good())]],
    ["a header that is a list", () => ['[{"alg":"ES256"}]', json(good())]],
    ["more behind the payload", () => [json(ownHeader()), `${json(good())}{}`]],
  ])("refuses what can be read in more than one way: %s (N39)", async (_, parts) => {
    expect(await reasonFor(signRaw(...parts()))).toBe("id_token.malformed");
  });

  const once = "each member once";
  const levels = "at most 8 levels of JSON";
  const whole = "whole characters";
  test.each<[string, Parts, string]>([
    [
      'a member twice in the payload, at "iss"',
      () => [json(ownHeader()), json(good()).replace("{", '{"iss":"bad",')],
      once,
    ],
    ['a member twice in the header, at "alg"', () => ['{"alg":"none","alg":"ES256"}', json(good())], once],
    [
      'a member twice in the payload, at "iss"',
      () => [json(ownHeader()), json(good()).replace("{", '{"\\u0069ss":"bad",')],
      once,
    ],
    [
      'a member twice in the payload, at "groups"',
      () => [json(ownHeader()), '{"a":1,"groups":[{"b":1,"b":2}]}'],
      once,
    ],
    [
      'half of a surrogate pair in the payload, at "name"',
      () => [json(ownHeader()), '{"name":"\\ud800"}'],
      whole,
    ],
    ["half of a surrogate pair in the payload", () => [json(ownHeader()), '{"\\ud800":1}'], whole],
    ['more levels in the payload, at "x"', () => [json(ownHeader()), deep(20)], levels],
    ['more levels in the payload, at "x"', () => [json(ownHeader()), deep(10_000)], levels],
    ['more levels in the header, at "x"', () => [deep(5000), json(good())], levels],
  ])("names the part and the member where its JSON is refused: %s (N39)", async (found, parts, expected) => {
    const verdict = await verify(signRaw(...parts()));
    expect(verdict).toEqual({
      reason: "id_token.json",
      checks: [{ check: "id_token.json", passed: false, expected, found }],
    });
  });

  test.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "a claim called %s is a claim like others",
    async (name) => {
      for (const value of ['"x"', '{"sub":"x","polluted":true}', "null"]) {
        const member = `{"${name}":${value},`;
        const token = signRaw(json(ownHeader()).replace("{", member), json(good()).replace("{", member));
        const verdict = await verify(token);
        expect(verdict).toMatchObject({ claims: { sub: "subject" } });
        if ("claims" in verdict) expect(Object.keys(verdict.claims)).toContain(name);
      }
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  test.each<[string, object]>([
    ["an extension that must be understood", { crit: ["exp"], exp: 1 }],
    ["an empty list of extensions", { crit: [] }],
    ["a payload that is not encoded", { crit: ["b64"], b64: false }],
    ["a payload that is not encoded, unannounced", { b64: false }],
    ["the type of an access token", { typ: "at+jwt" }],
    ["the type of a logout token", { typ: "logout+jwt" }],
    ["the media type of a logout token", { typ: "application/logout+jwt" }],
    ["a media type that is no token's", { typ: "application/application/jwt" }],
    ["the type of something else", { typ: "JWE" }],
    ["a type that is no text", { typ: ["JWT"] }],
    ["null as type", { typ: null }],
  ])("refuses a header with %s (R68)", async (_, header) => {
    expect(await reasonFor(idp.signToken(good(), header))).toBe("id_token.malformed");
  });

  test("no claims make it fall over, whatever they are", async () => {
    const names = ["iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "sub", "at_hash"];
    const changes = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const verdict = await verify(idp.signToken(good(changed)), { accessToken: "at" });
        if ("claims" in verdict) expect(verdict.claims).toMatchObject({ iss: idp.issuer, nonce: NONCE });
        else expect(verdict.reason).toMatch(/^id_token\.[a-z_]+$/);
        for (const { found = "" } of verdict.checks) expect(found.length).toBeLessThanOrEqual(220);
      }),
      { numRuns: 300 },
    );
  });
});

describe("what is said of a check", () => {
  test("both sides, so that support sees what is wrong, and nothing behind the first failure", async () => {
    const { checks } = await verify(idp.signToken(good({ aud: ["the-store", "stranger"], exp: 0 })));
    expect(checks.at(-1)).toEqual({
      check: "id_token.aud",
      passed: false,
      expected: "the-store",
      found: '["the-store","stranger"]',
    });
  });

  test("times as times, and a text as a text", async () => {
    const last = async (changes: object) => (await verify(idp.signToken(good(changes)))).checks.at(-1);
    const now = new Date(clock.now() - 60_000).toISOString();
    expect(await last({ exp: 0 })).toMatchObject({
      expected: `after ${now}`,
      found: "1970-01-01T00:00:00.000Z",
    });
    expect(await last({ exp: "4102444800" })).toMatchObject({ found: '"4102444800"' });
    expect(await last({ exp: undefined })).toMatchObject({ found: "absent" });
  });

  test("of a subject how long it is, and whether it has other letters than a subject may have", async () => {
    const last = async (sub: string) => (await verify(idp.signToken(good({ sub })))).checks.at(-1)?.found;
    expect(await last("s".repeat(256))).toBe("256 characters");
    expect(await last("zoë")).toBe("3 characters, not all of them printable ASCII");
  });

  test("never the nonce, a hash, the subject or the token", async () => {
    const secrets = { nonce: "secret-1", at_hash: "secret-2", sub: "secret-3" };
    for (const token of [idp.signToken(good(secrets)), idp.signToken(good({ ...secrets, nonce: NONCE }))]) {
      const { checks } = await verify(token, { accessToken: "secret-4" });
      expect(JSON.stringify(checks)).not.toContain("secret-");
      expect(JSON.stringify(checks)).not.toContain(NONCE);
      expect(JSON.stringify(checks)).not.toContain(token.split(".")[2]);
    }
  });

  test.each<[unknown, string]>([
    ["text", "text"],
    [undefined, "absent"],
    [null, "null"],
    [1, "1"],
    [["a", 1], '["a",1]'],
    ["a\r\nb\0c\u202ed\u2028e", "a\ufffd\ufffdb\ufffdc\ufffdd\ufffde"],
    ["x".repeat(1000), "x".repeat(200)],
    [`${"x".repeat(199)}😀`, `${"x".repeat(199)}\ufffd`],
  ])("a value from outside is shown short and on one line: %j", (value, shown) => {
    expect(show(value)).toBe(shown);
  });
});

test("takes a token of up to 64 KB, as one with many groups is, and none that is larger", async () => {
  const large = (length: number) => ({ groups: "g".repeat(length) });
  expect(await withClaims(large(48_000))).toBeUndefined();
  expect(await withClaims(large(50_000))).toBe("id_token.malformed");
});
