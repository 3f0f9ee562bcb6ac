import { beforeEach, describe, expect, test } from "vitest";
import { startHostileIdp } from "../../server/test/support/hostile-idp.ts";
import type { Admin } from "../src/admin/index.ts";
import { collect, errorOf, openAdmin, openShop, REDIRECT, type Shop, signOn } from "./support/shop.ts";

const NOBODY = "00000000-0000-7000-8000-000000000000";

let shop: Shop;
let admin: Admin;
beforeEach(async () => {
  shop = await openShop();
  admin = openAdmin(shop);
});

describe("application keys", () => {
  test("are created, read, changed, listed and deleted", async () => {
    const {
      data: key,
      meta,
      links,
    } = await admin.applicationKeys.create({ name: "Shop", reserved_rate_limit: 5 });
    expect(key).toMatchObject({
      name: "Shop",
      reserved_rate_limit: 5,
      client_secret: expect.stringMatching(/^lksk_/),
    });
    expect([links.self, meta.effective_by]).toEqual([expect.stringContaining(key.id), expect.any(String)]);
    const { client_secret: _, ...known } = key;
    expect((await admin.applicationKeys.get(key.id)).data).toEqual(known);
    const changed = await admin.applicationKeys.update(key.id, { name: "Kiosk", reserved_rate_limit: 7 });
    expect(changed.data).toMatchObject({ name: "Kiosk", reserved_rate_limit: 7 });
    const page = await admin.applicationKeys.list();
    expect(page).toMatchObject({ total: 2, next: undefined });
    expect(page.meta).toEqual({ total_reserved_rate_limit: 7, rate_limit: 100_000 });
    expect(page.data.map(({ name }) => name)).toContain("Kiosk");
    expect(await admin.applicationKeys.delete(key.id)).toBeUndefined();
    expect(await errorOf(admin.applicationKeys.get(key.id))).toMatchObject({
      code: "application_key_not_found",
      status: 404,
    });
  });

  test("rotate adds a secret, and older secrets work for the grace period", async () => {
    const { data: key } = await admin.applicationKeys.create({ name: "Shop" });
    const { data: rotated } = await admin.applicationKeys.rotate(key.id, { grace_seconds: 60 });
    expect(rotated.client_secret).not.toBe(key.client_secret);
    const graceEndsAt = new Date(shop.f.latchkey.clock.now() + 60_000).toISOString();
    expect(rotated.meta.secrets.map(({ expires_at }) => expires_at)).toEqual([null, graceEndsAt]);
    expect((await admin.applicationKeys.rotate(key.id)).data.meta.secrets).toHaveLength(3);
  });

  test("dryRun shows the effect of a change, and changes nothing", async () => {
    const { data: key } = await admin.applicationKeys.create({ name: "Shop" });
    const { data } = await admin.applicationKeys.dryRun(key.id, { name: "Shop", reserved_rate_limit: 10 });
    expect(data.shared_rate_limit).toEqual({ before: 100_000, after: 99_990 });
    expect((await admin.applicationKeys.get(key.id)).data.reserved_rate_limit).toBe(0);
  });

  test("409 with the available rate in `meta` when a key reserves too much", async () => {
    const error = await errorOf(admin.applicationKeys.create({ name: "Shop", reserved_rate_limit: 200_000 }));
    expect(error).toMatchObject({ code: "reservation_exceeds_store_limit", status: 409 });
    expect(error.errors[0]?.meta).toBeDefined();
    expect(error.message).toBe(error.errors[0]?.detail);
  });
});

test("settings are read and changed", async () => {
  const { data } = await admin.settings.get();
  expect(data).toMatchObject({ client_id: "customers", realm_id: shop.f.realmId });
  expect((await admin.settings.update({ client_id: "shoppers" })).data.client_id).toBe("shoppers");
  expect(await errorOf(admin.settings.update({ realm_id: NOBODY }))).toMatchObject({ code: "realm_unknown" });
});

