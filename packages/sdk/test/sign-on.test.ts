import { beforeEach, describe, expect, test } from "vitest";
import { SHOP } from "../../server/test/support/federation.ts";
import {
  answer,
  errorOf,
  openAdmin,
  openBrowser,
  openShop,
  REDIRECT,
  type Shop,
  signOn,
} from "./support/shop.ts";

const TOKENS = "/v2/customers/tokens";

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});

describe("a sign-on", () => {
  test("gives a customer token that works", async () => {
    const page = shop.page();
    const [provider] = await page.listProviders();
    expect(provider).toEqual({
      id: shop.f.profileId,
      name: "Hostile",
      isUp: true,
      health: "up",
      flow: "brokered",
    });
    const { url, state } = await page.beginSignOn(provider, REDIRECT);
    const back = await openBrowser(shop).go(url);
    expect(new URL(back).searchParams.get("state")).toBe(state);
    const token = await page.completeSignOn(back);
    expect(token).toEqual({
      id: expect.any(String),
      customerId: expect.any(String),
      token: expect.any(String),
      expiresAt: Math.floor(shop.f.latchkey.clock.now() / 1000) * 1000 + 86_400_000,
    });
    expect(await page.customer(token).get()).toMatchObject({
      email: "ada@shop.example",
      email_verified: true,
    });
  });

  test("goes to the profile's link with only the contract's parameters, appended by &", async () => {
    const { url, state } = await shop.page().beginSignOn(shop.f.profileId, REDIRECT);
    const link = `${shop.f.issuer}/authorize?profile=${shop.f.profileId}`;
    expect(url.startsWith(`${link}&`)).toBe(true);
    expect(Object.fromEntries(new URLSearchParams(url.slice(link.length)))).toEqual({
      scope: "openid email",
      response_type: "code",
      client_id: "customers",
      redirect_uri: SHOP,
      state,
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(state).toMatch(/^[\w-]{43}$/);
  });

  test("sends prompt, display, ui_locales, nonce and another scope", async () => {
    const more = {
      prompt: "login",
      display: "popup",
      uiLocales: "fr-CA fr",
      nonce: "n",
      scope: "openid email profile",
    };
    const { url } = await shop.page().beginSignOn(shop.f.profileId, { ...REDIRECT, ...more });
    const { searchParams } = new URL(url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      prompt: "login",
      display: "popup",
      ui_locales: "fr-CA fr",
      nonce: "n",
      scope: "openid email profile",
    });
    expect(new URL(await openBrowser(shop).visit(url)).searchParams.get("ui_locales")).toBe("fr-CA fr");
  });

  test("without a provider begins at the realm's own authorization endpoint", async () => {
    const page = shop.page();
    const { url } = await page.beginSignOn(undefined, REDIRECT);
    expect(url.startsWith(`${shop.f.issuer}/authorize?scope=`)).toBe(true);
    expect((await page.completeSignOn(await openBrowser(shop).go(url))).token).toBeTruthy();
    await page.beginSignOn(undefined, REDIRECT);
    expect(shop.sent.filter(({ path }) => path.endsWith("openid-configuration"))).toHaveLength(1);
  });

  test("works with a redirect URI that has a query of its own, and an address with a fragment", async () => {
    const page = shop.page();
    const { url } = await page.beginSignOn(shop.f.profileId, { redirectUri: `${SHOP}?shop=1` });
    const back = await openBrowser(shop).go(url);
    expect(page.isSignOnAnswer(back)).toBe(true);
    expect((await page.completeSignOn(`${back}#top`)).token).toBeTruthy();
  });

  test("reads settings once, and does not read a listed provider again", async () => {
    const page = shop.page();
    const [provider] = await page.listProviders();
    await Promise.all([page.beginSignOn(provider, REDIRECT), page.beginSignOn(provider, REDIRECT)]);
    await page.listProviders();
    expect(shop.countOf("/v2/customer-authentication-settings")).toBe(1);
    expect(shop.sent.filter(({ path }) => path.endsWith("/oidc-profiles"))).toHaveLength(2);
    expect(shop.sent.filter(({ path }) => path.endsWith(shop.f.profileId))).toHaveLength(0);
  });

  test("reads settings again after five minutes, so a server's storefront notices the store's new realm", async () => {
    const server = shop.page();
    expect(await server.listProviders()).toHaveLength(1);
    const admin = openAdmin(shop);
    const { data: realm } = await admin.realms.create({ name: "Next season" });
    await admin.settings.update({ realm_id: realm.id });
    shop.f.latchkey.clock.advance(5 * 60_000);
    expect(await server.listProviders()).toEqual([]);
  });

  test("without a provider begins at the store's current realm, even if an earlier sign-on began at another", async () => {
    const server = shop.page();
    await server.beginSignOn(undefined, REDIRECT);
    const admin = openAdmin(shop);
    const { data: realm } = await admin.realms.create({ name: "Next season" });
    await admin.settings.update({ realm_id: realm.id });
    shop.f.latchkey.clock.advance(5 * 60_000);
    const { url } = await server.beginSignOn(undefined, REDIRECT);
    expect(url).toContain(`/realms/${realm.id}/authorize?`);
  });

  test("reads settings again if the first attempt failed", async () => {
    const page = shop.page();
    shop.faults.push({ path: "/v2/customer-authentication-settings", fault: answer(500, { errors: [] }) });
    shop.faults.push({ path: "/v2/customer-authentication-settings", fault: answer(500, { errors: [] }) });
    expect((await errorOf(page.listProviders())).code).toBe("answer_unreadable");
    expect(await page.listProviders()).toHaveLength(1);
  });

  test("with a deleted provider fails before the shopper leaves the shop", async () => {
    const error = await errorOf(shop.page().beginSignOn("00000000-0000-7000-8000-000000000000", REDIRECT));
    expect(error).toMatchObject({ code: "profile_not_found", status: 404 });
    await expect(shop.page().beginSignOn("../../customers", REDIRECT)).rejects.toThrow("this is not an id");
    expect(shop.storage.entries.size).toBe(0);
  });
});

describe("tabs", () => {
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ];

  test.each(orders)(
    "three parallel sign-ons complete in any order: %i, then %i, then %i",
    async (...order) => {
      const browser = openBrowser(shop);
      const tabs = [shop.page(), shop.page(), shop.page()];
      const begun = await Promise.all(tabs.map((page) => page.beginSignOn(shop.f.profileId, REDIRECT)));
      const waiting: string[] = [];
      for (const { url } of begun) waiting.push(await browser.toCallback(url));
      const tokens: string[] = [];
      const customers = new Set<string>();
      for (const tab of order) {
        const back = await browser.visit(waiting[tab] as string);
        // The shopper left and came back: a new page with the same storage.
        const token = await shop.page().completeSignOn(back);
        tokens.push(token.token);
        customers.add(token.customerId);
      }
      expect([new Set(tokens).size, customers.size]).toEqual([3, 1]);
      expect(shop.storage.entries.size).toBe(0);
    },
  );

  test("three sign-ons complete at the same moment", async () => {
    const page = shop.page();
    const backs = [await signOn(shop, page), await signOn(shop, page), await signOn(shop, page)];
    const tokens = await Promise.all(backs.map((back) => page.completeSignOn(back)));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(3);
  });
});

