import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gateway, MemoryStorageFactory } from "@elasticpath/js-sdk";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { App } from "../../packages/server/src/app.ts";
import { createHttpServer } from "../../packages/server/src/http/server.ts";
import { createTestApp } from "../../packages/server/test/support/app.ts";
import { handClock } from "../../packages/server/test/support/clock.ts";
import { newPkce, SHOP } from "../../packages/server/test/support/federation.ts";
import { GRACE, type HonestIdp, newCookieJar, startHonestIdp } from "../support/honest-idp.ts";

/**
 * `@elasticpath/js-sdk` 35.0.0, as it comes, against a service that listens on loopback. What it has for each area:
 *
 *   access tokens          Authenticate, credentials, custom_authenticator; by itself before the first call, and on 401
 *   application keys       ApplicationKeys.All, Get, Create, Update, Delete (Limit, Offset)
 *   settings               AuthenticationSettings.Get, AccountAuthenticationSettings.Get, Settings.All
 *   realms                 AuthenticationRealm.All, Get, Create, Update, Delete (Limit, Offset)
 *   OIDC profiles          OidcProfile.All, Get, Create, Update, Delete (Limit, Offset)
 *   customers              Customers.All, Get, Create, Update, Delete (Filter, Sort, Limit, Offset, With, TotalMethod)
 *   customer tokens        Customers.Token, TokenViaPassword, TokenViaOIDC
 *   anything               request.send
 *
 * It has no call to change the settings, to rotate or to try a key, to run a profile's checks, to list or revoke customer
 * tokens, or for sign-on records; those need `request.send`. Of what it has beside these, password profiles, user
 * authentication info, one-time passwords, merchant realm mappings, accounts, addresses and `Attributes` are nothing that
 * we serve.
 *
 * Its ways, which the tests go along with: the headers given to `TokenViaOIDC` are not sent, only those of the
 * configuration are; a filter stays for the next call if the first one had to fetch an access token; a 204 is the text
 * `{}`; a rejection is the body of the answer, and nothing else.
 */
type Service = Awaited<ReturnType<typeof startService>>;
let service: Service;
let idp: HonestIdp;

