import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { type HostileIdp, startHostileIdp } from "../../test/support/hostile-idp.ts";
import { newIdpClient } from "../../test/support/idp-client.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import type { IdpClient } from "./client.ts";
import type { JsonObject } from "./discovery.ts";
import { verifyIdToken } from "./id-token.ts";
import { verifyLogoutToken } from "./logout-token.ts";

/** Logout tokens, which any client may post. */

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const clock = handClock();
const nowSeconds = () => clock.now() / 1000;
let idp: HostileIdp;
let storage: Storage;
let client: IdpClient;

beforeAll(async () => {
  idp = await startHostileIdp();
  storage = await openStorage({ clock }, "sqlite::memory:");
});
afterAll(async () => {
  await idp.close();
  await storage.close();
});
beforeEach(async () => {
  idp.hooks = {};
  idp.journal.length = 0;
  client = await newIdpClient({ idp, storage, clock })();
});

const good = (changes: object = {}): JsonObject => ({
  iss: idp.issuer,
  aud: idp.clientId,
  iat: nowSeconds(),
  exp: nowSeconds() + 120,
  jti: "one",
  sub: "subject",
  sid: "session",
  events: { [EVENT]: {} },
  ...changes,
});

const verify = (token: string) => verifyLogoutToken(client, token, null);
const withClaims = (changes: object) => verify(idp.signToken(good(changes)));
const refused = (part: string) => expect.objectContaining({ reason: `logout_token.${part}` });

describe("a good token", () => {
  test.each<[string, object, object]>([
    ["a session of a subject", {}, { subject: "subject", idpSession: "session" }],
    ["all of a subject", { sid: undefined }, { subject: "subject", idpSession: null }],
    ["a session", { sub: undefined }, { subject: null, idpSession: "session" }],
  ])("ends %s", async (_, changes, verdict) => {
    expect(await withClaims(changes)).toMatchObject(verdict);
  });

  const types = ["logout+jwt", "Logout+JWT", "application/logout+jwt", "JWT", "application/jwt", undefined];
  test.each(types)("may have the type %j", async (typ) => {
    expect(await verify(idp.signToken(good(), { typ }))).toHaveProperty("subject");
  });

  test("may have the client id as the only element of a list, and members in its event", async () => {
    expect(await withClaims({ aud: [idp.clientId] })).toHaveProperty("subject");
    expect(await withClaims({ events: { [EVENT]: { more: 1 }, "urn:other": {} } })).toHaveProperty("subject");
  });

  test("may come again, with the same result (N115)", async () => {
    const token = idp.signToken(good());
    expect(await verify(token)).toEqual(await verify(token));
  });

  test("may be signed with a key that is new (R106)", async () => {
    idp.rotateKey();
    expect(await verify(idp.signToken(good()))).toHaveProperty("subject");
  });
});

describe("signatures (R174)", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

  test.each(["none", "None", ""])("refuses the algorithm %j (N111)", async (alg) => {
    expect(await verify(`${part({ alg })}.${part(good())}.`)).toEqual(refused("alg"));
  });

  test("refuses other algorithms, with or without a valid signature (N111)", async () => {
    const hs256 = `${part({ alg: "HS256" })}.${part(good())}`;
    const mac = createHmac("sha256", "first secret").update(hs256).digest("base64url");
    expect(await verify(`${hs256}.${mac}`)).toEqual(refused("alg"));
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const rs256 = `${part({ alg: "RS256" })}.${part(good())}`;
    const signature = sign("sha256", Buffer.from(rs256), privateKey).toString("base64url");
    expect(await verify(`${rs256}.${signature}`)).toEqual(refused("alg"));
  });

  test("refuses a token without, or with another's signature (N111)", async () => {
    const [header, payload] = idp.signToken(good()).split(".");
    const [, , others] = idp.signToken(good({ sub: "other" })).split(".");
    expect(await verify(`${header}.${payload}.`)).toEqual(refused("signature"));
    expect(await verify(`${header}.${payload}.${others}`)).toEqual(refused("signature"));
  });

  test("refuses an unknown key, an encrypted token and a text that is not a token", async () => {
    expect(await verify(idp.signToken(good(), { kid: "unknown" }))).toEqual(refused("key"));
    expect(await verify("a.b.c.d.e")).toEqual(refused("encrypted"));
    for (const text of ["", "x", "a.b.c", "{}", "..", "x".repeat(100_000)])
      expect(await verify(text)).toEqual(refused("malformed"));
  });

  test.each(["at+jwt", "application/at+jwt", "id_token", "logout", ["logout+jwt"], null])(
    "refuses the type %j",
    async (typ) => {
      expect(await verify(idp.signToken(good(), { typ }))).toEqual(refused("malformed"));
    },
  );
});

