import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createProfile, deleteProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { createRealm } from "../../../src/contract/realms.ts";
import { backchannelLogout } from "../../../src/contract/sign-on.ts";
import { type Call, call } from "../../support/call.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { watchDatabase } from "../../support/statements.ts";
import {
  EVENT,
  f,
  good,
  ids,
  isAlive,
  logOut,
  nowSeconds,
  outcome,
  post,
  providerSessions,
  signIn,
  UNKNOWN,
} from "./logout-tokens.ts";

/** Logout tokens that are refused, and addresses that take none. */

providerSessions();

describe("a bad logout token › 400, and no session ends", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const unsigned = (alg: string) => `${part({ alg })}.${part(good())}.`;
  const withMac = (secret: string) => {
    const text = `${part({ alg: "HS256" })}.${part(good())}`;
    return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
  };
  const byStranger = (header: object = {}) => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const text = `${part({ alg: "ES256", kid: "key-1", ...header })}.${part(good())}`;
    const bytes = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
    return `${text}.${bytes.toString("base64url")}`;
  };
  const withClaims = (changes: object) => f.idp.signToken(good(changes));

  test.each<[string, object]>([
    ["unknown keys", { kid: "unknown" }],
    ["wrong signatures", {}],
  ])(
    "forged tokens with %s cause one read of the keys in ten seconds, and leave sign-ons their own (A45, N54)",
    async (_, header) => {
      await signIn();
      f.idp.journal.length = 0;
      for (let i = 0; i < 3; i++)
        expect(outcome(await post(byStranger(header)))).toEqual([400, "logout_token_invalid"]);
      expect(f.idp.asked("/keys")).toBe(1);
      f.idp.rotateKey();
      expect(await isAlive(await signIn())).toBe(true);
      expect(f.idp.asked("/keys")).toBe(2);
    },
  );

  test.each<[string, string, () => string]>([
    ["no signature (N111, A34)", "alg", () => unsigned("none")],
    ["no signature, spelled otherwise (N111)", "alg", () => unsigned("NONE")],
    ["a cut signature (R174)", "signature", () => withClaims({}).replace(/[^.]*$/, "AAAA")],
    ["the client secret as key (N111)", "alg", () => withMac("first secret")],
    ["a stranger's key (R174)", "signature", () => byStranger()],
    ["a stranger's unknown key (R174)", "key", () => byStranger({ kid: "unknown" })],
    ["another type", "malformed", () => f.idp.signToken(good(), { typ: "at+jwt" })],
    ["another issuer (N112)", "iss", () => withClaims({ iss: "https://evil.example" })],
    ["no issuer (N112)", "iss", () => withClaims({ iss: undefined })],
    ["another audience (N112)", "aud", () => withClaims({ aud: "stranger" })],
    ["a second audience (N112)", "aud", () => withClaims({ aud: ["the-store", "stranger"] })],
    ["no audience (N112)", "aud", () => withClaims({ aud: undefined })],
    ["no events (N113)", "events", () => withClaims({ events: undefined })],
    ["another event (N113)", "events", () => withClaims({ events: { "urn:other": {} } })],
    ["a text as event (N113)", "events", () => withClaims({ events: { [EVENT]: "yes" } })],
    ["a nonce (N114)", "nonce", () => withClaims({ nonce: "n" })],
    ["a token of eleven minutes ago (N115)", "iat", () => withClaims({ iat: nowSeconds() - 601 })],
    ["a token from the future (N115)", "iat", () => withClaims({ iat: nowSeconds() + 61 })],
    ["an expired token (R171)", "exp", () => withClaims({ exp: nowSeconds() - 61 })],
    ["an old token without exp", "iat", () => withClaims({ exp: undefined, iat: nowSeconds() - 601 })],
    ["neither subject nor session (N115)", "sub", () => withClaims({ sub: undefined, sid: undefined })],
    ["an empty subject (N115)", "sub", () => withClaims({ sub: "", sid: undefined })],
    ["an empty session (N115)", "sid", () => withClaims({ sid: "", sub: undefined })],
    ["no jti", "jti", () => withClaims({ jti: undefined })],
    [
      "an ID token (N115)",
      "events",
      () => withClaims({ events: undefined, jti: undefined, nonce: "n", email: ADA.email }),
    ],
    ["text that is not a token", "malformed", () => "x"],
    ["an encrypted token", "encrypted", () => "a.b.c.d.e"],
  ])("%s", async (_, reason, make) => {
    const session = await signIn();
    const code = await f.signOn();
    const answer = await post(make());
    expect(outcome(answer)).toEqual([400, "logout_token_invalid"]);
    expect(answer.body.errors[0].meta).toEqual({ reason: `logout_token.${reason}` });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await isAlive(session)).toBe(true);
    expect((await f.redeem(code)).status).toBe(200);
  });

  test("Latchkey's own customer token or access token (R58)", async () => {
    const session = await signIn();
    for (const token of [session.token, f.implicit])
      expect(outcome(await post(token))).toEqual([400, "logout_token_invalid"]);
    expect(await isAlive(session)).toBe(true);
  });

  test("a token for another profile's client id (A21)", async () => {
    const profile = await f.addProfile({ client_id: "another-client" });
    const session = await signIn(ADA, profile);
    const answer = await logOut({ sid: undefined }, { ids: ids(profile) });
    expect(outcome(answer)).toEqual([400, "logout_token_invalid"]);
    expect(answer.body.errors[0].meta.reason).toBe("logout_token.aud");
    expect(await isAlive(session)).toBe(true);
  });

  test.each<[string, Call, number, string]>([
    ["no token: 400 member_missing", { form: {} }, 400, "member_missing"],
    ["an empty token: 400 member_invalid", { form: { logout_token: "" } }, 400, "member_invalid"],
    [
      "a body of another media type: 415",
      { raw: "x", headers: { "content-type": "text/plain" } },
      415,
      "media_type_unsupported",
    ],
  ])("%s", async (_, request, status, code) => {
    const session = await signIn();
    const answer = await call(f.latchkey.app, backchannelLogout, { ids: ids(), ...request });
    expect(outcome(answer)).toEqual([status, code]);
    expect(await isAlive(session)).toBe(true);
  });

  test("a token twice in one form", async () => {
    const session = await signIn();
    const token = f.idp.signToken(good());
    const answer = await call(f.latchkey.app, backchannelLogout, {
      ids: ids(),
      raw: `logout_token=${token}&logout_token=${token}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(outcome(answer)).toEqual([400, "member_invalid"]);
    expect(await isAlive(session)).toBe(true);
  });
});

describe("the address of a logout token", () => {
  test("404 for an unknown profile, and for a wrong realm or store; no session ends", async () => {
    const session = await signIn();
    const stranger = await f.latchkey.createStore();
    const realm = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "Another" } },
    });
    for (const of of [
      ids(UNKNOWN),
      ids("x"),
      { ...ids(), realm: realm.body.data.id },
      { ...ids(), realm: UNKNOWN },
      { ...ids(), store: stranger.store.id },
    ])
      expect((await logOut({}, { ids: of })).status).toBe(404);
    expect(await isAlive(session)).toBe(true);
  });

  test("404 for a deleted profile", async () => {
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
    expect(outcome(await logOut())).toEqual([404, "profile_not_found"]);
  });

  test("405 for GET: a link must not sign a shopper out", async () => {
    const session = await signIn();
    const path = `/sign-on/stores/${f.store.store.id}/realms/${f.realmId}/profiles/${f.profileId}/backchannel-logout`;
    const query = `logout_token=${f.idp.signToken(good())}`;
    const answer = await f.latchkey.app.fetch(new Request(`http://internal${path}?${query}`));
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await isAlive(session)).toBe(true);
  });

  test("503 with Retry-After when no discovery document was ever accepted; the provider gets no request", async () => {
    f.idp.hooks.answer = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
    const made = await f.store.call(createProfile, {
      ids: { realm: f.realmId },
      json: {
        data: {
          type: "oidc-profile",
          name: "Down",
          discovery_url: f.idp.discoveryUrl,
          client_id: "down",
          client_secret: "s",
          enabled: false,
        },
      },
    });
    const { id } = made.body.data;
    f.idp.hooks = {};
    f.idp.journal.length = 0;
    for (let n = 0; n < 10; n++) {
      const data = { type: "oidc-profile", name: `Renamed ${n}` };
      await f.store.call(updateProfile, { ids: { realm: f.realmId, id }, json: { data } });
      const answer = await logOut({}, { ids: ids(id) });
      expect(outcome(answer)).toEqual([503, "idp_unavailable"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(f.idp.journal).toEqual([]);
  });

  test("503 with Retry-After while the keys cannot be read; the record has the reason", async () => {
    const session = await signIn();
    f.idp.rotateKey();
    f.idp.hooks.answer = { "/keys": (_, response) => void response.writeHead(503).end() };
    const away = await logOut();
    expect(outcome(away)).toEqual([503, "idp_unavailable"]);
    expect(away.headers.get("retry-after")).toBe("10");
    expect(await isAlive(session)).toBe(true);
    const reasons = (await f.records()).map(({ reason }) => reason);
    expect(reasons).toContain("logout_token.keys_unread");
    f.idp.hooks = {};
    f.latchkey.clock.advance(10_000);
    expect((await logOut()).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("503 while the database is down: the provider must repeat the token (R137)", async () => {
    const session = await signIn();
    const { storage } = f.latchkey;
    const { db } = storage;
    let statements = 0;
    for (let failing = 0; failing < 4; failing++) {
      storage.db = watchDatabase(db, () => {
        if (statements++ === failing) throw Object.assign(new Error("gone"), { code: "ECONNRESET" });
      });
      const answer = await logOut();
      storage.db = db;
      statements = 0;
      expect([failing, ...outcome(answer)]).toEqual([failing, 503, "storage_unavailable"]);
      expect(await isAlive(session)).toBe(true);
    }
    expect((await logOut()).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("no log line has the token, the subject or the session", async () => {
    const token = f.idp.signToken(good({ sub: "marker-subject", sid: "marker-session" }));
    await post(token);
    await post(`${token}x`);
    const text = JSON.stringify(f.latchkey.logLines);
    for (const secret of [token, "marker-subject", "marker-session"]) expect(text).not.toContain(secret);
  });
});
