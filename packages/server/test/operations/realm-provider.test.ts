import { createHash } from "node:crypto";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import * as client from "openid-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { introspectToken } from "../../src/contract/access-tokens.ts";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { createCustomer, getCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { getProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { createRealm, updateAuthenticationSettings } from "../../src/contract/realms.ts";
import { jwks, realmMetadata, realmToken } from "../../src/contract/sign-on.ts";
import { newCredential } from "../../src/lib/secrets.ts";
import { ANONYMOUS } from "../../src/rate-limit/cap.ts";
import { PUBLISHED_BEFORE_MS } from "../../src/signing-keys/key-rows.ts";
import { SIGNS_FOR_MS } from "../../src/signing-keys/signing-keys.ts";
import { PUBLIC_URL } from "../support/app.ts";
import { type Answer, type Call, call, toRequest } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { createFederation, type Federation, newPkce, SHOP, type SignedOn } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";

/** The realm as an OpenID provider. In brackets: the modules of the conformance suites that ask for the same. */

const UNKNOWN = "01890000-0000-7000-8000-000000000000";

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const ids = () => ({ store: f.store.store.id, realm: f.realmId });
const formOf = ({ code, pkce }: Pick<SignedOn, "code" | "pkce">, changes: Record<string, string> = {}) => ({
  grant_type: "authorization_code",
  code,
  redirect_uri: SHOP,
  client_id: "customers",
  code_verifier: pkce.verifier,
  ...changes,
});
const redeem = (
  signedOn: Pick<SignedOn, "code" | "pkce">,
  changes: Record<string, string> = {},
  request: Call = {},
) => call(f.latchkey.app, realmToken, { ids: ids(), form: formOf(signedOn, changes), ...request });
const outcome = ({ status, code, body }: Answer) => [status, code, body.error];
const attempts = () => f.latchkey.storage.db.selectFrom("sign_on_attempts").selectAll().execute();
const isAlive = async (token: string) => {
  const headers = { "x-customer-token": token };
  const id = decodeJwt(token).sub as string;
  const bearer = await f.store.token("implicit");
  return (await call(f.latchkey.app, getCustomer, { token: bearer, ids: { id }, headers })).status === 200;
};
/** The status and the headers of a raw request. */
const send = async (method: string, path: string, headers: Record<string, string> = {}) =>
  f.latchkey.app.fetch(new Request(`http://internal${path}`, { method, headers }));
const pathOf = (rest: string) => `${f.issuer.slice(PUBLIC_URL.length)}${rest}`;

