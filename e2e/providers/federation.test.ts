import * as oidc from "openid-client";
import { afterEach, describe, expect, test } from "vitest";
import { createProfile } from "../../packages/server/src/contract/oidc-profiles.ts";
import { getAuthenticationSettings, updateRealm } from "../../packages/server/src/contract/realms.ts";
import { getSignOn, listSignOns } from "../../packages/server/src/contract/sign-ons.ts";
import { createTestApp, PUBLIC_URL } from "../../packages/server/test/support/app.ts";
import { handClock } from "../../packages/server/test/support/clock.ts";
import { newPkce, SHOP } from "../../packages/server/test/support/federation.ts";
import { GRACE, type HonestIdpOptions, newCookieJar, startHonestIdp } from "../support/honest-idp.ts";

/**
 * Storefront, service and identity provider in one process. Only the service is ours: the provider is `oidc-provider`, and
 * the storefront is either what the contract tells one to do, with `fetch` and nothing else, or `openid-client`.
 */
type Federation = Awaited<ReturnType<typeof openFederation>>;
let opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const federation of opened) await federation.close();
  opened = [];
});

async function openFederation(options: HonestIdpOptions & { clientSecret?: string } = {}) {
  const idp = await startHonestIdp(options);
  // The provider and the client library go by the machine's clock, so ours begins there.
  const clock = handClock(Date.now());
  const latchkey = await createTestApp({ allowedOrigins: [idp.origin], clock });
  const store = await latchkey.createStore(100_000);
  const settings = await store.call(getAuthenticationSettings);
  const realmId: string = settings.body.data.realm_id;
  await store.call(updateRealm, {
    ids: { id: realmId },
    json: { data: { type: "authentication-realm", redirect_uris: [SHOP] } },
  });
  const data = {
    type: "oidc-profile",
    name: "Honest",
    discovery_url: idp.discoveryUrl,
    client_id: idp.clientId,
    client_secret: options.clientSecret ?? idp.clientSecret,
  };
  const profile = await store.call(createProfile, { ids: { realm: realmId }, json: { data } });
  const links: Record<"callback-endpoint" | "backchannel-logout-endpoint", string> = profile.body.links;
  idp.register({ callback: links["callback-endpoint"] });

  const federation = {
    idp,
    clock,
    store,
    links,
    issuer: `${PUBLIC_URL}/sign-on/stores/${store.store.id}/realms/${realmId}`,
    service: (request: Request): Promise<Response> =>
      Promise.resolve(latchkey.app.fetch(request, { incoming: { socket: { remoteAddress: "127.0.0.1" } } })),
    /** What the service has written down of a sign-on. */
    async recordOf(reference: string) {
      await latchkey.app.tidy();
      const { body } = await store.call(listSignOns, { query: `filter=eq(reference,${reference})` });
      return (await store.call(getSignOn, { ids: { id: body.data[0].id } })).body.data;
    },
    async close() {
      await latchkey.close();
      await idp.close();
    },
  };
  opened.push(federation);
  return federation;
}

/** A browser that goes wherever it is sent, with the cookies that belong there. */
function openBrowser({ service, idp }: Federation) {
  const jar = newCookieJar();
  /** One visit to the service; where it sends the browser. */
  async function visit(url: string): Promise<string> {
    const response = await service(new Request(url, { headers: jar.headersFor(url) }));
    jar.keep(url, response);
    const location = response.headers.get("location");
    if (location === null)
      throw new Error(`the service answers ${response.status}: ${await response.text()}`);
    return location;
  }
  return {
    jar,
    visit,
    /** From wherever it is, back to the storefront. */
    async go(url: string): Promise<URL> {
      let at = url;
      while (!at.startsWith(SHOP)) at = at.startsWith(PUBLIC_URL) ? await visit(at) : await idp.walk(at, jar);
      return new URL(at);
    },
  };
}

type Begun = { url: string; state: string; verifier: string };

