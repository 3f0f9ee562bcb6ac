import { sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  client,
  clock,
  compact,
  ed25519,
  good,
  hs256,
  idp,
  jwkOf,
  otherRsa,
  ownHeader,
  p256,
  publish,
  reasonFor,
  rsa,
  rsaPair,
  signers,
  unsigned,
  useIdTokens,
  verify,
  withClaims,
} from "../../test/support/id-tokens.ts";

useIdTokens();

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

  test("the signature is checked before any claim", async () => {
    const verdict = await verify(spoil(idp.signToken(good({ iss: "x", aud: "y", exp: 0 }))));
    expect(verdict).toMatchObject({ reason: "id_token.signature" });
    expect(verdict.checks.at(-1)).toEqual({ check: "id_token.signature", passed: false });
  });

  test("a token with any bit changed is refused", async () => {
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

  test("refuses HS256 with the client secret, even if the provider lists HS256 (N23)", async () => {
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

  test("refuses a sound algorithm that the provider does not list (N27)", async () => {
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
  test("without a key id, takes the only key that fits, with or without decoys (N29)", async () => {
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

  test("after a second rotation within ten seconds the record has the time of the next read of the key set, after which it works", async () => {
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

  test("an unknown key costs one read of the key set within ten seconds (N32)", async () => {
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

  test("refuses a key id of 64 KB without reading it (N33)", async () => {
    expect(await reasonFor(idp.signToken(good(), { kid: "k".repeat(65_536) }))).toBe("id_token.malformed");
    expect(idp.asked("/keys")).toBe(1);
  });

  test("refuses a key id of 1,025 characters even if the provider has such a key, and does not read the key set (N33)", async () => {
    const withKeyId = (length: number) => {
      const kid = "k".repeat(length);
      publish(["RS256"], [jwkOf(rsa, { kid })]);
      return reasonFor(compact({ alg: "RS256", kid }, good(), signers.RS256(rsa.privateKey)));
    };
    expect(await withKeyId(1025)).toBe("id_token.key");
    expect(idp.asked("/keys")).toBe(1);
    expect(await withKeyId(1024)).toBeUndefined();
  });

  test("ignores a key in the token itself (N34)", async () => {
    const attacker = p256();
    const signer = signers.ES256(attacker.privateKey);
    const jwk = jwkOf(attacker, { kid: "theirs" });
    expect(await reasonFor(compact(ownHeader({ jwk }), good(), signer))).toBe("id_token.signature");
    expect(await reasonFor(compact({ alg: "ES256", kid: "theirs", jwk }, good(), signer))).toBe(
      "id_token.key",
    );
    expect(await reasonFor(compact({ alg: "ES256", jwk }, good(), signer))).toBe("id_token.signature");
  });

  test("calls no address that the token names, refused or accepted (N35)", async () => {
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

  test("a provider may replace its keys after Latchkey has read them and before it signs (N54)", async () => {
    await client();
    idp.rotateKey();
    expect(await reasonFor(idp.signToken(good()))).toBeUndefined();
    expect(idp.asked("/keys")).toBe(2);
  });

  test("a key replaced under the same kid costs one more request, for twenty sign-ons at once (N54)", async () => {
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

  test("twenty bad signatures cost the provider two requests for its keys", async () => {
    const token = compact(ownHeader(), good(), signers.ES256(p256().privateKey));
    for (let i = 0; i < 20; i++) expect(await reasonFor(token)).toBe("id_token.signature");
    expect(idp.asked("/keys")).toBe(2);
  });
});
