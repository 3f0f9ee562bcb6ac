import { readFileSync } from "node:fs";
import { createServer, get, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { Auth } from "@auth/core";
import * as openid from "openid-client";
import { Strategy } from "openid-client/passport";
import * as openid5 from "openid-client-5";
import passport from "passport";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import {
  type CookieJar,
  GRACE,
  type HonestIdp,
  newCookieJar,
  startHonestIdp,
} from "../support/honest-idp.ts";
import {
  createStore,
  getToken,
  type Made,
  newPlace,
  type Place,
  type Running,
  serve,
} from "../support/running.ts";
import { hasApache, startApache } from "./apache.ts";

/**
 * The table of docs/guides/storefront.md: published client libraries, with their defaults and the options of the table.
 * The service is a process of its own, the identity provider is `oidc-provider`.
 */
let place: Place;
let running: Running;
let idp: HonestIdp;
let made: Made;
let issuer: string;
let appPort: number;
let pagePort: number;
let apachePort: number;

const app = () => `http://localhost:${appPort}`;
const page = () => `http://localhost:${pagePort}/`;
const CALLBACK = "https://shop.example/signed-in";

async function send(path: string, token: string, data?: object, method = data ? "POST" : "GET") {
  const answer = await fetch(place.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(data && { body: JSON.stringify({ data }) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
  return (await answer.json()) as any;
}

beforeAll(async () => {
  idp = await startHonestIdp();
  place = await newPlace();
  [appPort, pagePort, apachePort] = [await freePort(), await freePort(), await freePort()];
  Object.assign(place.env, { LATCHKEY_EGRESS_ALLOW: idp.origin });
  running = await serve(place);
  made = await createStore(place, "--rate-limit", "1000");
  const admin = await getToken(place.url, made);
  const realmId = (await send("/v2/customer-authentication-settings", admin)).data.realm_id;
  const realm = `/v2/authentication-realms/${realmId}`;
  const redirect_uris = [
    CALLBACK,
    `${app()}/auth/callback/latchkey`,
    `${app()}/signed-in`,
    page(),
    `http://localhost:${apachePort}/signed-in`,
    `http://localhost:${apachePort}/bye`,
  ];
  await send(realm, admin, { type: "authentication-realm", redirect_uris }, "PUT");
  const client = { client_id: idp.clientId, client_secret: idp.clientSecret };
  const profile = await send(`${realm}/oidc-profiles`, admin, {
    type: "oidc-profile",
    name: "Honest",
    discovery_url: idp.discoveryUrl,
    ...client,
  });
  idp.register({ callback: profile.links["callback-endpoint"] });
  issuer = `${place.url}/sign-on/stores/${made.store.id}/realms/${realmId}`;
});

afterAll(async () => {
  running?.child.kill();
  await running?.exited;
  await idp?.close();
  place?.leave();
});

/** A browser that follows redirects to an address with this beginning. */
async function browse(start: string, until: string, jar: CookieJar = newCookieJar()): Promise<string> {
  let at = start;
  for (let hops = 0; hops < 20 && !at.startsWith(until); hops++) {
    if (at.startsWith(idp.origin)) {
      at = await idp.walk(at, jar);
      continue;
    }
    const answer = await fetch(at, { redirect: "manual", headers: jar.headersFor(at) });
    jar.keep(at, answer);
    const next = answer.headers.get("location");
    if (next === null) throw new Error(`${at} answers ${answer.status}: ${await answer.text()}`);
    at = new URL(next, at).href;
  }
  return at;
}

async function listen(listener: RequestListener, port: number): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}
const close = (server: Server) =>
  new Promise((resolve) => {
    server.closeAllConnections();
    server.close(resolve);
  });

const clientId = () => made.application_key.client_id;
const clientSecret = () => made.application_key.client_secret;

describe("openid-client 6", () => {
  test.each(["the public client", "an application key"])(
    "%s signs on, reads UserInfo and signs out",
    async (who) => {
      const insecure = { execute: [openid.allowInsecureRequests] };
      const config =
        who === "an application key"
          ? await openid.discovery(new URL(issuer), clientId(), clientSecret(), undefined, insecure)
          : await openid.discovery(new URL(issuer), "customers", undefined, openid.None(), insecure);
      const verifier = openid.randomPKCECodeVerifier();
      const state = openid.randomState();
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: CALLBACK,
        scope: "openid email profile",
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        max_age: "3600",
      });
      const back = new URL(await browse(url.href, CALLBACK));
      const tokens = await openid.authorizationCodeGrant(config, back, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        maxAge: 3600,
      });
      const sub = tokens.claims()?.sub ?? "";
      expect(await openid.fetchUserInfo(config, tokens.access_token, sub)).toEqual({
        sub,
        email: GRACE.email,
        email_verified: true,
        name: GRACE.name,
      });
      const out = openid.buildEndSessionUrl(config, {
        id_token_hint: tokens.id_token as string,
        post_logout_redirect_uri: CALLBACK,
        state: "out",
      });
      expect(await browse(out.href, CALLBACK)).toBe(`${CALLBACK}?state=out`);
      await expect(openid.fetchUserInfo(config, tokens.access_token, sub)).rejects.toThrow();
    },
  );

  test("a `standard` key signs on with a nonce, without PKCE and without `email`, and revokes its token", async () => {
    const admin = await getToken(place.url, made);
    const data = { type: "application_key", name: "Standard", openid_client: "standard" };
    const { data: key } = await send("/v2/application-keys", admin, data);
    const insecure = { execute: [openid.allowInsecureRequests] };
    const config = await openid.discovery(
      new URL(issuer),
      key.client_id,
      key.client_secret,
      undefined,
      insecure,
    );
    const [nonce, state] = [openid.randomNonce(), openid.randomState()];
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: "openid",
      nonce,
      state,
    });
    const back = new URL(await browse(url.href, CALLBACK));
    const tokens = await openid.authorizationCodeGrant(config, back, {
      expectedNonce: nonce,
      expectedState: state,
    });
    const sub = tokens.claims()?.sub ?? "";
    expect(await openid.fetchUserInfo(config, tokens.access_token, sub)).toEqual({ sub });
    await openid.tokenRevocation(config, tokens.access_token);
    await expect(openid.fetchUserInfo(config, tokens.access_token, sub)).rejects.toThrow();
  });
});

