import { describe, expect, test } from "vitest";
import { getProfile } from "../../../src/contract/oidc-profiles.ts";
import { realmMetadata } from "../../../src/contract/sign-on.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { newPkce } from "../../support/federation.ts";
import { f, ids, pathOf, realmAsProvider, redeem, send, UNKNOWN } from "./realm.ts";

/** The discovery document, caching, and requests from other origins. */

realmAsProvider();

describe("the discovery document", () => {
  test("200 with all endpoints and everything that is supported, and nothing else (R27, R124, R125, R130)", async () => {
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

  test("is at the issuer's well-known path and at the profile's link (R121, seed 4.2)", async () => {
    const profile = await f.store.call(getProfile, { ids: { realm: f.realmId, id: f.profileId } });
    const url = profile.body.links["client-discovery-url"];
    expect(url).toBe(`${f.issuer}/.well-known/openid-configuration`);
    const found = await send("GET", url.slice(PUBLIC_URL.length));
    expect(((await found.json()) as { issuer: string }).issuer).toBe(f.issuer);
  });

  test("has the issuer that every redirect of a sign-on has (R17)", async () => {
    const good = await f.signOn();
    f.idp.hooks.redirect = ({ state = "" }) => ({ error: "access_denied", state });
    const refused = await f.signOn();
    for (const { returned } of [good, refused]) expect(returned.get("iss")).toBe(f.issuer);
  });

  test("404 for an unknown realm, and for a realm under another store", async () => {
    const stranger = await f.latchkey.createStore();
    for (const of of [
      { ...ids(), realm: UNKNOWN },
      { ...ids(), store: UNKNOWN },
      { ...ids(), store: stranger.store.id },
      { ...ids(), realm: "x" },
    ])
      expect((await call(f.latchkey.app, realmMetadata, { ids: of })).code).toBe("realm_not_found");
  });

  test("ignores the host headers of a request (T34, A60)", async () => {
    const evil = { host: "evil.example", "x-forwarded-host": "evil.example", forwarded: "host=evil.example" };
    const answer = await send("GET", pathOf("/.well-known/openid-configuration"), evil);
    expect(await answer.text()).not.toContain("evil");
  });
});

describe("caching and CORS", () => {
  test.each([["the discovery document"], ["the key set"]])(
    "%s may be cached for five minutes, from any origin (A72)",
    async (what) => {
      const path =
        what === "the key set" ? "/.well-known/jwks.json" : pathOf("/.well-known/openid-configuration");
      const { status, headers } = await send("GET", path, { origin: "https://shop.example" });
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe("public, max-age=300");
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect([headers.has("vary"), headers.has("set-cookie")]).toEqual([false, false]);
      expect(headers.has("access-control-allow-credentials")).toBe(false);
    },
  );

  test("the token endpoint answers any origin, without credentials and with no-store (R38)", async () => {
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

  test("the authorization endpoint and the callback have no CORS header and no preflight (R13)", async () => {
    for (const rest of ["/authorize", `/profiles/${f.profileId}/callback`]) {
      for (const method of ["GET", "OPTIONS"]) {
        const { headers } = await send(method, pathOf(rest), { origin: "https://shop.example" });
        expect(headers.has("access-control-allow-origin")).toBe(false);
      }
    }
  });

  test("405 with an RFC 6749 5.2 body for any other method at the OAuth endpoints", async () => {
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
