import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { type HostileIdp, startHostileIdp } from "../../test/support/hostile-idp.ts";
import { newIdpClient, type ReadyClient } from "../../test/support/idp-client.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import type { JsonObject } from "./discovery.ts";
import { identify } from "./identify.ts";

/** From what a token endpoint answers to a person. */

const clock = handClock();
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

/** The token endpoint's answer, with these claims in the ID token. */
const tokensWith = (claims: object = {}, changes: object = {}): JsonObject => ({
  access_token: "at",
  token_type: "Bearer",
  expires_in: 60,
  id_token: idp.signToken({
    iss: idp.issuer,
    aud: idp.clientId,
    sub: "subject",
    iat: clock.now() / 1000,
    exp: clock.now() / 1000 + 300,
    nonce: "nonce",
    email: "ada@shop.example",
    ...claims,
  }),
  ...changes,
});

const identified = async (tokens: JsonObject) => identify(await client(), tokens, { value: "nonce" });

const identityOf = async (tokens: JsonObject) => {
  const result = await identified(tokens);
  return "identity" in result ? result.identity : result.reason;
};

const reasonFor = async (tokens: JsonObject) => {
  const result = await identified(tokens);
  return "reason" in result ? result.reason : undefined;
};

const NO_EMAIL = { email: undefined };

test("a valid answer gives the person; UserInfo is not read if the ID token has the e-mail", async () => {
  const tokens = tokensWith({ email_verified: true, name: "Ada Lovelace", sid: "session" });
  const result = await identified(tokens);
  expect(result).toMatchObject({
    identity: {
      issuer: idp.issuer,
      subject: "subject",
      email: "ada@shop.example",
      emailVerified: true,
      name: "Ada Lovelace",
      idpSession: "session",
    },
  });
  expect(result.checks.every(({ passed }) => passed)).toBe(true);
  expect(result.checks.map(({ check }) => check)).toEqual([
    "token.type",
    ...["alg", "key", "signature", "iss", "aud", "exp", "iat", "nonce", "sub"].map(
      (part) => `id_token.${part}`,
    ),
    "claims.email",
  ]);
  expect(idp.asked("/userinfo")).toBe(0);
});

describe("the answer of the token endpoint", () => {
  test.each(["bEARER", "bearer", "Bearer"])("may have the token type %s (N71)", async (token_type) => {
    expect(await reasonFor(tokensWith({}, { token_type }))).toBeUndefined();
  });

  test.each([undefined, null, "", "DPoP", "Bearer ", "mac", ["Bearer"], 1])(
    "is refused with the token type %j (R91)",
    async (token_type) => {
      expect(await reasonFor(tokensWith({}, { token_type }))).toBe("token.type");
      expect(idp.asked("/userinfo")).toBe(0);
    },
  );

  test("can lack the expiry of the access token (N72)", async () => {
    expect(await reasonFor(tokensWith({}, { expires_in: undefined }))).toBeUndefined();
  });

  test.each([undefined, null, "", {}, [], 0, true])(
    "is refused with %j as ID token (N73)",
    async (id_token) => {
      expect(await reasonFor(tokensWith({}, { id_token }))).toBe("id_token.missing");
      expect(idp.asked("/userinfo")).toBe(0);
    },
  );

  test("is refused for the fault in the ID token, without a further request", async () => {
    expect(await reasonFor(tokensWith({ ...NO_EMAIL, aud: "stranger" }))).toBe("id_token.aud");
    expect(await reasonFor(tokensWith(NO_EMAIL, { id_token: "x" }))).toBe("id_token.malformed");
    expect(idp.asked("/userinfo")).toBe(0);
  });

  test("needs no access token when the ID token has the e-mail", async () => {
    expect(await reasonFor(tokensWith({}, { access_token: undefined }))).toBeUndefined();
  });

  test("keeps the hash and the access token together (N42)", async () => {
    expect(await reasonFor(tokensWith({ at_hash: "AAAA" }))).toBe("id_token.at_hash");
    expect(await reasonFor(tokensWith({ at_hash: "AAAA" }, { access_token: undefined }))).toBe(
      "id_token.at_hash",
    );
  });
});