describe("the discovery document", () => {
  test("200 says where everything is and what is supported, and no more than that (R27, R124, R125, R130)", async () => {
    const { status, body } = await call(f.latchkey.app, realmMetadata, { ids: ids() });
    expect(status).toBe(200);
    expect(body).toEqual({
      issuer: f.issuer,
      authorization_endpoint: `${f.issuer}/authorize`,
      token_endpoint: `${f.issuer}/token`,
      jwks_uri: `${PUBLIC_URL}/.well-known/jwks.json`,
      revocation_endpoint: `${f.issuer}/revoke`,
      userinfo_endpoint: `${f.issuer}/userinfo`,
      end_session_endpoint: `${f.issuer}/end-session`,
      scopes_supported: ["openid", "email", "profile"],
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256", "ES256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
      revocation_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
      code_challenge_methods_supported: ["S256"],
      claims_supported: expect.arrayContaining(["iss", "sub", "aud", "exp", "iat", "nonce", "email", "amr"]),
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
  });

  test("is where each profile says it is, and where the issuer's name leads (R121, seed 4.2)", async () => {
    const profile = await f.store.call(getProfile, { ids: { realm: f.realmId, id: f.profileId } });
    const url = profile.body.links["client-discovery-url"];
    expect(url).toBe(`${f.issuer}/.well-known/openid-configuration`);
    const found = await send("GET", url.slice(PUBLIC_URL.length));
    expect(((await found.json()) as { issuer: string }).issuer).toBe(f.issuer);
  });

  test("names its own issuer in every answer of a sign-on, and in errors (R17)", async () => {
    const good = await f.signOn();
    f.idp.hooks.redirect = ({ state = "" }) => ({ error: "access_denied", state });
    const refused = await f.signOn();
    for (const { returned } of [good, refused]) expect(returned.get("iss")).toBe(f.issuer);
  });

  test("404 for a realm that nobody has, and for one under another store's name", async () => {
    const stranger = await f.latchkey.createStore();
    for (const of of [
      { ...ids(), realm: UNKNOWN },
      { ...ids(), store: UNKNOWN },
      { ...ids(), store: stranger.store.id },
      { ...ids(), realm: "x" },
    ])
      expect((await call(f.latchkey.app, realmMetadata, { ids: of })).code).toBe("realm_not_found");
  });

  test("is made from configuration, whatever a request says of the host (T34, A60)", async () => {
    const evil = { host: "evil.example", "x-forwarded-host": "evil.example", forwarded: "host=evil.example" };
    const answer = await send("GET", pathOf("/.well-known/openid-configuration"), evil);
    expect(await answer.text()).not.toContain("evil");
  });
});

describe("caching and CORS", () => {
  test.each([["discovery"], ["keys"]])(
    "%s may be kept for five minutes, by anybody, from any origin (A72)",
    async (what) => {
      const path = what === "keys" ? "/.well-known/jwks.json" : pathOf("/.well-known/openid-configuration");
      const { status, headers } = await send("GET", path, { origin: "https://shop.example" });
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe("public, max-age=300");
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect([headers.has("vary"), headers.has("set-cookie")]).toEqual([false, false]);
      expect(headers.has("access-control-allow-credentials")).toBe(false);
    },
  );

  test("the token endpoint answers any origin, good or bad, without credentials, and nothing of it is kept (R38)", async () => {
    const headers = { origin: "https://shop.example" };
    const good = await redeem(await f.signOn(), {}, { headers });
    const bad = await redeem({ code: "x", pkce: newPkce() }, {}, { headers });
    expect([good.status, bad.status]).toEqual([200, 400]);
    for (const answer of [good, bad]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });

  test.each(["/token", "/.well-known/openid-configuration"])("204 for a preflight at %s", async (rest) => {
    const { status, headers } = await send("OPTIONS", pathOf(rest), {
      origin: "https://shop.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-methods")).toContain("POST");
    expect(headers.get("access-control-allow-headers")).toContain("*");
    expect(headers.get("access-control-max-age")).toBe("86400");
  });

  test("the authorization endpoint and the callback have no CORS at all, and no preflight (R13)", async () => {
    for (const rest of ["/authorize", `/profiles/${f.profileId}/callback`]) {
      for (const method of ["GET", "OPTIONS"]) {
        const { headers } = await send(method, pathOf(rest), { origin: "https://shop.example" });
        expect(headers.has("access-control-allow-origin")).toBe(false);
      }
    }
  });

  test("405 for any other method at the OAuth endpoints, as RFC 6749 5.2 says it", async () => {
    for (const path of [pathOf("/token"), "/oauth/access_token", "/oauth/introspect", "/oauth/revoke"])
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await send(method, path);
        expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
        expect(await answer.json()).toMatchObject({
          error: "invalid_request",
          error_description: "This path does not take this method.",
          errors: [{ code: "method_not_allowed" }],
        });
      }
  });
});

describe("the token endpoint", () => {
  test("200 with the customer token as access token, an ID token, and nothing else", async () => {
    const signedOn = await f.signOn();
    const { status, body } = await redeem(signedOn);
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: "Bearer",
      expires_in: 86_400,
      id_token: expect.any(String),
      scope: "openid email",
    });
    expect(await isAlive(body.access_token)).toBe(true);
    const claims = decodeJwt(body.access_token);
    expect(claims).toMatchObject({ iss: f.issuer, client_id: "customers", store_id: f.store.store.id });
    const { body: seen } = await call(f.latchkey.app, introspectToken, {
      form: {
        token: body.access_token,
        client_id: f.store.key.clientId,
        client_secret: f.store.key.clientSecret,
      },
    });
    expect(seen).toMatchObject({ active: true, sub: claims.sub, jti: claims.jti });
    expect(await f.records()).toMatchObject([{ outcome: "exchanged", customer_id: claims.sub }]);
  });

  test("expires_in is the life of the customer token (LATCHKEY_CUSTOMER_TOKEN_SECONDS)", async () => {
    await f.close();
    f = await createFederation({ customerTokenSeconds: 600 });
    const { body } = await redeem(await f.signOn());
    expect(body.expires_in).toBe(600);
  });

  /** What is changed, how it is refused, and whether the code still works. `undefined` leaves a field out. */
  const refused: [string, Record<string, string | undefined>, string, string, "works" | "void"][] = [
    [
      "no verifier (ensure-pkce-code-verifier-required)",
      { code_verifier: undefined },
      "member_missing",
      "invalid_request",
      "works",
    ],
    ["an empty verifier (A24)", { code_verifier: "" }, "member_invalid", "invalid_request", "works"],
    ["a verifier too short", { code_verifier: "a".repeat(42) }, "member_invalid", "invalid_request", "works"],
    ["a verifier too long", { code_verifier: "a".repeat(129) }, "member_invalid", "invalid_request", "works"],
    [
      "a verifier outside its alphabet",
      { code_verifier: `${"a".repeat(43)}+` },
      "member_invalid",
      "invalid_request",
      "works",
    ],
    [
      "a wrong verifier (incorrect-pkce-code-verifier-rejected)",
      { code_verifier: "a".repeat(43) },
      "verifier_mismatch",
      "invalid_grant",
      "void",
    ],
    ["no redirect URI", { redirect_uri: undefined }, "member_missing", "invalid_request", "works"],
    [
      "another redirect URI that is registered (redirect-uri-query-mismatch)",
      { redirect_uri: `${SHOP}?shop=1` },
      "redirect_uri_mismatch",
      "invalid_grant",
      "void",
    ],
    [
      "a query added to the redirect URI (redirect-uri-query-added)",
      { redirect_uri: `${SHOP}?a=b` },
      "redirect_uri_mismatch",
      "invalid_grant",
      "void",
    ],
    ["no grant type", { grant_type: undefined }, "member_missing", "invalid_request", "works"],
    ["an empty grant type", { grant_type: "" }, "grant_unsupported", "unsupported_grant_type", "works"],
    [
      "the password grant (R39, A32)",
      { grant_type: "password", username: "ada@shop.example", password: "correct horse" },
      "grant_unsupported",
      "unsupported_grant_type",
      "works",
    ],
    ["refreshing", { grant_type: "refresh_token" }, "grant_unsupported", "unsupported_grant_type", "works"],
    [
      "client credentials",
      { grant_type: "client_credentials" },
      "grant_unsupported",
      "unsupported_grant_type",
      "works",
    ],
    [
      "the grant in another case",
      { grant_type: "Authorization_Code" },
      "grant_unsupported",
      "unsupported_grant_type",
      "works",
    ],
    ["another client id", { client_id: "stranger" }, "sign_on_client_unknown", "invalid_client", "works"],
    [
      "the client id in another case",
      { client_id: "Customers" },
      "sign_on_client_unknown",
      "invalid_client",
      "works",
    ],
    ["no code", { code: undefined }, "member_missing", "invalid_request", "works"],
    ["an empty code", { code: "" }, "member_invalid", "invalid_request", "works"],
    ["an unknown code", { code: newCredential("lkac") }, "code_invalid", "invalid_grant", "works"],
    ["a code that was cut off", { code: "lkac_abc" }, "code_invalid", "invalid_grant", "works"],
  ];

  test.each(refused)("400 for %s (R32)", async (_, changes, code, error, then) => {
    const signedOn = await f.signOn();
    const before = await attempts();
    const fields = Object.entries({ ...formOf(signedOn), ...changes });
    const form = Object.fromEntries(fields.filter((pair): pair is [string, string] => pair[1] !== undefined));
    const answer = await call(f.latchkey.app, realmToken, { ids: ids(), form });
    expect(outcome(answer)).toEqual([400, code, error]);
    expect(answer.body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    for (const secret of [signedOn.code, signedOn.pkce.verifier, "correct horse"])
      expect(JSON.stringify(answer.body)).not.toContain(secret);
    if (then === "works") expect(await attempts()).toEqual(before);
    expect((await redeem(signedOn)).status).toBe(then === "works" ? 200 : 400);
  });

  test("400 for a field twice, before the code is touched (RFC 6749 3.2)", async () => {
    const signedOn = await f.signOn();
    const once = new URLSearchParams(formOf(signedOn)).toString();
    for (const [name, value] of Object.entries(formOf(signedOn))) {
      const answer = await call(f.latchkey.app, realmToken, {
        ids: ids(),
        raw: `${once}&${new URLSearchParams({ [name]: value })}`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      expect(outcome(answer)).toEqual([400, "member_invalid", "invalid_request"]);
    }
    expect((await redeem(signedOn)).status).toBe(200);
  });

  test("400 for client credentials in the URL, before the code is touched (R35)", async () => {
    const signedOn = await f.signOn();
    const answer = await redeem(signedOn, {}, { query: "client_id=customers" });
    expect(outcome(answer)).toEqual([400, "credentials_in_url", "invalid_request"]);
    expect((await redeem(signedOn)).status).toBe(200);
  });

  test("fields that nobody asks for widen nothing: scope, audience, a client secret (A32)", async () => {
    const extra = {
      scope: "openid email admin",
      audience: "https://evil.example",
      client_secret: "x",
      sub: "x",
    };
    const { status, body } = await redeem(await f.signOn(), extra);
    expect([status, body.scope]).toEqual([200, "openid email"]);
    expect([decodeJwt(body.access_token).aud, decodeJwt(body.id_token).aud]).toEqual([
      PUBLIC_URL,
      "customers",
    ]);
  });

  test("400 invalid_grant for the second use at once, and the first token lives on (oidcc-codereuse)", async () => {
    const signedOn = await f.signOn();
    const first = await redeem(signedOn);
    expect(outcome(await redeem(signedOn))).toEqual([400, "code_already_used", "invalid_grant"]);
    expect(await isAlive(first.body.access_token)).toBe(true);
  });

  test("400 invalid_grant one second later (attempt-reuse-authorization-code-after-one-second)", async () => {
    const signedOn = await f.signOn();
    await redeem(signedOn);
    f.latchkey.clock.advance(1000);
    expect(outcome(await redeem(signedOn))).toEqual([400, "code_already_used", "invalid_grant"]);
  });

  test("400 invalid_grant after 30 seconds, and the first token dies (oidcc-codereuse-30seconds, R10)", async () => {
    const signedOn = await f.signOn();
    const first = await redeem(signedOn);
    f.latchkey.clock.advance(30_001);
    expect(outcome(await redeem(signedOn))).toEqual([400, "code_already_used", "invalid_grant"]);
    expect(await isAlive(first.body.access_token)).toBe(false);
    expect(await f.records()).toMatchObject([{ reason: "code_replayed" }]);
  });

  test("400 invalid_grant for a code that has expired (ensure-token-endpoint-fails-with-expired-auth-code)", async () => {
    const signedOn = await f.signOn();
    f.latchkey.clock.advance(60_000);
    expect(outcome(await redeem(signedOn))).toEqual([400, "code_expired", "invalid_grant"]);
  });

  test("a code is good at one of the two doors, once: the other takes its use for a second one", async () => {
    const [here, there] = [await f.signOn(), await f.signOn()];
    expect((await redeem(here)).status).toBe(200);
    expect((await f.redeem(here)).code).toBe("code_already_used");
    expect((await f.redeem(there)).status).toBe(200);
    expect(outcome(await redeem(there))).toEqual([400, "code_already_used", "invalid_grant"]);
  });

  test("400 for a code of another realm of the same store; it is not burnt, nor is what it gave taken back (R31)", async () => {
    const { body } = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "Wholesale", redirect_uris: [SHOP] } },
    });
    const elsewhere = { ids: { ...ids(), realm: body.data.id } };
    const signedOn = await f.signOn();
    const before = await attempts();
    const foreign = await redeem(signedOn, {}, elsewhere);
    const unknown = await redeem({ ...signedOn, code: newCredential("lkac") }, {}, elsewhere);
    expect(outcome(foreign)).toEqual([400, "code_invalid", "invalid_grant"]);
    expect({ ...foreign.body, errors: [] }).toEqual({ ...unknown.body, errors: [] });
    expect(await attempts()).toEqual(before);
    const first = await redeem(signedOn);
    expect(first.status).toBe(200);
    f.latchkey.clock.advance(31_000);
    expect(outcome(await redeem(signedOn, {}, elsewhere))).toEqual([400, "code_invalid", "invalid_grant"]);
    expect(await isAlive(first.body.access_token)).toBe(true);
  });

  test("400 for a code of another store; it is not burnt (T15)", async () => {
    const other = await createFederation({
      idp: f.idp,
      storage: f.latchkey.storage,
      clock: f.latchkey.clock,
    });
    const signedOn = await f.signOn();
    const elsewhere = { ids: { store: other.store.store.id, realm: other.realmId } };
    expect(outcome(await redeem(signedOn, {}, elsewhere))).toEqual([400, "code_invalid", "invalid_grant"]);
    expect((await redeem(signedOn)).status).toBe(200);
  });

  test("400 when the client id was changed meanwhile: the code belongs to the client that it was given to", async () => {
    const signedOn = await f.signOn();
    await f.store.call(updateAuthenticationSettings, {
      json: { data: { type: "customer-authentication-settings", client_id: "renamed" } },
    });
    expect(outcome(await redeem(signedOn))[1]).toBe("sign_on_client_unknown");
    expect(outcome(await redeem(signedOn, { client_id: "renamed" }))).toEqual([
      400,
      "code_invalid",
      "invalid_grant",
    ]);
    expect(await f.records()).toMatchObject([{ outcome: "failed", reason: "client_mismatch" }]);
  });

  test("400 invalid_grant when the person cannot be signed in any more, with the reason (T24)", async () => {
    const signedOn = await f.signOn();
    await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: f.profileId },
      json: { data: { type: "oidc-profile", enabled: false } },
    });
    const answer = await redeem(signedOn);
    expect(outcome(answer)).toEqual([400, "sign_on_refused", "invalid_grant"]);
    expect(answer.body.errors[0].meta.reason).toBe("profile_disabled");
  });

  test("404 for a realm that nobody has, before the code is touched", async () => {
    const signedOn = await f.signOn();
    const answer = await redeem(signedOn, {}, { ids: { ...ids(), realm: UNKNOWN } });
    expect([answer.status, answer.code]).toEqual([404, "realm_not_found"]);
    expect((await redeem(signedOn)).status).toBe(200);
  });

  test("429 when one address asks too often, before the code is touched; another is served (R36, T20)", async () => {
    const signedOn = await f.signOn();
    const peer = "192.0.2.1";
    const guess = { code: newCredential("lkac"), pkce: newPkce() };
    for (let i = 0; i < ANONYMOUS.burst; i++) await redeem(guess, {}, { peer });
    const answer = await redeem(signedOn, {}, { peer });
    expect(outcome(answer)).toEqual([429, "rate_limit_exceeded", "temporarily_unavailable"]);
    expect((await redeem(signedOn, {}, { peer: "192.0.2.2" })).status).toBe(200);
  });
});