test("openid-client 5, with its defaults: RS256 and client_secret_basic", async () => {
  const { Client } = await openid5.Issuer.discover(issuer);
  const client = new Client({
    client_id: clientId(),
    client_secret: clientSecret(),
    redirect_uris: [CALLBACK],
    response_types: ["code"],
  });
  const code_verifier = openid5.generators.codeVerifier();
  const state = openid5.generators.state();
  const url = client.authorizationUrl({
    scope: "openid email",
    code_challenge: openid5.generators.codeChallenge(code_verifier),
    code_challenge_method: "S256",
    state,
  });
  const params = client.callbackParams(await browse(url, CALLBACK));
  const tokens = await client.callback(CALLBACK, params, { code_verifier, state });
  expect((await client.userinfo(tokens)).email).toBe(GRACE.email);
  const out = client.endSessionUrl({ id_token_hint: tokens, post_logout_redirect_uri: CALLBACK });
  expect(await browse(out, CALLBACK)).toBe(CALLBACK);
});

test("Auth.js", async () => {
  const config = {
    secret: "a secret of the storefront",
    trustHost: true,
    basePath: "/auth",
    providers: [
      {
        id: "latchkey",
        name: "Latchkey",
        type: "oidc" as const,
        issuer,
        clientId: clientId(),
        clientSecret: clientSecret(),
        checks: ["pkce" as const, "state" as const],
      },
    ],
  };
  const jar = newCookieJar();
  const ask = async (path: string, init: RequestInit = {}) => {
    const url = path.startsWith("http") ? path : `${app()}${path}`;
    const headers = { ...jar.headersFor(url), ...(init.headers as Record<string, string>) };
    const answer = (await Auth(new Request(url, { ...init, headers }), config)) as Response;
    jar.keep(url, answer);
    return answer;
  };
  const { csrfToken } = (await (await ask("/auth/csrf")).json()) as { csrfToken: string };
  const begun = await ask("/auth/signin/latchkey", {
    method: "POST",
    body: new URLSearchParams({ csrfToken, callbackUrl: app() }),
  });
  const back = await browse(begun.headers.get("location") ?? "", `${app()}/auth/callback`);
  expect((await ask(back)).headers.get("location")).toBe(app());
  const session = (await (await ask("/auth/session")).json()) as { user: object };
  expect(session.user).toMatchObject({ email: GRACE.email });
});