/** What the contract tells a storefront to do, step by step. */
async function openStorefront({ service, store }: Federation) {
  // biome-ignore lint/suspicious/noExplicitAny: a storefront in JavaScript looks at what comes
  async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: any }> {
    const response = await service(new Request(`${PUBLIC_URL}${path}`, init));
    return { status: response.status, body: await response.json() };
  }
  const form = new URLSearchParams({ grant_type: "implicit", client_id: store.key.clientId });
  const { body: access } = await ask("/oauth/access_token", { method: "POST", body: form });
  const headers = { authorization: `Bearer ${access.access_token}`, "content-type": "application/json" };
  const { body: settings } = await ask("/v2/customer-authentication-settings", { headers });
  const realmPath = `/v2/authentication-realms/${settings.data.realm_id}`;
  const { body: profiles } = await ask(`${realmPath}/oidc-profiles/`, { headers });
  const link: string = profiles.data[0].links["authorization-endpoint"];

  return {
    begin(more: Record<string, string> = {}): Begun {
      const { verifier, challenge } = newPkce();
      const state = newPkce().verifier;
      const parameters = new URLSearchParams({
        scope: "openid email",
        response_type: "code",
        client_id: settings.data.client_id,
        redirect_uri: SHOP,
        state,
        code_challenge_method: "S256",
        code_challenge: challenge,
        ...more,
      });
      return { url: `${link}&${parameters}`, state, verifier };
    },
    finish({ state, verifier }: Begun, { searchParams }: URL) {
      if (searchParams.get("state") !== state) throw new Error("this is not the sign-on that we began");
      const data = {
        type: "token",
        authentication_mechanism: "oidc",
        oauth_authorization_code: searchParams.get("code"),
        oauth_redirect_uri: SHOP,
        oauth_code_verifier: verifier,
      };
      return ask("/v2/customers/tokens", { method: "POST", headers, body: JSON.stringify({ data }) });
    },
    /** The customer, as far as the customer token shows it. */
    lookAt: (token: { customer_id: string; token: string }) =>
      ask(`/v2/customers/${token.customer_id}`, { headers: { ...headers, "x-customer-token": token.token } }),
  };
}

/** One sign-on from the click to the customer token. */
async function signOn(
  federation: Federation,
  browser = openBrowser(federation),
  more: Record<string, string> = {},
) {
  const storefront = await openStorefront(federation);
  const begun = storefront.begin(more);
  const returned = await browser.go(begun.url);
  const { status, body } = await storefront.finish(begun, returned);
  return { status, token: body.data, storefront };
}

const loginPages = ({ idp }: Federation) =>
  idp.journal.filter(({ path }) => path.startsWith("/interaction/")).length;

describe("a storefront that does what the contract says", () => {
  test("signs a shopper in whose e-mail is only in UserInfo, which gets the access token in its header (seed 4, N28, N80, N86)", async () => {
    const f = await openFederation();
    const { status, token, storefront } = await signOn(f);
    expect(status).toBe(200);
    expect(token).toEqual({
      type: "token",
      id: expect.any(String),
      customer_id: expect.any(String),
      token: expect.any(String),
      expires: Math.floor(f.clock.now() / 1000) + 86_400,
    });
    const { body } = await storefront.lookAt(token);
    expect(body.data).toMatchObject({
      email: GRACE.email,
      email_verified: true,
      authentication_mechanism: "oidc",
      password: false,
    });
    const asked = f.idp.journal.filter(({ path }) => path === "/me");
    expect(asked).toEqual([
      { method: "GET", path: "/me", query: "", authorization: expect.stringMatching(/^Bearer \S+$/) },
    ]);
  });

  test.each(["RS256", "ES256"] as const)(
    "needs no UserInfo when the ID token, signed with %s, has the e-mail (N28)",
    async (algorithm) => {
      const f = await openFederation({ algorithm, emailIn: "id_token" });
      const { token, storefront } = await signOn(f);
      expect((await storefront.lookAt(token)).body.data.email).toBe(GRACE.email);
      expect(f.idp.asked("/me")).toBe(0);
    },
  );

  test("learns the shopper's name when it asks for the scope profile", async () => {
    const f = await openFederation();
    const nameless = await signOn(f);
    expect((await nameless.storefront.lookAt(nameless.token)).body.data.name).toBe(GRACE.email);
    f.idp.person = { ...GRACE, sub: "somebody else" };
    const { token, storefront } = await signOn(f, openBrowser(f), { scope: "openid email profile" });
    expect((await storefront.lookAt(token)).body.data.name).toBe(GRACE.name);
  });

  test("finds the same customer again, without another login page at the provider", async () => {
    const f = await openFederation();
    const browser = openBrowser(f);
    const first = await signOn(f, browser);
    const pages = loginPages(f);
    const second = await signOn(f, browser);
    expect(loginPages(f)).toBe(pages);
    expect(second.token.customer_id).toBe(first.token.customer_id);
    expect(second.token.id).not.toBe(first.token.id);
    const elsewhere = await signOn(f, openBrowser(f));
    expect(elsewhere.token.customer_id).toBe(first.token.customer_id);
  });

  test("has three sign-ons open at once in one browser; all end well, in any order, and as one customer", async () => {
    const f = await openFederation();
    const browser = openBrowser(f);
    const storefront = await openStorefront(f);
    const tabs = [storefront.begin(), storefront.begin(), storefront.begin()];
    const atIdp: string[] = [];
    for (const { url } of tabs) atIdp.push(await browser.visit(url));
    const returned = new Map<number, URL>();
    for (const tab of [1, 2, 0]) returned.set(tab, await browser.go(atIdp[tab] as string));
    const answers = await Promise.all(
      tabs.map((begun, tab) => storefront.finish(begun, returned.get(tab) as URL)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.data.customer_id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.data.token)).size).toBe(3);
  });
});