beforeAll(async () => {
  // It says on the console whenever it fetches an access token.
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

type Answered = { line: string; status: number };

async function startService(rateLimit = 100_000) {
  let app: App | undefined;
  const journal: Answered[] = [];
  const server = createHttpServer(
    async (received) => {
      const answer = await (app as App).serve(received);
      journal.push({ line: `${received.method} ${received.target}`, status: answer.status });
      if (answer.status === 429) running.onLimited();
      return answer;
    },
    () => {},
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The SDK looks at the machine's clock to see whether its token is still good.
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
    /** What happens when a request is refused because there were too many: the clock stands still by itself. */
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

/** The SDK. With a secret it is the back office, without one the storefront. */
async function openSdk(options: object = {}, { host, key } = service) {
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
type Sdk = Awaited<ReturnType<typeof openSdk>>;

const openBackOffice = (at = service) => openSdk({ client_secret: at.key.clientSecret }, at);

/** All that a page sees of a refusal. */
const refusal = (status: string, code: string) => ({ errors: [expect.objectContaining({ status, code })] });

async function realmIdOf(sdk: Sdk): Promise<string> {
  const { data } = await sdk.AuthenticationSettings.Get();
  return data.relationships["authentication-realm"].data.id;
}

const profileBody = () => ({
  type: "oidc-profile",
  name: "Company account",
  discovery_url: idp.discoveryUrl,
  client_id: idp.clientId,
  client_secret: idp.clientSecret,
});

describe("access tokens", () => {
  test("with the client id alone it is the storefront, with the secret the back office", async () => {
    const storefront = await openSdk();
    expect(storefront.credentials()).toMatchObject({
      identifier: "implicit",
      token_type: "Bearer",
      expires_in: 3600,
      expires: Math.floor(service.clock.now() / 1000) + 3600,
    });
    expect((await openBackOffice()).credentials()).toMatchObject({ identifier: "client_credentials" });
  });

  test("it fetches one by itself before its first call, and keeps it", async () => {
    const sdk = gateway({
      host: service.host,
      protocol: "http",
      client_id: service.key.clientId,
      storage: new MemoryStorageFactory(),
      disableCart: true,
    } as Parameters<typeof gateway>[0]);
    await sdk.AuthenticationSettings.Get();
    await sdk.AuthenticationSettings.Get();
    expect(service.answers("POST /oauth/access_token")).toEqual([200]);
  });

  test("one that the shop got elsewhere works through custom_authenticator", async () => {
    const { access_token = "", expires = 0 } = (await openBackOffice()).credentials() ?? {};
    const sdk = await openSdk({ custom_authenticator: async () => ({ access_token, expires }) });
    expect((await sdk.ApplicationKeys.All()).data).toHaveLength(1);
  });

  test("401: a wrong secret rejects with a body that says so", async () => {
    const wrong = openSdk({ client_secret: "no secret of ours" });
    await expect(wrong).rejects.toMatchObject({ error: "invalid_client", errors: [{ status: "401" }] });
  });

  test("401: it fetches a new one for one that has expired, and asks again", async () => {
    const sdk = await openSdk();
    service.clock.advance(3601_000);
    expect((await sdk.AuthenticationSettings.Get()).data.type).toBe("customer-authentication-settings");
    expect(service.journal.map(({ status }) => status)).toEqual([200, 401, 200, 200]);
  });

  test("401: it gives up when its key is gone, with a body that says so", async () => {
    const office = await openBackOffice();
    const { data } = await office.ApplicationKeys.Create({ type: "application_key", name: "For a while" });
    const sdk = await openSdk({ client_id: data.client_id, client_secret: data.client_secret });
    await sdk.ApplicationKeys.Delete(data.id);
    await expect(sdk.ApplicationKeys.All()).rejects.toMatchObject({
      error: "invalid_client",
      ...refusal("401", "client_unknown"),
    });
  });
});

describe("application keys", () => {
  test("are created, listed, read, changed and deleted (seed 4.5)", async () => {
    const { ApplicationKeys } = await openBackOffice();
    const made = await ApplicationKeys.Create({
      type: "application_key",
      name: "Storefront",
      reserved_rate_limit: 20,
    });
    expect(made.data).toMatchObject({
      type: "application_key",
      client_secret: expect.any(String),
      meta: { timestamps: { last_used_at: null, created_at: expect.any(String) } },
    });
    expect(made.links.self).toBe(`${service.url}/v2/application-keys/${made.data.id}`);

    const { id } = made.data;
    const read = await ApplicationKeys.Get(id);
    expect(read.data).toMatchObject({ id, client_id: made.data.client_id, reserved_rate_limit: 20 });
    expect(read.data).not.toHaveProperty("client_secret");

    const changed = await ApplicationKeys.Update(id, {
      type: "application_key",
      name: "Shop",
      reserved_rate_limit: 30,
    });
    expect(changed).toMatchObject({
      data: { id, name: "Shop", reserved_rate_limit: 30 },
      links: { self: made.links.self },
    });

    const list = await ApplicationKeys.All();
    expect(list.data.map(({ name }) => name)).toContain("Shop");
    expect(list.meta).toMatchObject({ total_reserved_rate_limit: 30, results: { total: 2 } });

    await ApplicationKeys.Delete(id);
    await expect(ApplicationKeys.Get(id)).rejects.toEqual(refusal("404", "application_key_not_found"));
  });

  test("a key may be sent back whole, with what was read and a new name", async () => {
    const { ApplicationKeys } = await openBackOffice();
    const { data } = await ApplicationKeys.Get(service.key.id);
    const changed = await ApplicationKeys.Update(data.id, { ...data, name: "Renamed" });
    expect(changed.data).toMatchObject({ id: data.id, name: "Renamed", client_id: data.client_id });
  });

  test("a new key's credentials work in the SDK", async () => {
    const { ApplicationKeys } = await openBackOffice();
    const { data } = await ApplicationKeys.Create({ type: "application_key", name: "Second" });
    const second = await openSdk({ client_id: data.client_id, client_secret: data.client_secret });
    expect((await second.ApplicationKeys.All()).data).toHaveLength(2);
  });

  test("are read page by page", async () => {
    const { ApplicationKeys } = await openBackOffice();
    for (const name of ["Second", "Third"]) await ApplicationKeys.Create({ type: "application_key", name });
    const page = await ApplicationKeys.Limit(2).Offset(1).All();
    expect(page.data.map(({ name }) => name)).toEqual(["Second", "Third"]);
    expect(page.meta.page).toEqual({ limit: 2, offset: 1, current: 1, total: 2 });
    expect(page.links).toMatchObject({ next: null, first: expect.any(String) });
  });

  test("409 and 403 reject with a body that says why", async () => {
    const { ApplicationKeys } = await openBackOffice();
    const tooMuch = { type: "application_key", name: "Shop", reserved_rate_limit: 100_001 } as const;
    await expect(ApplicationKeys.Update(service.key.id, tooMuch)).rejects.toEqual(
      refusal("409", "reservation_exceeds_store_limit"),
    );
    const storefront = await openSdk();
    await expect(storefront.ApplicationKeys.All()).rejects.toEqual(refusal("403", "not_permitted"));
  });
});

describe("customer authentication settings and realms", () => {
  test("the storefront reads the client id and the realm (seed 4.1)", async () => {
    const sdk = await openSdk();
    const { data } = await sdk.AuthenticationSettings.Get();
    const realm = data.relationships["authentication-realm"].data;
    expect(data).toMatchObject({
      client_id: "customers",
      realm_id: realm.id,
      meta: { client_id: "customers" },
    });
    expect((await sdk.AuthenticationRealm.Get({ realmId: realm.id })).data).toMatchObject({
      id: realm.id,
      type: "authentication-realm",
      name: "Customers",
    });
  });

  test("what the settings name is there: a realm for accounts without providers, and the store under its id", async () => {
    const storefront = await openSdk();
    const accounts = await storefront.AccountAuthenticationSettings.Get();
    const { id } = accounts.data.relationships.authentication_realm.data;
    expect((await storefront.AuthenticationRealm.Get({ realmId: id })).data.type).toBe(
      "authentication-realm",
    );
    expect((await storefront.OidcProfile.All(id)).data).toEqual([]);
    const office = await openBackOffice();
    const settings = (await office.Settings.All()) as unknown as { data: { id: string } };
    const store = await office.request.send(`stores/${settings.data.id}`, "GET");
    expect(store.data).toMatchObject({ id: settings.data.id, type: "store", name: "Test store" });
  });

  test("realms are created, listed, read, changed and deleted", async () => {
    const { AuthenticationRealm, AuthenticationSettings } = await openBackOffice();
    const { data: settings } = await AuthenticationSettings.Get();
    const made = await AuthenticationRealm.Create({
      data: {
        type: "authentication-realm",
        name: "Wholesale",
        redirect_uris: [SHOP],
        duplicate_email_policy: "api_only",
        relationships: { origin: { data: { id: settings.id, type: settings.type } } },
      },
    });
    expect(made.data).toMatchObject({
      redirect_uris: [SHOP],
      duplicate_email_policy: "api_only",
      relationships: { origin: { data: { id: settings.id } } },
    });
    const { id } = made.data;
    const changed = await AuthenticationRealm.Update(id, { name: "Trade" });
    expect(changed.data).toMatchObject({ id, name: "Trade", redirect_uris: [SHOP] });
    const { data: whole } = await AuthenticationRealm.Get({ realmId: id });
    expect((await AuthenticationRealm.Update(id, { ...whole, redirect_uris: [] })).data).toMatchObject({
      name: "Trade",
      redirect_uris: [],
    });
    expect((await AuthenticationRealm.All()).data.map(({ name }) => name)).toEqual(["Customers", "Trade"]);
    const [only, ...others] = (await AuthenticationRealm.Limit(1).Offset(1).All()).data;
    expect([only?.name, others]).toEqual(["Trade", []]);
    await AuthenticationRealm.Delete(id);
    await expect(AuthenticationRealm.Get({ realmId: id })).rejects.toEqual(refusal("404", "realm_not_found"));
  });

  test("a customer token that it sends along where none is asked for does no harm", async () => {
    const sdk = await openSdk();
    expect((await sdk.AuthenticationRealm.All("expired long ago")).data).toHaveLength(1);
  });

  test("422: a redirect URI that breaks the rules rejects with the place", async () => {
    const sdk = await openBackOffice();
    const change = sdk.AuthenticationRealm.Update(await realmIdOf(sdk), {
      redirect_uris: ["http://shop.example/"],
    });
    await expect(change).rejects.toMatchObject({
      errors: [{ status: "422", code: "redirect_uri_invalid", source: { pointer: "/data/redirect_uris/0" } }],
    });
  });
});

describe("OIDC profiles", () => {
  test("are created, listed, read, changed and deleted (seed 4.2)", async () => {
    const sdk = await openBackOffice();
    const { OidcProfile } = sdk;
    const realmId = await realmIdOf(sdk);
    const made = await OidcProfile.Create(realmId, { data: profileBody() });
    const profileId = made.data.id;
    const { discovery_url, client_id } = profileBody();
    expect(made.data).toMatchObject({ type: "oidc-profile", discovery_url, client_id });
    expect(made.data).not.toHaveProperty("client_secret");
    const self = `${service.url}/v2/authentication-realms/${realmId}/oidc-profiles/${profileId}`;
    expect(made.links).toMatchObject({
      "authorization-endpoint": expect.stringContaining(`/authorize?profile=${profileId}`),
      "callback-endpoint": expect.stringContaining(`/profiles/${profileId}/callback`),
      "client-discovery-url": expect.stringMatching(/\/\.well-known\/openid-configuration$/),
      self,
    });

    const list = await OidcProfile.All(realmId);
    expect(list.data).toEqual([expect.objectContaining({ id: profileId, links: made.links })]);
    expect(list.meta.results.total).toBe(1);

    const read = await OidcProfile.Get({ realmId, profileId });
    expect(read).toMatchObject({ data: { id: profileId, name: "Company account" }, links: made.links });
    const changed = await OidcProfile.Update(realmId, profileId, { data: { ...read.data, name: "Staff" } });
    expect(changed).toMatchObject({ data: { id: profileId, name: "Staff" }, links: made.links });

    await OidcProfile.Delete(realmId, profileId);
    await expect(OidcProfile.Get({ realmId, profileId })).rejects.toEqual(
      refusal("404", "profile_not_found"),
    );
    expect((await OidcProfile.All(realmId)).data).toEqual([]);
  });

  test("the habits of other clients are taken: a slash at the end, an empty id, null relationships", async () => {
    const sdk = await openBackOffice();
    const realmId = await realmIdOf(sdk);
    const body = { ...profileBody(), id: "", relationships: null };
    const made = await sdk.request.send(`authentication-realms/${realmId}/oidc-profiles/`, "POST", body);
    expect(made.data.id).toMatch(/^[0-9a-f-]{36}$/);
    const renamed = { type: "oidc-profile", id: "", relationships: null, name: "Staff" };
    const path = `authentication-realms/${realmId}/oidc-profiles/${made.data.id}/`;
    expect((await sdk.request.send(path, "PUT", renamed)).data.name).toBe("Staff");
    expect(
      (await sdk.request.send(`authentication-realms/${realmId}/oidc-profiles/`, "GET")).data,
    ).toHaveLength(1);
  });

  test("422: a provider that cannot be read rejects with the reason", async () => {
    const sdk = await openBackOffice();
    const data = { ...profileBody(), discovery_url: `${idp.origin}/nothing` };
    await expect(sdk.OidcProfile.Create(await realmIdOf(sdk), { data })).rejects.toEqual(
      refusal("422", "idp_unreachable"),
    );
  });

  test("403: the storefront reads them and changes none", async () => {
    const sdk = await openSdk();
    const realmId = await realmIdOf(sdk);
    expect((await sdk.OidcProfile.All(realmId)).data).toEqual([]);
    await expect(sdk.OidcProfile.Create(realmId, { data: profileBody() })).rejects.toEqual(
      refusal("403", "not_permitted"),
    );
  });
});

const ADA = { type: "customer", name: "Ada Lovelace", email: "ada@shop.example", password: "correct horse" };

describe("customers", () => {
  test("a shopper opens an account, signs in, and reads and changes it", async () => {
    const { Customers } = await openSdk();
    const made = await Customers.Create({ ...ADA, external_ref: "crm-1" });
    expect(made.data).toMatchObject({
      type: "customer",
      name: ADA.name,
      email: ADA.email,
      password: true,
      external_ref: "crm-1",
    });
    const signedIn = await Customers.Token(ADA.email, ADA.password);
    expect(signedIn.data).toEqual({
      type: "token",
      id: expect.any(String),
      customer_id: made.data.id,
      token: expect.any(String),
      expires: Math.floor(service.clock.now() / 1000) + 86_400,
    });
    const { customer_id, token } = signedIn.data;
    expect((await Customers.Get(customer_id, token)).data.email).toBe(ADA.email);
    const changed = await Customers.Update(customer_id, { name: "Ada King" }, token);
    expect(changed.data).toMatchObject({ name: "Ada King", email: ADA.email });
    expect((await Customers.TokenViaPassword(ADA.email, ADA.password)).data.customer_id).toBe(customer_id);
  });

  test("400 and 403: a wrong password and a missing token reject with a body that says so, once", async () => {
    const { Customers } = await openSdk();
    const { data } = await Customers.Create(ADA);
    await expect(Customers.Token(ADA.email, "wrong horse")).rejects.toEqual(
      refusal("400", "credentials_wrong"),
    );
    expect(service.answers("POST /v2/customers/tokens")).toEqual([400]);
    await expect(Customers.Get(data.id)).rejects.toEqual(refusal("403", "not_permitted"));
    await expect(Customers.All()).rejects.toEqual(refusal("403", "not_permitted"));
    await expect(Customers.Get(data.id, "no token of ours")).rejects.toEqual(
      refusal("403", "customer_token_invalid"),
    );
  });

  test("the back office creates, lists, reads, changes and deletes them", async () => {
    const { Customers } = await openBackOffice();
    const { data } = await Customers.Create(ADA);
    expect((await Customers.Get(data.id)).data).toMatchObject({ id: data.id, email: ADA.email });
    expect((await Customers.Update(data.id, { email: "king@shop.example" })).data.email).toBe(
      "king@shop.example",
    );
    expect((await Customers.All()).data).toHaveLength(1);
    await Customers.Delete(data.id);
    await expect(Customers.Get(data.id)).rejects.toEqual(refusal("404", "customer_not_found"));
    expect((await Customers.All()).data).toEqual([]);
  });

  test("are filtered, sorted and read page by page", async () => {
    const { Customers } = await openBackOffice();
    const made = [];
    for (const name of ["Ada Lovelace", "Grace Hopper", "Ada Yonath", "Katherine (K.) Johnson, PhD"]) {
      const email = `${name.replaceAll(/\W/g, "").toLowerCase()}@shop.example`;
      made.push((await Customers.Create({ type: "customer", name, email } as typeof ADA)).data);
      service.clock.advance(1000);
    }
    const [, grace] = made as unknown as { meta: { timestamps: { created_at: string } } }[];
    const created_at = grace?.meta.timestamps.created_at ?? "";
    const names = async (list: Promise<{ data: { name: string }[] }>) =>
      (await list).data.map(({ name }) => name);

    expect(await names(Customers.Filter({ eq: { email: "gracehopper@shop.example" } }).All())).toEqual([
      "Grace Hopper",
    ]);
    expect(await names(Customers.Filter({ eq: { name: "Katherine (K.) Johnson, PhD" } }).All())).toHaveLength(
      1,
    );
    expect(await names(Customers.Filter({ like: { name: "Ada*" } }).All())).toEqual([
      "Ada Lovelace",
      "Ada Yonath",
    ]);
    expect(await names(Customers.Filter({ like: { name: "Ada*" }, gt: { created_at } }).All())).toEqual([
      "Ada Yonath",
    ]);
    expect(await names(Customers.Filter({ le: { created_at } }).All())).toHaveLength(2);
    expect(await names(Customers.Filter({ ge: { created_at } }).All())).toHaveLength(3);
    expect(await names(Customers.Filter({ lt: { created_at } }).All())).toEqual(["Ada Lovelace"]);

    expect(
      await names(
        Customers.Sort("-name" as never)
          .Limit(1)
          .All(),
      ),
    ).toEqual(["Katherine (K.) Johnson, PhD"]);
    const page = await Customers.Sort("name" as never)
      .Limit(2)
      .Offset(2)
      .All();
    expect(page.data.map(({ name }) => name)).toEqual(["Grace Hopper", "Katherine (K.) Johnson, PhD"]);
    expect(page.meta).toEqual({
      page: { limit: 2, offset: 2, current: 2, total: 2 },
      results: { total: 4 },
    });
    expect((await Customers.TotalMethod("observed").With("files").All()).meta.results.total).toBe(4);
  });

  test("are found by an e-mail with a plus sign, which it sends as it is", async () => {
    const { Customers } = await openBackOffice();
    const email = "ada+shop@shop.example";
    const { data } = await Customers.Create({ ...ADA, email });
    expect((await Customers.Filter({ eq: { email } }).All()).data).toEqual([
      expect.objectContaining({ id: data.id }),
    ]);
    expect((await Customers.Filter({ like: { email: "ada+*" } }).All()).data).toHaveLength(1);
  });

  test("400: a filter that says nothing rejects instead of showing everybody", async () => {
    const { Customers } = await openBackOffice();
    const filter = { eq: { shoe_size: "38" } } as object;
    await expect(Customers.Filter(filter).All()).rejects.toMatchObject({
      errors: [{ status: "400", code: "parameter_invalid", source: { parameter: "filter" } }],
    });
  });
});

/** What a page of the storefront and a browser do, up to the code. */
async function comeBackWithCode(sdk: Sdk) {
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

/** The back office enters the provider, as a store's administrator does once. */
async function enterProvider(at = service) {
  const office = await openBackOffice(at);
  const realmId = await realmIdOf(office);
  await office.AuthenticationRealm.Update(realmId, { redirect_uris: [SHOP] });
  const { links } = await office.OidcProfile.Create(realmId, { data: profileBody() });
  idp.register({ callback: links["callback-endpoint"] });
  return office;
}

const TOKENS = "POST /v2/customers/tokens";

describe("single sign-on", () => {
  test("from the settings to the customer, the code redeemed by the SDK (seed 4)", async () => {
    const office = await enterProvider();
    const sdk = await openSdk();
    const { code, verifier } = await comeBackWithCode(sdk);
    const { data } = await sdk.Customers.TokenViaOIDC(code, SHOP, verifier);
    expect(Object.keys(data).sort()).toEqual(["customer_id", "expires", "id", "token", "type"]);
    const { data: customer } = await sdk.Customers.Get(data.customer_id, data.token);
    expect(customer).toMatchObject({ email: GRACE.email, password: false });
    expect((await office.Customers.All()).data).toEqual([expect.objectContaining({ id: customer.id })]);
  });

  test("400: a code works once, a wrong verifier spends it, and the SDK asks no second time", async () => {
    await enterProvider();
    const sdk = await openSdk();
    const used = await comeBackWithCode(sdk);
    await sdk.Customers.TokenViaOIDC(used.code, SHOP, used.verifier);
    await expect(sdk.Customers.TokenViaOIDC(used.code, SHOP, used.verifier)).rejects.toEqual(
      refusal("400", "code_already_used"),
    );
    const spent = await comeBackWithCode(sdk);
    await expect(sdk.Customers.TokenViaOIDC(spent.code, SHOP, newPkce().verifier)).rejects.toEqual(
      refusal("400", "verifier_mismatch"),
    );
    expect(service.answers(TOKENS)).toEqual([200, 400, 400]);
  });

  test("401 does not cost the code: the SDK fetches an access token and sends it again", async () => {
    await enterProvider();
    const sdk = await openSdk();
    const { code, verifier } = await comeBackWithCode(sdk);
    const { clientId, clientSecret } = service.key;
    const revoked = await fetch(`${service.url}/oauth/revoke`, {
      method: "POST",
      body: new URLSearchParams({
        client_id: clientId,
        client_secret: clientSecret,
        token: sdk.credentials()?.access_token ?? "",
      }),
    });
    expect(revoked.status).toBe(200);
    expect((await sdk.Customers.TokenViaOIDC(code, SHOP, verifier)).data.token).toBeTruthy();
    expect(service.answers(TOKENS)).toEqual([401, 200]);
  });

  test("with an Idempotency-Key in the SDK's headers a page may run twice and gets one token", async () => {
    await enterProvider();
    const sdk = await openSdk({ headers: { "Idempotency-Key": "page-load-1" } });
    const { code, verifier } = await comeBackWithCode(sdk);
    const first = await sdk.Customers.TokenViaOIDC(code, SHOP, verifier);
    expect(await sdk.Customers.TokenViaOIDC(code, SHOP, verifier)).toEqual(first);
  });
});

describe("too many requests", () => {
  let small: Service;
  beforeEach(async () => {
    small = await startService(5);
  });
  afterEach(() => small.close());

  /** Uses up what the store may have in this second. */
  async function useUp(sdk: Sdk): Promise<void> {
    const { access_token } = sdk.credentials() ?? {};
    const headers = { authorization: `Bearer ${access_token}` };
    const settings = `${small.url}/v2/customer-authentication-settings`;
    while ((await fetch(settings, { headers })).status !== 429);
  }

  test("429 does not cost the code: the SDK waits and sends it again", async () => {
    await enterProvider(small);
    small.clock.advance(1000);
    const sdk = await openSdk({}, small);
    const { code, verifier } = await comeBackWithCode(sdk);
    await useUp(sdk);
    small.onLimited = () => small.clock.advance(1000);
    expect((await sdk.Customers.TokenViaOIDC(code, SHOP, verifier)).data.token).toBeTruthy();
    expect(small.answers(TOKENS)).toEqual([429, 200]);
  });

  test("429: after four times it rejects with a body that says so", async () => {
    const sdk = await openSdk({}, small);
    await useUp(sdk);
    const before = small.journal.length;
    await expect(sdk.AuthenticationSettings.Get()).rejects.toEqual(refusal("429", "rate_limit_exceeded"));
    expect(small.journal.slice(before).map(({ status }) => status)).toEqual([429, 429, 429, 429]);
  });
});