test("Passport, with the strategy of openid-client", async () => {
  const config = await openid.discovery(new URL(issuer), clientId(), clientSecret(), undefined, {
    execute: [openid.allowInsecureRequests],
  });
  class WithState extends Strategy {
    override authorizationRequestParams(...given: Parameters<Strategy["authorizationRequestParams"]>) {
      const parameters = new URLSearchParams(super.authorizationRequestParams(...given) as URLSearchParams);
      parameters.set("state", openid.randomState());
      return parameters;
    }
  }
  const strategy = new WithState(
    { name: "latchkey", config, scope: "openid email", callbackURL: `${app()}/signed-in` },
    (tokens, verified) => verified(null, tokens.claims()),
  );
  passport.use(strategy);
  const session = {};
  const server = await listen((request, response) => {
    const url = new URL(request.url ?? "/", app());
    // The middleware of Express and its sessions.
    Object.assign(request, {
      session,
      query: Object.fromEntries(url.searchParams),
      originalUrl: request.url,
    });
    Object.assign(request, {
      protocol: "http",
      host: url.host,
      get: (name: string) => request.headers[name],
    });
    const done = (_: unknown, user: unknown) => response.end(JSON.stringify(user));
    passport.authenticate("latchkey", { session: false }, done)(request, response, done);
  }, appPort);
  try {
    const back = await browse(`${app()}/sign-in`, `${app()}/signed-in`);
    expect(await (await fetch(back)).json()).toMatchObject({ email: GRACE.email, aud: clientId() });
  } finally {
    await close(server);
  }
});

test.skipIf(!hasChromium)(
  "oidc-client-ts, in a browser: signs on, reads UserInfo, revokes its token, signs out",
  async () => {
    const script = readFileSync(
      new URL("../../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js", import.meta.url),
    );
    const settings = {
      authority: issuer,
      client_id: "customers",
      redirect_uri: page(),
      post_logout_redirect_uri: page(),
      scope: "openid email",
      loadUserInfo: true,
    };
    const html = `<!doctype html><title>shop</title><script src="/library.js"></script><p></p><script>
    const users = new oidc.UserManager(${JSON.stringify(settings)});
    const say = (text) => { document.querySelector("p").textContent = text; };
    const go = async () => {
      if (location.search.includes("code=")) say((await users.signinCallback()).profile.email);
      else if (location.search.includes("state=")) { await users.signoutCallback(); say("signed out"); }
      else await users.signinRedirect();
    };
    go().catch((error) => say("failed: " + error.message));
  </script>`;
    const server = await listen((request, response) => {
      const isScript = request.url === "/library.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? script : html);
    }, pagePort);
    const browser = await launchChromium();
    try {
      const tab = await browser.newPage();
      await tab.goto(page());
      await tab.getByText(GRACE.email as string).waitFor();
      const askUserinfo = `users.getUser().then((user) => fetch(${JSON.stringify(`${issuer}/userinfo`)}, {
      headers: { authorization: "Bearer " + (kept ??= user.access_token) },
    })).then((answer) => answer.status)`;
      await tab.evaluate("void (window.kept = undefined)");
      expect(await tab.evaluate(askUserinfo)).toBe(200);
      await tab.evaluate('users.revokeTokens(["access_token"])');
      expect(await tab.evaluate(askUserinfo)).toBe(401);
      await tab.evaluate("void users.signoutRedirect({ state: 1 })");
      await tab.getByText("signed out").waitFor();
    } finally {
      await browser.close();
      await close(server);
    }
  },
);

test.skipIf(!hasApache)("mod_auth_openidc, from Debian", async () => {
  const here = `http://localhost:${apachePort}`;
  const apache = await startApache(
    `OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID ${clientId()}
OIDCClientSecret ${clientSecret()}
OIDCRedirectURI ${here}/signed-in
OIDCCryptoPassphrase a-secret-of-the-shop
OIDCScope "openid email"
OIDCPKCEMethod S256
<Location />
  AuthType openid-connect
  Require valid-user
  Header always set X-Email "expr=%{reqenv:OIDC_CLAIM_email}"
</Location>
`,
    apachePort,
  );
  try {
    const jar = newCookieJar();
    const account = `${here}/account`;
    // The headers of a page: mod_auth_openidc answers 401 to a request that declares itself a script's.
    const headers = { accept: "text/html", "user-agent": "node" };
    const begun = await new Promise<IncomingMessage>((resolve) => get(account, { headers }, resolve));
    begun.resume();
    expect(begun.statusCode, apache.errors()).toBe(302);
    const cookies = (begun.headers["set-cookie"] ?? []).map((line): [string, string] => ["set-cookie", line]);
    jar.keep(account, new Response(null, { headers: cookies }));
    expect(await browse(begun.headers.location ?? "", account, jar)).toBe(account);
    const answer = await fetch(account, { headers: jar.headersFor(account) });
    expect([await answer.text(), answer.headers.get("x-email")]).toEqual(["account", GRACE.email]);
  } finally {
    await apache.close();
  }
});
