import * as client from "openid-client";
import { describe, expect, test } from "vitest";
import { handClock } from "../../support/clock.ts";
import { SHOP } from "../../support/federation.ts";
import { f, opensItsCustomer, pathOf, realmAsProvider, send, withOptions } from "./realm.ts";

/** A client library walks through a sign-on; the cases of the conformance suites at the authorization endpoint. */

realmAsProvider();

describe("openid-client", () => {
  test("discovers the realm, signs on, and verifies issuer, state, nonce and signature", async () => {
    await withOptions({ clock: handClock(Date.now()) });
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
    expect(await opensItsCustomer(tokens.access_token)).toBe(true);
  });
});

describe("the authorization endpoint in the conformance suites", () => {
  /** The result of a request: a code, an error at the storefront, or a page. */
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
    ["further scopes", { scope: "address email phone openid offline_access" }, "code"],
    ["no scope openid", { scope: "email" }, "error invalid_scope"],
    [
      "the method plain (par-plain-pkce-rejected)",
      { code_challenge_method: "plain" },
      "error invalid_request",
    ],
    ["no method, which defaults to plain", { code_challenge_method: undefined }, "error invalid_request"],
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
  ])("%s: the provider's %s reaches the storefront with its state", async (_, error) => {
    f.idp.hooks.redirect = ({ state = "" }) => ({ error, state });
    const { returned } = await f.signOn({ parameters: { prompt: "none" } });
    expect([returned.get("error"), returned.get("state"), returned.get("code")]).toEqual([
      error,
      "the storefront's state",
      null,
    ]);
  });

  test("par-without-duplicate-parameters: 303 invalid_request for any known parameter given twice", async () => {
    for (const name of ["state", "scope", "response_type", "code_challenge", "nonce", "prompt"]) {
      const query = new URLSearchParams(f.parameters({ nonce: "n", prompt: "login" }));
      query.append(name, query.get(name) ?? "");
      const { status, headers } = await send("GET", `${pathOf("/authorize")}?${query}`);
      const returned = new URL(headers.get("location") ?? "").searchParams;
      expect([name, status, returned.get("error")]).toEqual([name, 303, "invalid_request"]);
    }
  });
});