describe("what the storefront asks of the provider", () => {
  test("prompt=login shows the login page again (seed 4.3)", async () => {
    const f = await openFederation();
    const browser = openBrowser(f);
    await signOn(f, browser);
    const pages = loginPages(f);
    expect((await signOn(f, browser, { prompt: "login" })).status).toBe(200);
    expect(loginPages(f)).toBeGreaterThan(pages);
  });

  test("prompt=none: who is not signed in there comes back with login_required (oidcc-prompt-none-not-logged-in)", async () => {
    const f = await openFederation();
    const storefront = await openStorefront(f);
    const { url, state } = storefront.begin({ prompt: "none" });
    const returned = await openBrowser(f).go(url);
    expect(Object.fromEntries(returned.searchParams)).toEqual({
      error: "login_required",
      error_description: expect.any(String),
      reason: "idp_error",
      reference: expect.any(String),
      state,
      iss: f.issuer,
    });
    expect(loginPages(f)).toBe(0);
  });

  test("prompt=none: who is signed in there is signed in here without a page (oidcc-prompt-none-logged-in)", async () => {
    const f = await openFederation();
    const browser = openBrowser(f);
    await signOn(f, browser);
    const pages = loginPages(f);
    expect((await signOn(f, browser, { prompt: "none" })).status).toBe(200);
    expect(loginPages(f)).toBe(pages);
  });

  test("display and ui_locales arrive as they were sent, and do no harm (seed 4.3)", async () => {
    const f = await openFederation();
    const wanted = { display: "popup", ui_locales: "fr-CA fr en" };
    expect((await signOn(f, openBrowser(f), wanted)).status).toBe(200);
    const { query } = f.idp.journal.find(({ path }) => path === "/auth") ?? {};
    expect(`&${query}&`).toContain(`&${new URLSearchParams(wanted)}&`);
  });
});

describe("what the provider answers", () => {
  test("a shopper who says no there comes back with access_denied", async () => {
    const f = await openFederation();
    f.idp.refuses = true;
    const storefront = await openStorefront(f);
    const begun = storefront.begin();
    const { searchParams } = await openBrowser(f).go(begun.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      error: "access_denied",
      state: begun.state,
      iss: f.issuer,
    });
    expect(searchParams.has("code")).toBe(false);
    expect(await f.recordOf(searchParams.get("reference") ?? "")).toMatchObject({
      outcome: "failed",
      reason: "idp_error",
      error: "access_denied",
    });
  });

  test("a provider that does not accept the store's secret is told apart from one that is down", async () => {
    const f = await openFederation({ clientSecret: "not the one" });
    const storefront = await openStorefront(f);
    const { searchParams } = await openBrowser(f).go(storefront.begin().url);
    expect(searchParams.get("error")).toBe("server_error");
    expect((await f.recordOf(searchParams.get("reference") ?? "")).reason).toBe("token.client_refused");
  });

  test("a person without an e-mail there is refused with a reason (seed 1, requirement 4)", async () => {
    const f = await openFederation();
    f.idp.person = { sub: "nameless" };
    const storefront = await openStorefront(f);
    const { searchParams } = await openBrowser(f).go(storefront.begin().url);
    expect(searchParams.get("error")).toBe("access_denied");
    expect((await f.recordOf(searchParams.get("reference") ?? "")).reason).toBe("claims.email_missing");
  });

  test("new signing keys between two sign-ons are read when they are first seen (N53)", async () => {
    const f = await openFederation();
    const first = await signOn(f);
    const before = f.idp.asked("/jwks");
    f.idp.rotateKey();
    const second = await signOn(f);
    expect(second.status).toBe(200);
    expect(second.token.customer_id).toBe(first.token.customer_id);
    expect(f.idp.asked("/jwks")).toBe(before + 1);
    await signOn(f);
    expect(f.idp.asked("/jwks")).toBe(before + 1);
  });
});

