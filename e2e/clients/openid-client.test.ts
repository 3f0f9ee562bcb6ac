import * as oidc from "openid-client";
import { describe, expect, test } from "vitest";
import { SHOP } from "../../packages/server/test/support/federation.ts";
import {
  closeFederations,
  type Federation,
  openBrowser,
  openFederation,
  openStorefront,
  signOn,
} from "../providers/federation.ts";
import { GRACE } from "../support/honest-idp.ts";

/** `openid-client` as the storefront: it needs the issuer and the client id, and verifies what the service answers. */

closeFederations();

describe("openid-client as the storefront", () => {
  async function openClient(f: Federation) {
    const asked: string[] = [];
    const config = await oidc.discovery(new URL(f.issuer), "customers", undefined, oidc.None(), {
      // Without this check the library trusts the token endpoint, and does not verify the signature.
      execute: [oidc.enableNonRepudiationChecks],
      [oidc.customFetch]: (url, init) => {
        asked.push(`${init.method} ${new URL(url).pathname}`);
        return f.service(new Request(url, init as RequestInit));
      },
    });
    const [verifier, state, nonce] = [oidc.randomPKCECodeVerifier(), oidc.randomState(), oidc.randomNonce()];
    const begin = async (more: Record<string, string> = {}) =>
      oidc.buildAuthorizationUrl(config, {
        redirect_uri: SHOP,
        scope: "openid email",
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
        ...more,
      }).href;
    const redeem = (returned: URL, changes: oidc.AuthorizationCodeGrantChecks = {}) =>
      oidc.authorizationCodeGrant(config, returned, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        ...changes,
      });
    return { config, asked, begin, redeem, nonce };
  }

  async function walkedBack(more: Record<string, string> = {}) {
    const f = await openFederation();
    const client = await openClient(f);
    const returned = await openBrowser(f).go(await client.begin(more));
    return { f, client, returned };
  }

  test("signs a shopper in from the issuer and the client id alone, and verifies the ID token", async () => {
    const { f, client, returned } = await walkedBack();
    expect(returned.searchParams.get("iss")).toBe(f.issuer);
    const tokens = await client.redeem(returned);
    expect(tokens.token_type).toBe("bearer");
    expect(tokens.expiresIn()).toBeGreaterThan(86_000);
    const header = JSON.parse(Buffer.from(tokens.id_token?.split(".")[0] ?? "", "base64url").toString());
    expect(header.alg).toBe("RS256");
    expect(tokens.claims()).toMatchObject({
      iss: f.issuer,
      sub: expect.any(String),
      aud: "customers",
      nonce: client.nonce,
      email: GRACE.email,
      email_verified: true,
    });
    expect(client.asked).toEqual([
      expect.stringMatching(/^GET \/sign-on\/.*\/\.well-known\/openid-configuration$/),
      expect.stringMatching(/^POST \/sign-on\/.*\/token$/),
      "GET /.well-known/jwks.json",
    ]);
  });

  test("gets an access token that is an ordinary customer token", async () => {
    const { f, client, returned } = await walkedBack();
    const tokens = await client.redeem(returned);
    const customer_id = tokens.claims()?.sub ?? "";
    const storefront = await openStorefront(f);
    const { status, body } = await storefront.lookAt({ customer_id, token: tokens.access_token });
    expect([status, body.data.id]).toEqual([200, customer_id]);
    const { token } = await signOn(f);
    expect(token.customer_id).toBe(customer_id);
  });

  test("finds the realm's features in the discovery document", async () => {
    const f = await openFederation();
    const { config } = await openClient(f);
    expect(config.serverMetadata().supportsPKCE()).toBe(true);
    expect(config.serverMetadata()).toMatchObject({
      issuer: f.issuer,
      id_token_signing_alg_values_supported: ["RS256", "ES256"],
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    });
  });

  test.each([
    ["another state", () => ({ expectedState: "somebody else's" }), (url: URL) => url],
    [
      "another issuer in the redirect",
      () => ({}),
      (url: URL) => withParameter(url, "iss", "https://keys.example/evil"),
    ],
    ["no issuer in the redirect", () => ({}), (url: URL) => withParameter(url, "iss", undefined)],
  ])("refuses %s before it sends the code", async (_, changes, forge) => {
    const { client, returned } = await walkedBack();
    await expect(client.redeem(forge(new URL(returned)), changes())).rejects.toMatchObject({
      code: "OAUTH_INVALID_RESPONSE",
    });
    expect(client.asked.filter((line) => line.startsWith("POST"))).toEqual([]);
    expect((await client.redeem(returned)).access_token).toBeTruthy();
  });

  test("refuses an ID token with another nonce", async () => {
    const { client, returned } = await walkedBack();
    await expect(client.redeem(returned, { expectedNonce: "of another sign-on" })).rejects.toMatchObject({
      code: "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
    });
  });

  test("refuses a discovery document of another issuer", async () => {
    const f = await openFederation();
    const other = new URL(`${f.issuer}/`);
    const discovery = oidc.discovery(other, "customers", undefined, oidc.None(), {
      [oidc.customFetch]: (url, init) => f.service(new Request(url, init as RequestInit)),
    });
    await expect(discovery).rejects.toMatchObject({ code: "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED" });
  });

  test("understands the service's errors: a redirect, a wrong verifier, a code used twice", async () => {
    const refused = await walkedBack({ prompt: "none" });
    await expect(refused.client.redeem(refused.returned)).rejects.toMatchObject({
      code: "OAUTH_AUTHORIZATION_RESPONSE_ERROR",
      error: "login_required",
    });
    const stolen = await walkedBack();
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
    await expect(stolen.client.redeem(stolen.returned, { pkceCodeVerifier })).rejects.toMatchObject({
      code: "OAUTH_RESPONSE_BODY_ERROR",
      error: "invalid_grant",
      status: 400,
    });
    const twice = await walkedBack();
    await twice.client.redeem(twice.returned);
    await expect(twice.client.redeem(twice.returned)).rejects.toMatchObject({ error: "invalid_grant" });
  });
});

function withParameter(url: URL, name: string, value: string | undefined): URL {
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url;
}
