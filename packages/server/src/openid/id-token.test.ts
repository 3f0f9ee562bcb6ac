import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  clock,
  compact,
  ed25519,
  good,
  idp,
  jwkOf,
  NONCE,
  nowSeconds,
  ownHeader,
  publish,
  reasonFor,
  rsa,
  signers,
  signRaw,
  useIdTokens,
  verify,
  withClaims,
} from "../../test/support/id-tokens.ts";
import { show } from "../lib/show.ts";

useIdTokens();

describe("a good token", () => {
  test("gives its claims and its checks, in the order of the checks", async () => {
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

  test("may have the client id as the only element of a list (N09)", async () => {
    expect(await withClaims({ aud: [idp.clientId] })).toBeUndefined();
  });

  test.each(["JWT", "jwt", "Jwt", "application/jwt", "Application/JWT"])(
    "may say that its type is %s",
    async (typ) => {
      expect(await reasonFor(idp.signToken(good(), { typ }))).toBeUndefined();
    },
  );

  test("may come from the storefront's own request: then any nonce is accepted", async () => {
    expect(await reasonFor(idp.signToken(good({ nonce: "its own" })), { nonce: "not_sent" })).toBeUndefined();
  });

  test("may have claims that Latchkey does not use, c_hash among them (N43)", async () => {
    expect(await withClaims({ c_hash: "wrong", auth_time: "yesterday", acr: 1, amr: {} })).toBeUndefined();
  });

  test("is accepted with RS256 (N28)", async () => {
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
  ])("refuses an issuer with %s: it must be exactly equal (R107)", async (_, iss) => {
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

  test("refuses an ID token for two audiences even if azp is the client id (N07)", async () => {
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

  test("refuses another azp even if the audience is the client id (N08)", async () => {
    expect(await withClaims({ azp: "stranger" })).toBe("id_token.azp");
  });

  test.each([null, "", ["the-store"], 1])("refuses %j as azp", async (azp) => {
    expect(await withClaims({ azp })).toBe("id_token.azp");
  });
});

describe("times", () => {
  const DAY = 86_400;

  test("refuses a token without a time of issue (N10)", async () => {
    expect(await withClaims({ iat: undefined })).toBe("id_token.iat");
  });

  test("refuses a token that was issued a week ago (N11), or more than ten minutes", async () => {
    expect(await withClaims({ iat: nowSeconds() - 7 * DAY })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() - 601 })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() - 600.001 })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() - 600 })).toBeUndefined();
  });

  test("refuses a token that was issued ten minutes in the future (N12), but accepts one from a clock that is a minute fast", async () => {
    expect(await withClaims({ iat: nowSeconds() + 600 })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() + 61 })).toBe("id_token.iat");
    expect(await withClaims({ iat: nowSeconds() + 60 })).toBeUndefined();
  });

  test("refuses a token without an expiry (N13)", async () => {
    expect(await withClaims({ exp: undefined })).toBe("id_token.exp");
  });

  test("refuses a token that expired six minutes ago (N14)", async () => {
    expect(await withClaims({ exp: nowSeconds() - 360 })).toBe("id_token.exp");
  });

  test("accepts a token that expired 30 seconds ago, and refuses a token that expired a minute ago (N15)", async () => {
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
  test.each(noInstants)("refuses %s as the expiry (N16)", async (exp) => {
    const payload = JSON.stringify(good({ exp: 0 })).replace('"exp":0', `"exp":${exp}`);
    expect(await reasonFor(signRaw(ownHeader(), payload))).toBe("id_token.exp");
  });

  test.each(noInstants)("refuses %s as the time of issue (N16)", async (iat) => {
    const payload = JSON.stringify(good({ iat: 0 })).replace('"iat":0', `"iat":${iat}`);
    expect(await reasonFor(signRaw(ownHeader(), payload))).toBe("id_token.iat");
  });

  test("an exp beyond any calendar counts as far in the future, without an error (N16)", async () => {
    expect(await withClaims({ exp: 1e300 })).toBeUndefined();
    expect(await withClaims({ exp: -1e300 })).toBe("id_token.exp");
  });

  test("refuses a token that is valid only in ten minutes (N17), but accepts one from a clock that is a minute fast", async () => {
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

  test("refuses every token if the sent nonce is unknown", async () => {
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

  test("a wrong value is refused, a right one is not", async () => {
    expect(await withHash(hash("at"), "at")).toBeUndefined();
    expect(await withHash(hash("other"), "at")).toBe("id_token.at_hash");
    expect(await withHash(hash("at", "sha512"), "at")).toBe("id_token.at_hash");
    expect(await withHash(`${hash("at")}==`, "at")).toBe("id_token.at_hash");
  });

  test("may be absent", async () => {
    expect(await withHash(undefined, "at")).toBeUndefined();
  });

  test("at_hash without an access token is refused", async () => {
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

describe("the record of a check", () => {
  test("has expected and found values, and ends with the first failure", async () => {
    const { checks } = await verify(idp.signToken(good({ aud: ["the-store", "stranger"], exp: 0 })));
    expect(checks.at(-1)).toEqual({
      check: "id_token.aud",
      passed: false,
      expected: "the-store",
      found: '["the-store","stranger"]',
    });
  });

  test("shows times as times, and text as text", async () => {
    const last = async (changes: object) => (await verify(idp.signToken(good(changes)))).checks.at(-1);
    const now = new Date(clock.now() - 60_000).toISOString();
    expect(await last({ exp: 0 })).toMatchObject({
      expected: `after ${now}`,
      found: "1970-01-01T00:00:00.000Z",
    });
    expect(await last({ exp: "4102444800" })).toMatchObject({ found: '"4102444800"' });
    expect(await last({ exp: undefined })).toMatchObject({ found: "absent" });
  });

  test("shows the length of a subject, and whether it has characters that are not allowed", async () => {
    const last = async (sub: string) => (await verify(idp.signToken(good({ sub })))).checks.at(-1)?.found;
    expect(await last("s".repeat(256))).toBe("256 characters");
    expect(await last("zoë")).toBe("3 characters, not all of them printable ASCII");
  });

  test("never shows the nonce, a hash, the subject or the token", async () => {
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
  ])("shows a value of the provider shortened and on one line: %j", (value, shown) => {
    expect(show(value)).toBe(shown);
  });
});