describe("an answer is used once", () => {
  test("two simultaneous calls send one token request and give one result", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    const [first, second] = [page.completeSignOn(back), page.completeSignOn(back)];
    expect(second).toBe(first);
    expect(await second).toEqual(await first);
    expect(shop.countOf(TOKENS)).toBe(1);
  });

  test("a later call in the same page gives the same result without a request", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    const first = await page.completeSignOn(back);
    expect(await page.completeSignOn(back)).toBe(first);
    expect(shop.countOf(TOKENS)).toBe(1);
  });

  test("two pages with the same URL send the same key and get the same token", async () => {
    const back = await signOn(shop, shop.page());
    const [first, second] = await Promise.all([
      shop.page().completeSignOn(back),
      shop.page().completeSignOn(back),
    ]);
    expect(second).toEqual(first);
  });

  test("a refusal is remembered, so a void code is not sent again", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    shop.f.latchkey.clock.advance(61_000);
    const first = await errorOf(page.completeSignOn(back));
    expect(first).toMatchObject({ code: "code_expired", status: 400, requestId: expect.any(String) });
    expect(await errorOf(page.completeSignOn(back))).toBe(first);
    expect(shop.countOf(TOKENS)).toBe(1);
    expect(shop.storage.entries.size).toBe(0);
  });

  test("after a reload the sign-on is unknown, because its slot was deleted with the token", async () => {
    const back = await signOn(shop, shop.page());
    await shop.page().completeSignOn(back);
    expect((await errorOf(shop.page().completeSignOn(back))).code).toBe("state_unknown");
    expect(shop.countOf(TOKENS)).toBe(1);
  });

  test("a page that stays open forgets old results", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    await page.completeSignOn(back);
    shop.f.latchkey.clock.advance(15 * 60_000);
    expect((await errorOf(page.completeSignOn(back))).code).toBe("state_unknown");
  });
});