describe("the ID token", () => {
  const keySet = async () => createLocalJWKSet((await call(f.latchkey.app, jwks)).body);
  const verify = async (idToken: string) =>
    jwtVerify(idToken, await keySet(), {
      issuer: f.issuer,
      audience: "customers",
      algorithms: ["RS256", "ES256"],
      currentDate: new Date(f.latchkey.clock.now()),
    });
  const idTokenOf = async (parameters: Record<string, string | undefined> = {}) =>
    (await redeem(await f.signOn({ parameters }))).body;

  test("says who the customer is here, for whom, until when, and is signed with a published key (wire 7)", async () => {
    await keySet();
    const body = await idTokenOf({ nonce: "the storefront's nonce" });
    const { payload, protectedHeader } = await verify(body.id_token);
    expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT", kid: expect.any(String) });
    const now = f.latchkey.clock.now() / 1000;
    expect(payload).toEqual({
      iss: f.issuer,
      sub: decodeJwt(body.access_token).sub,
      aud: "customers",
      iat: now,
      exp: now + 3600,
      nonce: "the storefront's nonce",
      at_hash: expect.any(String),
      sid: decodeJwt(body.access_token).jti,
      profile_id: f.profileId,
      email: "ada@shop.example",
      email_verified: true,
      amr: ["fed"],
    });
  });

  test("has no nonce when none was sent, and the one of its own request when several are under way", async () => {
    expect(decodeJwt((await idTokenOf()).id_token)).not.toHaveProperty("nonce");
    const tabs = ["one", "two"].map((nonce) => ({ nonce }));
    const signedOn = await Promise.all(tabs.map((parameters) => f.signOn({ parameters })));
    const tokens = await Promise.all(signedOn.reverse().map((one) => redeem(one)));
    expect(tokens.map(({ body }) => decodeJwt(body.id_token).nonce)).toEqual(["two", "one"]);
  });

  test("never has the nonce that was sent to the identity provider", async () => {
    const browser = { cookie: undefined };
    const begun = await f.begin(browser, { nonce: "the storefront's nonce" });
    const sent = new URL(begun.headers.get("location") ?? "").searchParams.get("nonce");
    expect(sent).not.toBe("the storefront's nonce");
  });

  test("echoes a nonce of 512 characters, and odd ones, to the letter (ensure-authorization-request-with-long-nonce)", async () => {
    for (const nonce of ["n".repeat(512), "%2B+ &=é\u{1F511}\\\"'<>"])
      expect(decodeJwt((await idTokenOf({ nonce })).id_token).nonce).toBe(nonce);
  });

  test("has the hash of the access token that came with it (Core 3.1.3.6)", async () => {
    const { access_token, id_token } = await idTokenOf();
    const half = createHash("sha256").update(access_token, "ascii").digest().subarray(0, 16);
    expect(decodeJwt(id_token).at_hash).toBe(half.toString("base64url"));
  });

  test("says of the address what is known here, where it does not follow the provider", async () => {
    await f.changeRealm({ profile_updates: "first" });
    const first = await idTokenOf();
    const id = decodeJwt(first.id_token).sub as string;
    await call(f.latchkey.app, updateCustomer, {
      token: f.implicit,
      ids: { id },
      headers: { "x-customer-token": first.access_token },
      json: { data: { type: "customer", email: "new@shop.example" } },
    });
    const claims = decodeJwt((await idTokenOf()).id_token);
    expect(claims).toMatchObject({ sub: id, email: "new@shop.example", email_verified: false });
  });

  test("says that an address is not verified when the provider did not say so (N83)", async () => {
    f.idp.person = { ...ADA, email_verified: "true" };
    expect(decodeJwt((await idTokenOf()).id_token).email_verified).toBe(false);
  });

  test("names the customer who was linked, never the provider's subject", async () => {
    const { body } = await f.store.call(createCustomer, {
      json: { data: { type: "customer", name: "Ada", email: ADA.email, email_verified: true } },
    });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const tokens = await idTokenOf();
    expect(decodeJwt(tokens.id_token).sub).toBe(body.data.id);
    expect(JSON.stringify(decodeJwt(tokens.id_token))).not.toContain('"subject"');
  });

  test("is not the customer token, nor may one be taken for the other: type and audience differ (R58, R68)", async () => {
    const { access_token, id_token } = await idTokenOf();
    expect(decodeProtectedHeader(access_token).typ).toBe("at+jwt");
    expect(decodeProtectedHeader(id_token).typ).toBe("JWT");
    expect(decodeJwt(access_token).aud).not.toBe(decodeJwt(id_token).aud);
    expect(await isAlive(access_token)).toBe(true);
    expect(await isAlive(id_token)).toBe(false);
  });

  test("comes with a customer token only from here: the other door gives none", async () => {
    const { code, pkce } = await f.signOn({ parameters: { nonce: "n" } });
    const request = toRequest(issueCustomerToken, {
      token: f.implicit,
      json: {
        data: {
          type: "token",
          authentication_mechanism: "oidc",
          oauth_authorization_code: code,
          oauth_redirect_uri: SHOP,
          oauth_code_verifier: pkce.verifier,
        },
      },
    });
    expect(await (await f.latchkey.app.fetch(request)).text()).not.toContain("id_token");
  });

  test("is signed with the new key after a rotation, and the key set has it (oidcc-server-rotate-keys)", async () => {
    await keySet();
    const before = decodeProtectedHeader((await idTokenOf()).id_token).kid;
    f.latchkey.clock.advance(SIGNS_FOR_MS - PUBLISHED_BEFORE_MS);
    await f.latchkey.app.tidy();
    f.latchkey.clock.advance(PUBLISHED_BEFORE_MS);
    const { id_token } = await idTokenOf();
    expect(decodeProtectedHeader(id_token).kid).not.toBe(before);
    expect((await verify(id_token)).payload.iss).toBe(f.issuer);
  });
});

