import { createHash } from "node:crypto";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../../src/contract/customer-tokens.ts";
import { createCustomer, updateCustomer } from "../../../src/contract/customers.ts";
import { jwks } from "../../../src/contract/sign-on.ts";
import { PUBLISHED_BEFORE_MS } from "../../../src/signing-keys/key-rows.ts";
import { SIGNS_FOR_MS } from "../../../src/signing-keys/signing-keys.ts";
import { call, toRequest } from "../../support/call.ts";
import { SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { f, opensItsCustomer, realmAsProvider, redeem } from "./realm.ts";

/** The claims of an ID token. In brackets: modules of the conformance suites. */

realmAsProvider();

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

  test("has the customer, the client and the expiry, signed with a published key (wire 7)", async () => {
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

  test("has the nonce of its own request, and none if none was sent", async () => {
    expect(decodeJwt((await idTokenOf()).id_token)).not.toHaveProperty("nonce");
    const tabs = ["one", "two"].map((nonce) => ({ nonce }));
    const signedOn = await Promise.all(tabs.map((parameters) => f.signOn({ parameters })));
    const tokens = await Promise.all(signedOn.reverse().map((one) => redeem(one)));
    expect(tokens.map(({ body }) => decodeJwt(body.id_token).nonce)).toEqual(["two", "one"]);
  });

  test("never has the nonce that was sent to the provider", async () => {
    const browser = { cookie: undefined };
    const begun = await f.begin(browser, { nonce: "the storefront's nonce" });
    const sent = new URL(begun.headers.get("location") ?? "").searchParams.get("nonce");
    expect(sent).not.toBe("the storefront's nonce");
  });

  test("returns a nonce of 512 characters, or of unusual ones, unchanged (ensure-authorization-request-with-long-nonce)", async () => {
    for (const nonce of ["n".repeat(512), "%2B+ &=é\u{1F511}\\\"'<>"])
      expect(decodeJwt((await idTokenOf({ nonce })).id_token).nonce).toBe(nonce);
  });

  test("has at_hash of the access token beside it (Core 3.1.3.6)", async () => {
    const { access_token, id_token } = await idTokenOf();
    const half = createHash("sha256").update(access_token, "ascii").digest().subarray(0, 16);
    expect(decodeJwt(id_token).at_hash).toBe(half.toString("base64url"));
  });

  test("has the customer's own e-mail where the realm does not follow the provider", async () => {
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

  test("has email_verified false unless the provider's claim is true (N83)", async () => {
    f.idp.person = { ...ADA, email_verified: "true" };
    expect(decodeJwt((await idTokenOf()).id_token).email_verified).toBe(false);
  });

  test("has the id of the linked customer, never the provider's subject", async () => {
    const { body } = await f.store.call(createCustomer, {
      json: { data: { type: "customer", name: "Ada", email: ADA.email, email_verified: true } },
    });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const tokens = await idTokenOf();
    expect(decodeJwt(tokens.id_token).sub).toBe(body.data.id);
    expect(JSON.stringify(decodeJwt(tokens.id_token))).not.toContain('"subject"');
  });

  test("differs from the customer token in type and audience; neither is accepted for the other (R58, R68)", async () => {
    const { access_token, id_token } = await idTokenOf();
    expect(decodeProtectedHeader(access_token).typ).toBe("at+jwt");
    expect(decodeProtectedHeader(id_token).typ).toBe("JWT");
    expect(decodeJwt(access_token).aud).not.toBe(decodeJwt(id_token).aud);
    expect(await opensItsCustomer(access_token)).toBe(true);
    expect(await opensItsCustomer(id_token)).toBe(false);
  });

  test("is given at the realm's token endpoint only", async () => {
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

  test("is signed with the new key after a rotation (oidcc-server-rotate-keys)", async () => {
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