describe("the e-mail", () => {
  test("may be in UserInfo alone (N80)", async () => {
    idp.hooks.userinfo = (claims) => ({ ...claims, email: "ada@shop.example", email_verified: true });
    for (const email of [undefined, null, ""]) {
      expect(await identityOf(tokensWith({ email }))).toMatchObject({
        email: "ada@shop.example",
        emailVerified: true,
      });
    }
  });

  test("of another subject's UserInfo is not used (N78)", async () => {
    idp.hooks.userinfo = () => ({ sub: "subjectinvalid", email: "eve@evil.example", email_verified: true });
    const result = await identified(tokensWith(NO_EMAIL));
    expect(result).toMatchObject({ reason: "userinfo.sub" });
    expect(JSON.stringify(result)).not.toContain("evil");
  });

  test("that UserInfo fails to give ends the sign-on (N79)", async () => {
    idp.hooks.answer = { "/userinfo": (_, response) => void response.writeHead(500).end() };
    expect(await reasonFor(tokensWith(NO_EMAIL))).toBe("userinfo.unavailable");
    idp.hooks = { userinfo: () => [] };
    expect(await reasonFor(tokensWith(NO_EMAIL))).toBe("userinfo.malformed");
  });

  test("a missing e-mail gives claims.email_missing (N81)", async () => {
    expect(await reasonFor(tokensWith(NO_EMAIL))).toBe("claims.email_missing");
    for (const email of [null, ""]) {
      idp.hooks.userinfo = (claims) => ({ ...claims, email });
      expect(await reasonFor(tokensWith(NO_EMAIL))).toBe("claims.email_missing");
    }
  });

  test("a missing e-mail gives claims.email_missing, also without a UserInfo endpoint or an access token (N81)", async () => {
    expect(await reasonFor(tokensWith(NO_EMAIL, { access_token: undefined }))).toBe("claims.email_missing");
    expect(await reasonFor(tokensWith(NO_EMAIL, { access_token: { at: 1 } }))).toBe("claims.email_missing");
    expect(idp.asked("/userinfo")).toBe(0);
    idp.hooks.discovery = ({ userinfo_endpoint: _, ...document }) => document;
    clock.advance(300_000);
    client = newIdpClient({ idp, storage, clock });
    expect(await reasonFor(tokensWith(NO_EMAIL))).toBe("claims.email_missing");
    expect(idp.asked("/userinfo")).toBe(0);
  });

  test("is not verified by the other payload's email_verified (N82)", async () => {
    idp.hooks.userinfo = (claims) => ({ ...claims, email: "ada@shop.example" });
    expect(await identityOf(tokensWith({ ...NO_EMAIL, email_verified: true }))).toMatchObject({
      emailVerified: false,
    });
    idp.hooks.userinfo = (claims) => ({ ...claims, email_verified: true });
    expect(await identityOf(tokensWith())).toMatchObject({ emailVerified: false });
  });

  test.each(["true", 1, "false", null, undefined, false, [true], {}])(
    "is not verified by %j: only by true itself (N83)",
    async (email_verified) => {
      expect(await identityOf(tokensWith({ email_verified }))).toMatchObject({ emailVerified: false });
      idp.hooks.userinfo = (claims) => ({ ...claims, email: "ada@shop.example", email_verified });
      expect(await identityOf(tokensWith(NO_EMAIL))).toMatchObject({ emailVerified: false });
    },
  );

  test("the record shows the type of email_verified, so that support can recognise a text", async () => {
    const { checks } = await identified(tokensWith({ email_verified: "true" }));
    expect(checks.at(-1)).toMatchObject({ found: 'in the ID token, email_verified "true"' });
    expect(JSON.stringify(checks)).not.toContain("ada@");
  });

  test.each<[string, unknown]>([
    ["a list in a text", "ada@shop.example,eve@evil.example"],
    ["a list", ["ada@shop.example"]],
    ["a list of two", ["ada@shop.example", "eve@evil.example"]],
    ["an object", { email: "ada@shop.example" }],
    ["a number", 0],
    ["false", false],
    ["a second @ in full width", "ada\uff20evil.example@shop.example"],
    ["CR and LF", "ada@shop.example\r\nBcc: eve@evil.example"],
    ["10 KB", `${"a".repeat(10_000)}@shop.example`],
    ["a space", " "],
    ["no address", "ada"],
  ])("that is %s is refused, and UserInfo is not read for another (N84)", async (_, email) => {
    idp.hooks.userinfo = (claims) => ({ ...claims, email: "ada@shop.example" });
    expect(await reasonFor(tokensWith({ email, email_verified: true }))).toBe("claims.email_invalid");
    expect(idp.asked("/userinfo")).toBe(0);
    idp.hooks.userinfo = (claims) => ({ ...claims, email });
    expect(await reasonFor(tokensWith(NO_EMAIL))).toBe("claims.email_invalid");
  });

  test.each([
    ["Ada@SHOP.Example", "Ada@shop.example"],
    ["ada\uff20shop.example", "ada@shop.example"],
    ["ada@bücher.example", "ada@xn--bcher-kva.example"],
  ])("%s becomes %s, once (N84)", async (email, shown) => {
    expect(await identityOf(tokensWith({ email }))).toMatchObject({ email: shown });
  });

  test("is not fetched from where the claims point to (N85, A58)", async () => {
    const distributed = {
      _claim_names: { email: "src", name: "src" },
      _claim_sources: { src: { endpoint: `${idp.origin}/bait`, access_token: "x", JWT: idp.signToken({}) } },
    };
    idp.hooks.userinfo = (claims) => ({ ...claims, ...distributed });
    expect(await reasonFor(tokensWith({ ...NO_EMAIL, ...distributed }))).toBe("claims.email_missing");
    expect(await reasonFor(tokensWith(distributed))).toBeUndefined();
    expect(new Set(idp.journal.map(({ path }) => path))).toEqual(
      new Set(["/.well-known/openid-configuration", "/keys", "/userinfo"]),
    );
  });
});