describe("any client library of OpenID Connect", () => {
  test("discovers the realm, walks through it, and verifies what it gets: issuer, state, nonce, signature", async () => {
    await f.close();
    f = await createFederation({ clock: handClock(Date.now()) });
    const config = await client.discovery(new URL(f.issuer), "customers", undefined, client.None(), {
      [client.customFetch]: async (url, options) =>
        f.latchkey.app.fetch(new Request(url, options as RequestInit)),
    });
    client.enableNonRepudiationChecks(config);
    const verifier = client.randomPKCECodeVerifier();
    const [state, nonce] = [client.randomState(), client.randomNonce()];
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: SHOP,
      scope: "openid email",
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    expect(url.href.startsWith(`${f.issuer}/authorize?`)).toBe(true);
    const { location } = await f.signOn({
      parameters: { profile: undefined, ...Object.fromEntries(url.searchParams) },
    });
    const tokens = await client.authorizationCodeGrant(config, new URL(location), {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    expect(tokens.claims()).toMatchObject({ email: "ada@shop.example", nonce });
    expect(await isAlive(tokens.access_token)).toBe(true);
  });
});

describe("the authorization endpoint, as the conformance suites look at it", () => {
  /** What comes of a request: a code, an error at the storefront, the page that says why not. */
  async function comesTo(parameters: Record<string, string | undefined>): Promise<string> {
    const { answer, code, error } = await f.signOn({ parameters });
    if (answer.status === 400) return `page ${answer.code}`;
    return code === "" ? `error ${error}` : "code";
  }

  test.each<[string, Record<string, string | undefined>, string]>([
    ["oidcc-response-type-missing", { response_type: undefined }, "error invalid_request"],
    ["ensure-response-type-token-fails", { response_type: "token" }, "error unsupported_response_type"],
    ["code and token at once", { response_type: "code token" }, "error unsupported_response_type"],
    ["an ID token at once", { response_type: "id_token" }, "error unsupported_response_type"],
    [
      "oidcc-ensure-registered-redirect-uri",
      { redirect_uri: "https://evil.example/" },
      "page redirect_uri_unregistered",
    ],
    [
      "oidcc-ensure-redirect-uri-in-authorization-request",
      { redirect_uri: undefined },
      "page redirect_uri_unregistered",
    ],
    ["oidcc-redirect-uri-query-added", { redirect_uri: `${SHOP}?foo=bar` }, "page redirect_uri_unregistered"],
    [
      "oidcc-redirect-uri-query-mismatch",
      { redirect_uri: `${SHOP}?shop=2` },
      "page redirect_uri_unregistered",
    ],
    ["oidcc-redirect-uri-query-OK", { redirect_uri: `${SHOP}?shop=1` }, "code"],
    ["oidcc-redirect-uri-regfrag", { redirect_uri: `${SHOP}#f` }, "page redirect_uri_unregistered"],
    ["oidcc-ensure-request-with-unknown-parameter-succeeds", { extra: "foobar" }, "code"],
    ["oidcc-display-page", { display: "page" }, "code"],
    ["oidcc-display-popup", { display: "popup" }, "code"],
    ["oidcc-ui-locales", { ui_locales: "se sv" }, "code"],
    ["ensure-authorization-request-with-long-state", { state: "s".repeat(384) }, "code"],
    ["ensure-authorization-request-with-long-nonce", { nonce: "n".repeat(384) }, "code"],
    ["ensure-other-scope-order-succeeds", { scope: "email openid" }, "code"],
    ["other scopes beside", { scope: "address email phone openid offline_access" }, "code"],
    ["no scope openid", { scope: "email" }, "error invalid_scope"],
    ["plain refused (par-plain-pkce-rejected)", { code_challenge_method: "plain" }, "error invalid_request"],
    ["method missing: its default is plain", { code_challenge_method: undefined }, "error invalid_request"],
    ["method without challenge", { code_challenge: undefined }, "error invalid_request"],
    ["challenge too short", { code_challenge: "a".repeat(42) }, "error invalid_request"],
    ["challenge too long", { code_challenge: "a".repeat(44) }, "error invalid_request"],
    ["challenge charset", { code_challenge: `${"a".repeat(42)}+` }, "error invalid_request"],
    ["another client id", { client_id: "stranger" }, "page sign_on_client_unknown"],
  ])("%s", async (_, parameters, expected) => {
    expect(await comesTo(parameters)).toBe(expected);
  });

  test.each([
    ["oidcc-prompt-none-not-logged-in", "login_required"],
    ["user-rejects-authentication", "access_denied"],
  ])("%s: the provider's %s goes on to the storefront with its state", async (_, error) => {
    f.idp.hooks.redirect = ({ state = "" }) => ({ error, state });
    const { returned } = await f.signOn({ parameters: { prompt: "none" } });
    expect([returned.get("error"), returned.get("state"), returned.get("code")]).toEqual([
      error,
      "the storefront's state",
      null,
    ]);
  });

  test("par-without-duplicate-parameters: 303 invalid_request for any of ours that comes twice", async () => {
    for (const name of ["state", "scope", "response_type", "code_challenge", "nonce", "prompt"]) {
      const query = new URLSearchParams(f.parameters({ nonce: "n", prompt: "login" }));
      query.append(name, query.get(name) ?? "");
      const { status, headers } = await send("GET", `${pathOf("/authorize")}?${query}`);
      const returned = new URL(headers.get("location") ?? "").searchParams;
      expect([name, status, returned.get("error")]).toEqual([name, 303, "invalid_request"]);
    }
  });
});