test("realms are created, read, changed, listed and deleted", async () => {
  const redirect_uris = ["https://shop.example/in"];
  const { data: realm } = await admin.realms.create({ name: "Wholesale", redirect_uris });
  expect((await admin.realms.get(realm.id)).data).toEqual(realm);
  const changed = await admin.realms.update(realm.id, { duplicate_email_policy: "api_only" });
  expect(changed.data).toMatchObject({
    name: "Wholesale",
    redirect_uris,
    duplicate_email_policy: "api_only",
  });
  expect((await admin.realms.list()).data.map(({ id }) => id)).toEqual([shop.f.realmId, realm.id]);
  await admin.realms.delete(realm.id);
  expect((await admin.realms.list()).total).toBe(1);
  expect((await errorOf(admin.realms.delete(shop.f.realmId))).code).toMatch(/^realm_/);
});

describe("profiles", () => {
  const fields = () => ({
    name: "Company",
    discovery_url: shop.f.idp.discoveryUrl,
    client_id: shop.f.idp.clientId,
    client_secret: "first secret",
  });

  test("are created, read, changed, listed and deleted, with the links to register at the provider", async () => {
    const profiles = admin.profiles(shop.f.realmId);
    const made = await profiles.create(fields());
    expect(made.links["callback-endpoint"]).toBe(`${shop.f.issuer}/profiles/${made.data.id}/callback`);
    expect(await profiles.get(made.data.id)).toEqual(made);
    expect((await profiles.update(made.data.id, { enabled: false })).data.enabled).toBe(false);
    const { data } = await profiles.list({ limit: 100 });
    expect(data.map(({ name, enabled }) => [name, enabled])).toEqual([
      ["Hostile", true],
      ["Company", false],
    ]);
    await profiles.delete(made.data.id);
    expect((await profiles.list()).total).toBe(1);
  });

  test("409 for a change based on an outdated profile", async () => {
    const profiles = admin.profiles(shop.f.realmId);
    const { data: seen } = await profiles.get(shop.f.profileId);
    const { data: renamed } = await profiles.update(seen.id, { name: "First" }, { basedOn: seen });
    const error = await errorOf(profiles.update(seen.id, { name: "Second" }, { basedOn: seen }));
    expect(error).toMatchObject({ code: "profile_changed", status: 409 });
    expect((await profiles.update(seen.id, { name: "Second" }, { basedOn: renamed })).data.name).toBe(
      "Second",
    );
  });

  test("409 for a change based on an outdated realm", async () => {
    const { data: seen } = await admin.realms.get(shop.f.realmId);
    const { data: renamed } = await admin.realms.update(seen.id, { name: "First" }, { basedOn: seen });
    const error = await errorOf(admin.realms.update(seen.id, { name: "Second" }, { basedOn: seen }));
    expect(error).toMatchObject({ code: "realm_changed", status: 409 });
    const { data: last } = await admin.realms.update(seen.id, { name: seen.name }, { basedOn: renamed });
    expect(last.name).toBe(seen.name);
  });

  test("check answers with every requirement and its evidence", async () => {
    const { data } = await admin.profiles(shop.f.realmId).check(shop.f.profileId);
    expect(data.checks.map(({ id }) => id)).toEqual(["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9"]);
  });

  test("checkBeforeSaving answers the same for a provider that is not added yet, and saves nothing", async () => {
    const profiles = admin.profiles(shop.f.realmId);
    const { data } = await profiles.checkBeforeSaving({ discovery_url: shop.f.idp.discoveryUrl });
    expect([data.issuer, data.checks.length, data.meta.adoptable]).toEqual([shop.f.idp.issuer, 9, undefined]);
    expect((await profiles.list()).total).toBe(1);
  });

  test("setup links are made, with their address, listed without it, and ended", async () => {
    const links = admin.profiles(shop.f.realmId).setupLinks(shop.f.profileId);
    const { url, ...made } = (await links.create({ expires_in_days: 7 })).data;
    expect(url).toMatch(/\/setup\/lksl_/);
    expect((await links.list()).data).toEqual([made]);
    await links.delete(made.id);
    expect((await links.list()).data).toEqual([]);
    expect((await errorOf(links.delete(made.id))).code).toBe("setup_link_not_found");
  });

  test("422 lists every requirement that is not met", async () => {
    shop.f.idp.hooks.discovery = (document) => ({ ...document, response_types_supported: ["id_token"] });
    const error = await errorOf(admin.profiles(shop.f.realmId).create(fields()));
    expect(error).toMatchObject({ code: "idp_requirement_not_met", status: 422 });
  });

  test("a change of the provider's document waits for approval", async () => {
    const elsewhere = await startHostileIdp();
    const idp = shop.f.idp;
    try {
      shop = await openShop({ idp, allowedOrigins: [idp.origin, elsewhere.origin] });
      admin = openAdmin(shop);
      const profiles = admin.profiles(shop.f.realmId);
      expect((await errorOf(profiles.approveDrift(shop.f.profileId, "x"))).code).toBe("no_pending_change");
      idp.hooks.discovery = (document) => ({ ...document, token_endpoint: `${elsewhere.origin}/token` });
      // A sign-on after the discovery document has expired reads the document again.
      shop.f.latchkey.clock.advance(5 * 60_000 + 1);
      await signOn(shop, shop.page());
      const { data } = await profiles.get(shop.f.profileId);
      expect(data.meta.pending_change?.changes).toHaveLength(1);
      const { digest } = data.meta.pending_change ?? { digest: "" };
      const other = await errorOf(profiles.approveDrift(shop.f.profileId, "another"));
      expect([other.code, other.errors[0]?.meta?.digest]).toEqual(["drift_changed", digest]);
      const approved = await profiles.approveDrift(shop.f.profileId, digest);
      expect(approved.data.meta.pending_change).toBeNull();
    } finally {
      await elsewhere.close();
    }
  });
});

