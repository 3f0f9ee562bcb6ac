import { gateway, MemoryStorageFactory } from "@elasticpath/js-sdk";
import { describe, expect, test } from "vitest";
import { SHOP } from "../../packages/server/test/support/federation.ts";
import {
  idp,
  openBackOffice,
  openSdk,
  profileBody,
  realmIdOf,
  refusal,
  service,
  serviceForSdk,
} from "./elasticpath-sdk.ts";

/** `@elasticpath/js-sdk`: access tokens, application keys, settings, realms and OIDC profiles. */

serviceForSdk();

describe("access tokens", () => {
  test("the client id alone gives a storefront token, the secret a back-office token", async () => {
    const storefront = await openSdk();
    expect(storefront.credentials()).toMatchObject({
      identifier: "implicit",
      token_type: "Bearer",
      expires_in: 3600,
      expires: Math.floor(service.clock.now() / 1000) + 3600,
    });
    expect((await openBackOffice()).credentials()).toMatchObject({ identifier: "client_credentials" });
  });

  test("the SDK fetches one before its first call, and keeps it", async () => {
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

  test("custom_authenticator accepts one from elsewhere", async () => {
    const { access_token = "", expires = 0 } = (await openBackOffice()).credentials() ?? {};
    const sdk = await openSdk({ custom_authenticator: async () => ({ access_token, expires }) });
    expect((await sdk.ApplicationKeys.All()).data).toHaveLength(1);
  });

  test("401: a wrong secret rejects with the error body", async () => {
    const wrong = openSdk({ client_secret: "no secret of ours" });
    await expect(wrong).rejects.toMatchObject({ error: "invalid_client", errors: [{ status: "401" }] });
  });

  test("401: the SDK replaces an expired one, and repeats the request", async () => {
    const sdk = await openSdk();
    service.clock.advance(3601_000);
    expect((await sdk.AuthenticationSettings.Get()).data.type).toBe("customer-authentication-settings");
    expect(service.journal.map(({ status }) => status)).toEqual([200, 401, 200, 200]);
  });

  test("401: the SDK gives up when its key is deleted, with the error body", async () => {
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

  test("a key may be sent back whole, with the members that were read and a new name", async () => {
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

  test("409 and 403 reject with the error body", async () => {
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

  test("the realm for accounts and the store exist under the ids of the settings", async () => {
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

  test("a customer token is ignored where no operation needs it", async () => {
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

  test("a trailing slash, an empty id and null relationships are accepted", async () => {
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

  test("422: an unreachable provider rejects with the reason", async () => {
    const sdk = await openBackOffice();
    const data = { ...profileBody(), discovery_url: `${idp.origin}/nothing` };
    await expect(sdk.OidcProfile.Create(await realmIdOf(sdk), { data })).rejects.toEqual(
      refusal("422", "idp_unreachable"),
    );
  });

  test("403: the storefront reads them and cannot change them", async () => {
    const sdk = await openSdk();
    const realmId = await realmIdOf(sdk);
    expect((await sdk.OidcProfile.All(realmId)).data).toEqual([]);
    await expect(sdk.OidcProfile.Create(realmId, { data: profileBody() })).rejects.toEqual(
      refusal("403", "not_permitted"),
    );
  });
});
