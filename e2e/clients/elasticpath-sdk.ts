import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gateway, MemoryStorageFactory } from "@elasticpath/js-sdk";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import type { App } from "../../packages/server/src/app.ts";
import { createHttpServer } from "../../packages/server/src/http/server.ts";
import { createTestApp } from "../../packages/server/test/support/app.ts";
import { handClock } from "../../packages/server/test/support/clock.ts";
import { newPkce, SHOP } from "../../packages/server/test/support/federation.ts";
import { type HonestIdp, newCookieJar, startHonestIdp } from "../support/honest-idp.ts";

/**
 * `@elasticpath/js-sdk` 35.0.0, unchanged, against a service on loopback. Its calls for each area:
 *
 *   access tokens          Authenticate, credentials, custom_authenticator; automatically before the first call, and on 401
 *   application keys       ApplicationKeys.All, Get, Create, Update, Delete (Limit, Offset)
 *   settings               AuthenticationSettings.Get, AccountAuthenticationSettings.Get, Settings.All
 *   realms                 AuthenticationRealm.All, Get, Create, Update, Delete (Limit, Offset)
 *   OIDC profiles          OidcProfile.All, Get, Create, Update, Delete (Limit, Offset)
 *   customers              Customers.All, Get, Create, Update, Delete (Filter, Sort, Limit, Offset, With, TotalMethod)
 *   customer tokens        Customers.Token, TokenViaPassword, TokenViaOIDC
 *   anything               request.send
 *
 * The SDK has no call to change the settings, to rotate or try a key, to run a profile's checks, to list or revoke customer
 * tokens, or for sign-on records; the tests use `request.send` for these. The service has no password profiles, user
 * authentication info, one-time passwords, merchant realm mappings, accounts, addresses or `Attributes`.
 *
 * Habits of the SDK that the tests accept: it sends the headers of the configuration, not those given to `TokenViaOIDC`;
 * a filter stays for the next call if the first call had to fetch an access token; a 204 is the text `{}`; a rejection
 * is the body of the answer, and nothing else.
 */
export type Service = Awaited<ReturnType<typeof startService>>;
/** A fresh service for each test; the hooks of `serviceForSdk` set it. */
export let service: Service;
export let idp: HonestIdp;

/** Starts the identity provider once, and a service for each test. */
export function serviceForSdk(): void {
  beforeAll(async () => {
    // The SDK writes to the console whenever it fetches an access token.
    vi.spyOn(console, "info").mockImplementation(() => {});
    idp = await startHonestIdp();
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await idp.close();
  });
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => service.close());
}

type Answered = { line: string; status: number };

export async function startService(rateLimit = 100_000) {
  let app: App | undefined;
  const journal: Answered[] = [];
  const server = createHttpServer({
    publicUrl: "http://localhost:4000",
    serve: async (received) => {
      const answer = await (app as App).serve(received);
      journal.push({ line: `${received.method} ${received.target}`, status: answer.status });
      if (answer.status === 429) running.onLimited();
      return answer;
    },
    onRefused: () => {},
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The SDK compares the machine's clock with the expiry of its token.
  const clock = handClock(Date.now());
  const latchkey = await createTestApp({ publicUrl: `http://${host}`, allowedOrigins: [idp.origin], clock });
  app = latchkey.app;
  const { key } = await latchkey.createStore(rateLimit);
  const running = {
    url: `http://${host}`,
    host,
    clock,
    key,
    journal,
    /** Runs when a request gets 429: the clock does not advance by itself. */
    onLimited: () => {},
    /** The answers on a path, in order. */
    answers: (line: string) => journal.filter((entry) => entry.line === line).map(({ status }) => status),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await latchkey.close();
    },
  };
  return running;
}

/** The SDK: the back office with a secret, the storefront without one. */
export async function openSdk(options: object = {}, { host, key } = service) {
  const sdk = gateway({
    host,
    protocol: "http",
    client_id: key.clientId,
    storage: new MemoryStorageFactory(),
    disableCart: true,
    retryDelay: 1,
    retryJitter: 1,
    ...options,
  } as Parameters<typeof gateway>[0]);
  await sdk.Authenticate();
  return sdk;
}

export type Sdk = Awaited<ReturnType<typeof openSdk>>;

export const openBackOffice = (at = service) => openSdk({ client_secret: at.key.clientSecret }, at);

/** The parts of a refusal that a page sees. */
export const refusal = (status: string, code: string) => ({
  errors: [expect.objectContaining({ status, code })],
});

export async function realmIdOf(sdk: Sdk): Promise<string> {
  const { data } = await sdk.AuthenticationSettings.Get();
  return data.relationships["authentication-realm"].data.id;
}

export const profileBody = () => ({
  type: "oidc-profile",
  name: "Company account",
  discovery_url: idp.discoveryUrl,
  client_id: idp.clientId,
  client_secret: idp.clientSecret,
});

/** The steps of the storefront's page and of the browser, up to the code. */
export async function comeBackWithCode(sdk: Sdk) {
  const { data: settings } = await sdk.AuthenticationSettings.Get();
  const realmId = settings.relationships["authentication-realm"].data.id;
  const [profile] = (await sdk.OidcProfile.All(realmId)).data;
  const { verifier, challenge } = newPkce();
  const parameters = new URLSearchParams({
    scope: "openid email",
    response_type: "code",
    client_id: (settings.meta as { client_id: string }).client_id,
    redirect_uri: SHOP,
    state: "unguessable",
    code_challenge_method: "S256",
    code_challenge: challenge,
  });
  const jar = newCookieJar();
  const visit = async (url: string) => {
    const response = await fetch(url, { redirect: "manual", headers: jar.headersFor(url) });
    jar.keep(url, response);
    return response.headers.get("location") ?? "";
  };
  const atIdp = await visit(`${profile?.links["authorization-endpoint"]}&${parameters}`);
  const returned = new URL(await visit(await idp.walk(atIdp, jar)));
  expect(returned.searchParams.get("state")).toBe("unguessable");
  return { code: returned.searchParams.get("code") ?? "", verifier };
}

/** The back office creates the provider, as an administrator does once. */
export async function enterProvider(at = service) {
  const office = await openBackOffice(at);
  const realmId = await realmIdOf(office);
  await office.AuthenticationRealm.Update(realmId, { redirect_uris: [SHOP] });
  const { links } = await office.OidcProfile.Create(realmId, { data: profileBody() });
  idp.register({ callback: links["callback-endpoint"] });
  return office;
}
