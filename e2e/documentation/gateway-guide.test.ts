import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRemoteJWKSet, type JWTVerifyOptions, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { type Gateway, isHere, shownIn, startCaddy, startNginx } from "../support/gateways.ts";
import { GRACE, type HonestIdp, newCookieJar, startHonestIdp } from "../support/honest-idp.ts";
import {
  createStore,
  getToken,
  type Made,
  newPlace,
  type Place,
  type Running,
  serve,
} from "../support/running.ts";

/** Runs docs/guides/gateway.md: its configurations in front of a cart that trusts the headers of the gateway. */

const GUIDE = "docs/guides/gateway.md";
const STOREFRONT = "https://shop.example/signed-in";
const PASSWORD = "correct horse battery";

let place: Place;
let running: Running;
let idp: HonestIdp;
let cart: Server;
let made: Made;
let admin: string;
let implicit: string;
let realmId: string;
let profileId: string;
let byPassword: string;
let byOidc: string;
/** The carts by customer, and the headers of the last request to the cart. */
const carts = new Map<string, string[]>();
let arrived: NodeJS.Dict<string | string[]> = {};

const portOf = (server: Server) => (server.address() as AddressInfo).port;

async function send(path: string, token: string, data?: object, method = data ? "POST" : "GET") {
  const answer = await fetch(place.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(data && { body: JSON.stringify({ data }) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
  return ((await answer.json()) as { data: any }).data;
}

const claimsOf = (token: string): { sub: string; jti: string; exp: number } =>
  JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString());

async function startCart(): Promise<Server> {
  const server = createServer((request, response) => {
    arrived = request.headers;
    const customer = String(request.headers["x-latchkey-customer"]);
    const mine = carts.get(customer) ?? [];
    if (request.method === "POST") carts.set(customer, [...mine, String(request.url).slice(1)]);
    response.end(JSON.stringify(carts.get(customer) ?? []));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** A shopper's browser: to the identity provider and back; then the storefront trades the code. */
async function signOn(): Promise<string> {
  const jar = newCookieJar();
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    profile: profileId,
    scope: "openid email profile",
    response_type: "code",
    client_id: "customers",
    redirect_uri: STOREFRONT,
    state: "here",
    code_challenge_method: "S256",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  });
  const browse = (url: string) => fetch(url, { redirect: "manual", headers: jar.headersFor(url) });
  const begun = await browse(
    `${place.url}/sign-on/stores/${made.store.id}/realms/${realmId}/authorize?${query}`,
  );
  jar.keep(place.url, begun);
  const returned = await browse(await idp.walk(begun.headers.get("location") ?? "", jar));
  const code = new URL(returned.headers.get("location") ?? "").searchParams.get("code");
  const grant = {
    oauth_authorization_code: code,
    oauth_redirect_uri: STOREFRONT,
    oauth_code_verifier: verifier,
  };
  const data = { type: "token", authentication_mechanism: "oidc", ...grant };
  return (await send("/v2/customers/tokens", implicit, data)).token;
}

beforeAll(async () => {
  idp = await startHonestIdp();
  cart = await startCart();
  place = await newPlace();
  Object.assign(place.env, { LATCHKEY_EGRESS_ALLOW: idp.origin, LATCHKEY_TRUST_PROXY: "127.0.0.1" });
  running = await serve(place);
  made = await createStore(place, "--rate-limit", "1000");
  admin = await getToken(place.url, made);
  const form = { grant_type: "implicit", client_id: made.application_key.client_id };
  const token = await fetch(`${place.url}/oauth/access_token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  implicit = ((await token.json()) as { access_token: string }).access_token;
  realmId = (await send("/v2/customer-authentication-settings", admin)).realm_id;
  const realm = `/v2/authentication-realms/${realmId}`;
  const policy = { redirect_uris: [STOREFRONT], duplicate_email_policy: "api_only" };
  await send(realm, admin, { type: "authentication-realm", ...policy }, "PUT");
  const client = { client_id: idp.clientId, client_secret: idp.clientSecret };
  const profile = { type: "oidc-profile", name: "Honest", discovery_url: idp.discoveryUrl, ...client };
  profileId = (await send(`${realm}/oidc-profiles`, admin, profile)).id;
  idp.register({
    callback: `${place.url}/sign-on/stores/${made.store.id}/realms/${realmId}/profiles/${profileId}/callback`,
  });
  // Grace has a password, and her identity provider verifies the same e-mail address: she is one customer.
  const { email = "", name } = GRACE;
  const customer = { type: "customer", name, email, password: PASSWORD, email_verified: true };
  await send("/v2/customers", admin, customer);
  byPassword = (await send("/v2/customers/tokens", implicit, { type: "token", email, password: PASSWORD }))
    .token;
  byOidc = await signOn();
});
afterAll(async () => {
  running?.child.kill("SIGTERM");
  await running?.exited;
  cart?.close();
  await idp?.close();
  place?.leave();
});

const withPorts = (shown: string, port: number): string => {
  const latchkeyPort = place.env.PORT as string;
  return shown
    .replaceAll("127.0.0.1:4000", `localhost:${latchkeyPort}`)
    .replaceAll("127.0.0.1:5000", `127.0.0.1:${portOf(cart)}`)
    .replace("listen 8080;", `listen 127.0.0.1:${port};`)
    .replace(":8080 {", `http://127.0.0.1:${port} {`);
};

describe.each([
  ["nginx", "nginx", startNginx],
  ["caddy", "caddyfile", startCaddy],
] as const)("behind %s, configured by the guide", (kind, language, startGateway) => {
  let gateway: Gateway;
  const here = isHere(kind);

  beforeAll(async () => {
    if (!here) return;
    const port = await freePort();
    gateway = await startGateway(withPorts(shownIn(GUIDE, language), port), `http://127.0.0.1:${port}`);
    carts.clear();
  });
  afterAll(() => gateway?.close());

  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(gateway.url + path, { method, headers });
  const by = (customerToken: string) => ({
    authorization: `Bearer ${implicit}`,
    "x-customer-token": customerToken,
  });

  test.skipIf(!here)(
    "a shopper who signs in by OIDC finds the cart that was filled after a sign-in with e-mail and password",
    async () => {
      expect((await ask("/tea", by(byPassword), "POST")).status).toBe(200);
      expect(await (await ask("/", by(byOidc))).json()).toEqual(["tea"]);
      expect(carts.size).toBe(1);
    },
  );

  test.skipIf(!here)("the upstream service gets the identity, and no token", async () => {
    await ask("/?page=1&customer=42", by(byOidc));
    expect(arrived["x-latchkey-store"]).toBe(made.store.id);
    expect(arrived["x-latchkey-application-key"]).toBe(made.application_key.id);
    expect(arrived["x-latchkey-grant"]).toBe("implicit");
    expect(arrived["x-latchkey-realm"]).toBe(realmId);
    expect(carts.has(String(arrived["x-latchkey-customer"]))).toBe(true);
    expect([arrived.authorization, arrived["x-customer-token"]]).toEqual([undefined, undefined]);
  });

  test.skipIf(!here)("an identity header of the client does not reach the upstream service", async () => {
    const names = ["Store", "Application-Key", "Grant", "Role", "Customer", "Realm"];
    const lies = Object.fromEntries(names.map((name) => [`X-Latchkey-${name}`, "mallory"]));
    arrived = {};
    await ask("/", { ...lies, ...by(byOidc) });
    const told = Object.keys(arrived).filter((name) => name.startsWith("x-latchkey-"));
    // A shopper has no role.
    expect(told.sort()).toEqual(
      ["application-key", "customer", "grant", "realm", "store"].map((name) => `x-latchkey-${name}`),
    );
    expect(JSON.stringify(arrived)).not.toContain("mallory");
  });

  test.skipIf(!here)("nor does one under a name that many services read as the same", async () => {
    arrived = {};
    const aliases = [
      "X_Latchkey_Customer",
      "X-Latchkey_Customer",
      "X.Latchkey.Customer",
      "X~Latchkey!Customer",
      "X_Latchkey_Role",
      "X-Latchkey_Role",
      "X.Latchkey.Role",
      "x-LATCHKEY-role",
    ];
    const lies = Object.fromEntries(aliases.map((name) => [name, "mallory"]));
    await ask("/", { ...lies, ...by(byOidc) });
    expect(arrived["x-latchkey-store"]).toBe(made.store.id);
    expect(JSON.stringify(arrived)).not.toContain("mallory");
  });

  test.skipIf(!here)("the headers of the check arrive whatever the client lists in Connection", async () => {
    arrived = {};
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    const fields = {
      ...by(byOidc),
      host: new URL(gateway.url).host,
      connection: "close, X-Latchkey-Store, X-Latchkey-Customer",
    };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET / HTTP/1.1\r\n${lines.join("")}\r\n`);
    for await (const _ of socket);
    expect(arrived["x-latchkey-store"]).toBe(made.store.id);
    expect(arrived["x-latchkey-customer"]).toBe(claimsOf(byOidc).sub);
  });

  test.skipIf(!here)(
    "without a required shopper the upstream gets no shopper, and no address that the client invented",
    async () => {
      const port = await freePort();
      const shown = withPorts(shownIn(GUIDE, language), port).replace("?customer=required", "?");
      const open = await startGateway(shown, `http://127.0.0.1:${port}`);
      try {
        arrived = {};
        const headers = { authorization: `Bearer ${implicit}`, "x-forwarded-for": "192.0.2.66" };
        expect((await fetch(`${open.url}/?page=1&customer=42`, { headers })).status).toBe(200);
        expect(arrived["x-latchkey-grant"]).toBe("implicit");
        for (const name of ["customer", "realm", "role"])
          expect(arrived).not.toHaveProperty(`x-latchkey-${name}`);
        expect(arrived["x-forwarded-for"]).toBe("127.0.0.1");
      } finally {
        await open.close();
      }
    },
  );

  test.skipIf(!here)(
    "a required role of administrator refuses a viewer's key, and the upstream gets the role",
    async () => {
      const port = await freePort();
      const shown = withPorts(shownIn(GUIDE, language), port).replace(
        "?customer=required",
        "?role=administrator",
      );
      const backOffice = await startGateway(shown, `http://127.0.0.1:${port}`);
      const visit = (token: string) =>
        fetch(`${backOffice.url}/`, {
          headers: { authorization: `Bearer ${token}`, "x-latchkey-role": "administrator" },
        });
      try {
        const key = await send("/v2/application-keys", admin, {
          type: "application_key",
          name: "Reader",
          role: "viewer",
        });
        const viewer = await getToken(place.url, { ...made, application_key: key });
        arrived = {};
        for (const token of [viewer, implicit]) expect((await visit(token)).status).toBe(403);
        expect(arrived).toEqual({});
        expect((await visit(admin)).status).toBe(200);
        expect(arrived["x-latchkey-role"]).toBe("administrator");
      } finally {
        await backOffice.close();
      }
    },
  );

  test.skipIf(!here)("401 without a token, 403 without a shopper; nothing reaches the upstream", async () => {
    arrived = {};
    expect((await ask("/", { "x-latchkey-customer": "mallory" })).status).toBe(401);
    expect((await ask("/", { authorization: `Bearer ${implicit}` })).status).toBe(403);
    expect((await ask("/", by("x"))).status).toBe(403);
    expect(arrived).toEqual({});
  });

  test.skipIf(!here)("403 soon after the token was revoked", async () => {
    const again = await signOn();
    expect((await ask("/", by(again))).status).toBe(200);
    const { sub, jti } = claimsOf(again);
    const url = `${place.url}/v2/customers/${sub}/tokens/${jti}`;
    const revoked = await fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${admin}` } });
    expect(revoked.status).toBe(204);
    await until(async () => (await ask("/", by(again))).status === 403);
  });

  test.skipIf(!here)("429 with Retry-After when the store's limit is used up", async () => {
    const poor = await createStore(place, "--rate-limit", "5");
    const token = await getToken(place.url, poor);
    const { email = "" } = GRACE;
    const customer = { type: "customer", name: "Poor", email, password: PASSWORD };
    await send("/v2/customers", token, customer);
    const json = { type: "token", email, password: PASSWORD };
    let signedIn = "";
    await until(async () => {
      signedIn = (await send("/v2/customers/tokens", token, json))?.token ?? "";
      return signedIn;
    });
    const headers = { authorization: `Bearer ${token}`, "x-customer-token": signedIn };
    let refused: Response | undefined;
    await until(async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask("/", headers)));
      refused = answers.find(({ status }) => status === 429);
      return refused;
    });
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

test("a JWT library accepts customer tokens with the guide's options, and refuses those of another realm", async () => {
  const [, told = ""] =
    /^\| jose \| `(\{.*?\})`/m.exec(readFileSync(new URL(`../../${GUIDE}`, import.meta.url), "utf8")) ?? [];
  const optionsFor = new Function("issuer", "audience", `return ${told};`) as (
    issuer: string,
    audience: string,
  ) => JWTVerifyOptions;
  const keys = createRemoteJWKSet(new URL(`${place.url}/.well-known/jwks.json`));
  const issuer = `${place.url}/sign-on/stores/${made.store.id}/realms/${realmId}`;
  for (const token of [byOidc, byPassword]) {
    const { payload } = await jwtVerify(token, keys, optionsFor(issuer, place.url));
    expect(payload.sub).toBe(claimsOf(token).sub);
  }
  await expect(jwtVerify(byOidc, keys, optionsFor(`${issuer}x`, place.url))).rejects.toThrow('"iss"');
});

test("the guide names every claim of a customer token", () => {
  const guide = readFileSync(new URL(`../../${GUIDE}`, import.meta.url), "utf8");
  const named = [...guide.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, cell = ""]) =>
    cell.match(/\w+/g),
  );
  expect(named).toEqual(expect.arrayContaining(Object.keys(claimsOf(byOidc))));
});

test("the guide's forty lines accept customer tokens, and refuse those of another store, altered or expired", async () => {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-guide-"));
  const file = join(folder, "customer-of.mjs");
  writeFileSync(file, shownIn(GUIDE, "js"));
  Object.assign(process.env, { LATCHKEY_PUBLIC_URL: place.url, LATCHKEY_STORE: made.store.id });
  const { customerOf } = await import(file);
  const claims = claimsOf(byOidc);
  // Several requests at once, before the key set is loaded.
  expect(await Promise.all([byOidc, byPassword].map(customerOf))).toEqual([claims.sub, claims.sub]);
  const [head = "", body = "", signature = ""] = byOidc.split(".");
  const altered = Buffer.from(JSON.stringify({ ...claims, sub: "mallory" })).toString("base64url");
  for (const bad of [
    `${head}.${altered}.${signature}`,
    `${head}.${body}.`,
    `${head}.${body}`,
    "",
    implicit,
    admin,
  ])
    expect(await customerOf(bad)).toBeUndefined();
  const realNow = Date.now;
  Date.now = () => (claims.exp + 1) * 1000;
  expect(await customerOf(byOidc)).toBeUndefined();
  Date.now = realNow;
  // A key set that cannot be reloaded stays in use.
  const realFetch = globalThis.fetch;
  globalThis.fetch = () => Promise.reject(new Error("away"));
  Date.now = () => realNow() + 6 * 60_000;
  expect(await Promise.all([byOidc, byPassword].map(customerOf))).toEqual([claims.sub, claims.sub]);
  Date.now = realNow;
  globalThis.fetch = realFetch;
  process.env.LATCHKEY_STORE = "another";
  writeFileSync(join(folder, "other.mjs"), shownIn(GUIDE, "js"));
  const other = await import(join(folder, "other.mjs"));
  expect(await other.customerOf(byOidc)).toBeUndefined();
  rmSync(folder, { recursive: true });
  // Later test files of this process would otherwise use the replaced fetch.
  for (const name of ["LATCHKEY_PUBLIC_URL", "LATCHKEY_STORE"]) delete process.env[name];
});