describe("customers and their tokens", () => {
  test("are created, read, changed, found, listed and deleted", async () => {
    const { data: ada } = await admin.customers.create({
      name: "Ada",
      email: "ada@shop.example",
      email_verified: true,
    });
    await admin.customers.create({ name: "Ben", email: "ben@shop.example" });
    expect((await admin.customers.get(ada.id)).data).toEqual(ada);
    expect((await admin.customers.update(ada.id, { external_ref: "42" })).data.external_ref).toBe("42");
    const found = await admin.customers.list({ filter: "eq(email,ada@shop.example)" });
    expect(found.data.map(({ id }) => id)).toEqual([ada.id]);
    const sorted = await admin.customers.list({ sort: "-name" });
    expect(sorted.data.map(({ name }) => name)).toEqual(["Ben", "Ada"]);
    await admin.customers.delete(ada.id);
    expect((await admin.customers.list()).total).toBe(1);
  });

  test("sessions are listed, and revoked singly or all at once", async () => {
    const page = shop.page();
    const ada = { email: "ada@shop.example", password: "correct horse battery" };
    const { data } = await admin.customers.create({ name: "Ada", ...ada });
    const [first, second, third] = [await page.signIn(ada), await page.signIn(ada), await page.signIn(ada)];
    const tokens = admin.customerTokens(data.id);
    expect((await tokens.list()).data.map(({ id, current }) => [id, current])).toEqual([
      [first.id, false],
      [second.id, false],
      [third.id, false],
    ]);
    await tokens.revoke(second.id);
    expect((await collect(tokens.list({ limit: 1 }).all())).map(({ id }) => id)).toEqual([
      first.id,
      third.id,
    ]);
    await tokens.revokeAll();
    expect((await tokens.list()).total).toBe(0);
  });

  test.each(["", ".", "..", "../customers", "a/b", "a?b"])(
    "%j is no id, and asks for nothing: an empty one would name them all",
    async (id) => {
      await expect(admin.customers.delete(id)).rejects.toThrow("this is not an id");
      await expect(admin.customerTokens(NOBODY).revoke(id)).rejects.toThrow("this is not an id");
      expect(() => admin.customerTokens(id)).toThrow("this is not an id");
      expect(() => admin.profiles(id)).toThrow("this is not an id");
      expect(shop.sent).toEqual([]);
    },
  );
});