describe("claims", () => {
  test.each<[string, unknown]>([
    ["another", "https://evil.example"],
    ["no", undefined],
    ["null as", null],
  ])("refuses %s issuer (N112)", async (_, iss) => {
    expect(await withClaims({ iss })).toEqual(refused("iss"));
  });

  test.each<[string, unknown]>([
    ["another", "stranger"],
    ["no", undefined],
    ["a second", ["the-store", "stranger"]],
    ["an empty list as", []],
  ])("refuses %s audience (N112)", async (_, aud) => {
    expect(await withClaims({ aud })).toEqual(refused("aud"));
  });

  test.each<[string, unknown]>([
    ["no events", undefined],
    ["null as events", null],
    ["no event in it", {}],
    ["another event", { "http://schemas.openid.net/event/other": {} }],
    ["a list of events", [EVENT]],
    ["a text as events", EVENT],
    ["a text as the event", { [EVENT]: "x" }],
    ["null as the event", { [EVENT]: null }],
    ["a list as the event", { [EVENT]: [] }],
    ["true as the event", { [EVENT]: true }],
  ])("refuses %s (N113)", async (_, events) => {
    expect(await withClaims({ events })).toEqual(refused("events"));
  });

  test.each(["nonce", "", null, 0])("refuses a nonce: %j (N114)", async (nonce) => {
    expect(await withClaims({ nonce })).toEqual(refused("nonce"));
  });

  test("refuses a token that is more than ten minutes old, from the future or without iat (N115)", async () => {
    expect(await withClaims({ iat: nowSeconds() - 601 })).toEqual(refused("iat"));
    expect(await withClaims({ iat: nowSeconds() + 61 })).toEqual(refused("iat"));
    expect(await withClaims({ iat: undefined })).toEqual(refused("iat"));
  });

  test("refuses an expired token", async () => {
    expect(await withClaims({ exp: nowSeconds() - 30 })).toHaveProperty("subject");
    expect(await withClaims({ exp: nowSeconds() - 61 })).toEqual(refused("exp"));
  });

  test("accepts a token without exp for ten minutes, as two providers send; an exp that is not a time is refused", async () => {
    expect(await withClaims({ exp: undefined })).toHaveProperty("subject");
    expect(await withClaims({ exp: undefined, iat: nowSeconds() - 599 })).toHaveProperty("subject");
    expect(await withClaims({ exp: undefined, iat: nowSeconds() - 601 })).toEqual(refused("iat"));
    expect(await withClaims({ exp: undefined, iat: undefined })).toEqual(refused("iat"));
    for (const exp of [null, "tomorrow", ""]) expect(await withClaims({ exp })).toEqual(refused("exp"));
  });

  test("a refusal shows whether the provider has signed the token", async () => {
    expect(await withClaims({ aud: "another" })).toMatchObject({
      isSigned: true,
      checks: expect.arrayContaining([
        expect.objectContaining({ check: "logout_token.aud", passed: false, found: "another" }),
      ]),
    });
    expect(await verify("a.b.c")).toMatchObject({ isSigned: false });
  });

  test("refuses a token that names neither subject nor session (N115)", async () => {
    expect(await withClaims({ sub: undefined, sid: undefined })).toEqual(refused("sub"));
  });

  test.each(["", null, 1, ["subject"], "a\0b"])("refuses %j as subject or session (N115)", async (value) => {
    expect(await withClaims({ sub: value })).toEqual(refused("sub"));
    expect(await withClaims({ sub: value, sid: undefined })).toEqual(refused("sub"));
    expect(await withClaims({ sid: value })).toEqual(refused("sid"));
    expect(await withClaims({ sid: value, sub: undefined })).toEqual(refused("sid"));
  });

  test.each([undefined, null, "", 1])("refuses %j as jti", async (jti) => {
    expect(await withClaims({ jti })).toEqual(refused("jti"));
  });
});

describe("the two kinds of token are distinct", () => {
  test("refuses an ID token (N115)", async () => {
    const idToken = { ...good({ events: undefined }), email: "ada@shop.example" };
    expect(await verify(idp.signToken({ ...idToken, nonce: "nonce" }))).toEqual(refused("events"));
    expect(await verify(idp.signToken(idToken, { typ: "JWT" }))).toEqual(refused("events"));
  });

  test("a logout token is refused as an ID token", async () => {
    const asIdToken = (token: string) =>
      verifyIdToken(client, token, {
        nonce: { value: "nonce" },
        accessToken: undefined,
      });
    expect(await asIdToken(idp.signToken(good()))).toMatchObject({ reason: "id_token.nonce" });
    expect(await asIdToken(idp.signToken(good(), { typ: "logout+jwt" }))).toMatchObject({
      reason: "id_token.malformed",
    });
  });
});