describe("signing out at the provider", () => {
  async function openTwice(namesSession: boolean) {
    const f = await openFederation();
    f.idp.register({
      callback: f.links["callback-endpoint"],
      logout: f.links["backchannel-logout-endpoint"],
      namesSession,
    });
    const answers: number[] = [];
    f.idp.deliver = async (request) => {
      const response = await f.service(request);
      answers.push(response.status);
      return response;
    };
    const browsers = [openBrowser(f), openBrowser(f)] as const;
    const sessions = [await signOn(f, browsers[0]), await signOn(f, browsers[1])] as const;
    return { f, answers, browsers, sessions };
  }
  const stands = async ({ storefront, token }: Awaited<ReturnType<typeof signOn>>) =>
    (await storefront.lookAt(token)).status;

  test("ends the customer token of that browser, and of no other, when the provider names the session", async () => {
    const { f, answers, browsers, sessions } = await openTwice(true);
    expect([await stands(sessions[0]), await stands(sessions[1])]).toEqual([200, 200]);
    await f.idp.signOut(browsers[0].jar);
    expect(answers).toEqual([200]);
    expect([await stands(sessions[0]), await stands(sessions[1])]).toEqual([403, 200]);
    const { body } = await sessions[0].storefront.lookAt(sessions[0].token);
    expect(body.errors[0].code).toBe("customer_token_invalid");
  });

  test("ends all customer tokens of the person when the provider names nobody but the person", async () => {
    const { f, answers, browsers, sessions } = await openTwice(false);
    await f.idp.signOut(browsers[1].jar);
    expect(answers).toEqual([200]);
    expect([await stands(sessions[0]), await stands(sessions[1])]).toEqual([403, 403]);
  });

  test("makes a code void that was not redeemed yet", async () => {
    const { f, browsers, sessions } = await openTwice(true);
    const { storefront } = sessions[0];
    const begun = storefront.begin();
    const returned = await browsers[0].go(begun.url);
    await f.idp.signOut(browsers[0].jar);
    const { status, body } = await storefront.finish(begun, returned);
    expect([status, body.errors[0].code]).toEqual([400, "code_invalid"]);
  });
});

describe("openid-client as the storefront", () => {
  async function openClient(f: Federation) {
    const asked: string[] = [];
    const config = await oidc.discovery(new URL(f.issuer), "customers", undefined, oidc.None(), {
      // It would take the token endpoint's word otherwise, and not look at the signature.
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

  test("signs a shopper in with nothing but the issuer and the client id, and verifies the ID token", async () => {
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

  test("gets an access token that is a customer token like any other", async () => {
    const { f, client, returned } = await walkedBack();
    const tokens = await client.redeem(returned);
    const customer_id = tokens.claims()?.sub ?? "";
    const storefront = await openStorefront(f);
    const { status, body } = await storefront.lookAt({ customer_id, token: tokens.access_token });
    expect([status, body.data.id]).toEqual([200, customer_id]);
    const { token } = await signOn(f);
    expect(token.customer_id).toBe(customer_id);
  });

  test("finds in the discovery document what the realm can do", async () => {
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
  ])("refuses %s before it shows the code to anybody", async (_, changes, forge) => {
    const { client, returned } = await walkedBack();
    await expect(client.redeem(forge(new URL(returned)), changes())).rejects.toMatchObject({
      code: "OAUTH_INVALID_RESPONSE",
    });
    expect(client.asked.filter((line) => line.startsWith("POST"))).toEqual([]);
    expect((await client.redeem(returned)).access_token).toBeTruthy();
  });

  test("refuses an ID token with another nonce than its own", async () => {
    const { client, returned } = await walkedBack();
    await expect(client.redeem(returned, { expectedNonce: "of another sign-on" })).rejects.toMatchObject({
      code: "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
    });
  });

  test("refuses a discovery document of another issuer than it asked for", async () => {
    const f = await openFederation();
    const other = new URL(`${f.issuer}/`);
    const discovery = oidc.discovery(other, "customers", undefined, oidc.None(), {
      [oidc.customFetch]: (url, init) => f.service(new Request(url, init as RequestInit)),
    });
    await expect(discovery).rejects.toMatchObject({ code: "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED" });
  });

  test("reads our refusals: the error of a redirect, a wrong verifier, a code used twice", async () => {
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