test("sign-ons are listed, found by their reference, and read with every check", async () => {
  const page = shop.page();
  await page.completeSignOn(await signOn(shop, page));
  shop.f.idp.hooks.redirect = ({ state = "" }) => ({ error: "access_denied", state });
  const { reference } = await errorOf(page.completeSignOn(await signOn(shop, page)));
  await shop.f.latchkey.app.tidy();
  expect((await admin.signOns.list({ sort: "started_at" })).total).toBe(2);
  const { data } = await admin.signOns.list({ filter: `eq(reference,${reference})` });
  const [record] = data;
  expect(record).toMatchObject({ outcome: "failed", error: "access_denied" });
  const { links: _, ...same } = record as NonNullable<typeof record>;
  expect((await admin.signOns.get(same.id)).data).toEqual(same);
});

test("statistics count sign-ons by outcome, and usage counts requests by second", async () => {
  const page = shop.page();
  await page.completeSignOn(await signOn(shop, page));
  await shop.f.latchkey.app.tidy();
  const { data, meta } = await admin.signOns.statistics({ step: "minute" });
  expect([data.map(({ outcomes }) => outcomes), meta.step]).toEqual([[{ exchanged: 1 }], "minute"]);
  const byKey = await admin.signOns.statistics({ step: "minute", group: "key" });
  expect(byKey.data).toMatchObject([{ key_id: shop.f.store.key.id, outcomes: { exchanged: 1 } }]);
  expect((await admin.signOns.statistics({ purpose: "members" })).data).toEqual([]);
  const error = await errorOf(admin.signOns.statistics({ from: "2020-01-01", step: "day" }));
  expect(error).toMatchObject({ code: "statistics_range_unfit", status: 422 });
  expect((await admin.store.usage({ seconds: 10 })).data.type).toBe("store-usage");
});

test("the store is read and changed", async () => {
  expect((await admin.store.get()).data.rate_limit).toBe(100_000);
  const { data, meta } = await admin.store.update({ name: "Alder", rate_limit: 50 });
  expect(data).toMatchObject({ name: "Alder", rate_limit: 50 });
  expect(meta.effective_by).toEqual(expect.any(String));
});

test("a provider that is down has isUp false, and beginSignOn still works", async () => {
  shop.f.idp.hooks.answer = {
    "/.well-known/openid-configuration": (_, response) => void response.writeHead(500).end(),
  };
  const profiles = admin.profiles(shop.f.realmId);
  const page = shop.page();
  await profiles.check(shop.f.profileId);
  expect(await page.listProviders()).toMatchObject([{ isUp: true, health: "degraded" }]);
  for (let i = 0; i < 5; i++) await profiles.check(shop.f.profileId);
  const [provider] = await page.listProviders();
  expect(provider).toMatchObject({ isUp: false, health: "down" });
  expect((await page.beginSignOn(provider, REDIRECT)).url).toContain("/authorize?");
});

test("a storefront sees the changes of the administration", async () => {
  const page = shop.page();
  await admin.profiles(shop.f.realmId).update(shop.f.profileId, { name: "Company account" });
  expect((await page.listProviders()).map(({ name }) => name)).toEqual(["Company account"]);
  await admin.profiles(shop.f.realmId).update(shop.f.profileId, { enabled: false });
  expect(await page.listProviders()).toEqual([]);
  const { url } = await page.beginSignOn(undefined, REDIRECT);
  expect(url).toContain("/authorize?");
});