describe("the rest", () => {
  test.each<[unknown, string | null]>([
    ["Ada", "Ada"],
    ["  Ada Lovelace ", "Ada Lovelace"],
    ["a".repeat(255), "a".repeat(255)],
    ["a".repeat(256), null],
    ["", null],
    ["   ", null],
    ["Ada\nLovelace", null],
    ["Ada\0", null],
    ["Ada\u2028", "Ada"],
    ["A\u2028da", null],
    [["Ada"], null],
    [1, null],
    [null, null],
    [undefined, null],
  ])("the name %j is %j: no sign-on is refused for a name", async (name, expected) => {
    expect(await identityOf(tokensWith({ name }))).toMatchObject({ name: expected });
  });

  test("the name may be in UserInfo, when UserInfo is read", async () => {
    idp.hooks.userinfo = (claims) => ({ ...claims, email: "ada@shop.example", name: "Ada" });
    expect(await identityOf(tokensWith(NO_EMAIL))).toMatchObject({ name: "Ada" });
    expect(await identityOf(tokensWith({ ...NO_EMAIL, name: "A" }))).toMatchObject({ name: "A" });
  });

  test.each<[unknown, string | null]>([
    ["08a5019c-17e1-4977-8f42-65a12843ea02", "08a5019c-17e1-4977-8f42-65a12843ea02"],
    ["s".repeat(255), "s".repeat(255)],
    ["s".repeat(256), null],
    ["", null],
    ["a\0", null],
    [1, null],
    [["a"], null],
    [undefined, null],
  ])("the provider's session %j is %j", async (sid, expected) => {
    expect(await identityOf(tokensWith({ sid }))).toMatchObject({ idpSession: expected });
  });

  test("subjects that differ only in case are two subjects (N41)", async () => {
    expect(await identityOf(tokensWith({ sub: "SUBJECT" }))).toMatchObject({ subject: "SUBJECT" });
    expect(await identityOf(tokensWith({ sub: "subject" }))).toMatchObject({ subject: "subject" });
  });
});
