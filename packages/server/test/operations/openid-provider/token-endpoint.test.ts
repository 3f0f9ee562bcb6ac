import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { introspectToken } from "../../../src/contract/access-tokens.ts";
import { updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { createRealm, updateAuthenticationSettings } from "../../../src/contract/realms.ts";
import { realmToken } from "../../../src/contract/sign-on.ts";
import { newCredential } from "../../../src/lib/secrets.ts";
import { ANONYMOUS } from "../../../src/rate-limit/cap.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { createFederation, newPkce, SHOP } from "../../support/federation.ts";
import {
  attempts,
  f,
  formOf,
  ids,
  opensItsCustomer,
  outcome,
  realmAsProvider,
  redeem,
  UNKNOWN,
  withOptions,
} from "./realm.ts";

/** Codes at the token endpoint of the realm. In brackets: modules of the conformance suites. */

realmAsProvider();

describe("the token endpoint", () => {
  test("200 with the customer token as access token and an ID token, and nothing else", async () => {
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
    expect(await opensItsCustomer(body.access_token)).toBe(true);
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

  test("expires_in is the customer token's lifetime (LATCHKEY_CUSTOMER_TOKEN_SECONDS)", async () => {
    await withOptions({ customerTokenSeconds: 600 });
    const { body } = await redeem(await f.signOn());
    expect(body.expires_in).toBe(600);
  });

  /** The change, the two error codes, and whether the code still works. `undefined` leaves a field out. */
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
    const answer = await redeem(signedOn, changes);
    expect(outcome(answer)).toEqual([400, code, error]);
    expect(answer.body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    for (const secret of [signedOn.code, signedOn.pkce.verifier, "correct horse"])
      expect(JSON.stringify(answer.body)).not.toContain(secret);
    if (then === "works") expect(await attempts()).toEqual(before);
    expect((await redeem(signedOn)).status).toBe(then === "works" ? 200 : 400);
  });

  test("400 for a repeated field; the code still works (RFC 6749 3.2)", async () => {
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

  test("400 for client credentials in the URL; the code still works (R35)", async () => {
    const signedOn = await f.signOn();
    const answer = await redeem(signedOn, {}, { query: "client_id=customers" });
    expect(outcome(answer)).toEqual([400, "credentials_in_url", "invalid_request"]);
    expect((await redeem(signedOn)).status).toBe(200);
  });

  test("unknown fields change neither scope nor audience (A32)", async () => {
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

  test("400 invalid_grant for the second use at once; the first token stays (oidcc-codereuse)", async () => {
    const signedOn = await f.signOn();
    const first = await redeem(signedOn);
    expect(outcome(await redeem(signedOn))).toEqual([400, "code_already_used", "invalid_grant"]);
    expect(await opensItsCustomer(first.body.access_token)).toBe(true);
  });

  test("400 invalid_grant one second later (attempt-reuse-authorization-code-after-one-second)", async () => {
    const signedOn = await f.signOn();
    await redeem(signedOn);
    f.latchkey.clock.advance(1000);
    expect(outcome(await redeem(signedOn))).toEqual([400, "code_already_used", "invalid_grant"]);
  });

  test("400 invalid_grant after 30 seconds; the first token is revoked (oidcc-codereuse-30seconds, R10)", async () => {
    const signedOn = await f.signOn();
    const first = await redeem(signedOn);
    f.latchkey.clock.advance(30_001);
    expect(outcome(await redeem(signedOn))).toEqual([400, "code_already_used", "invalid_grant"]);
    expect(await opensItsCustomer(first.body.access_token)).toBe(false);
    expect(await f.records()).toMatchObject([{ reason: "code_replayed" }]);
  });

  test("400 invalid_grant for an expired code (ensure-token-endpoint-fails-with-expired-auth-code)", async () => {
    const signedOn = await f.signOn();
    f.latchkey.clock.advance(60_000);
    expect(outcome(await redeem(signedOn))).toEqual([400, "code_expired", "invalid_grant"]);
  });

  test("400 code_already_used for a code that was redeemed at POST /v2/customers/tokens, and the reverse", async () => {
    const [here, there] = [await f.signOn(), await f.signOn()];
    expect((await redeem(here)).status).toBe(200);
    expect((await f.redeem(here)).code).toBe("code_already_used");
    expect((await f.redeem(there)).status).toBe(200);
    expect(outcome(await redeem(there))).toEqual([400, "code_already_used", "invalid_grant"]);
  });

  test("400 at another realm of the store; the code still works, and its token stays (R31)", async () => {
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
    expect(await opensItsCustomer(first.body.access_token)).toBe(true);
  });

  test("400 at another store; the code still works (T15)", async () => {
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

  test("400 when the client id was changed after the callback: the code belongs to the old one", async () => {
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

  test("400 invalid_grant with the reason when the profile was disabled (T24)", async () => {
    const signedOn = await f.signOn();
    await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: f.profileId },
      json: { data: { type: "oidc-profile", enabled: false } },
    });
    const answer = await redeem(signedOn);
    expect(outcome(answer)).toEqual([400, "sign_on_refused", "invalid_grant"]);
    expect(answer.body.errors[0].meta.reason).toBe("profile_disabled");
  });

  test("404 for an unknown realm; the code still works", async () => {
    const signedOn = await f.signOn();
    const answer = await redeem(signedOn, {}, { ids: { ...ids(), realm: UNKNOWN } });
    expect([answer.status, answer.code]).toEqual([404, "realm_not_found"]);
    expect((await redeem(signedOn)).status).toBe(200);
  });

  test("429 when one address asks too often; the code still works from another (R36, T20)", async () => {
    const signedOn = await f.signOn();
    const peer = "192.0.2.1";
    const guess = { code: newCredential("lkac"), pkce: newPkce() };
    for (let i = 0; i < ANONYMOUS.burst; i++) await redeem(guess, {}, { peer });
    const answer = await redeem(signedOn, {}, { peer });
    expect(outcome(answer)).toEqual([429, "rate_limit_exceeded", "temporarily_unavailable"]);
    expect((await redeem(signedOn, {}, { peer: "192.0.2.2" })).status).toBe(200);
  });
});
