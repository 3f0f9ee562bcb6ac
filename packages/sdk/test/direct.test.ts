import { beforeEach, expect, test } from "vitest";
import { updateProfile } from "../../server/src/contract/oidc-profiles.ts";
import { updateAuthenticationSettings } from "../../server/src/contract/realms.ts";
import { answer, errorOf, openShop, REDIRECT, type Shop, withParameter } from "./support/shop.ts";

/**
 * `flow: "direct"`: the shopper goes to the identity provider without Latchkey in between, and returns with
 * the provider's code.
 */

const TOKENS = "/v2/customers/tokens";

let shop: Shop;
let directId: string;

beforeEach(async () => {
  shop = await openShop();
  const { f } = shop;
  await change({ enabled: false }, f.profileId);
  await f.store.call(updateAuthenticationSettings, {
    json: { data: { type: "customer-authentication-settings", client_id: f.idp.clientId } },
  });
  directId = await f.addProfile({ flow: "direct", name: "Direct" });
});

const change = (data: object, id: string) =>
  shop.f.store.call(updateProfile, {
    ids: { realm: shop.f.realmId, id },
    json: { data: { type: "oidc-profile", ...data } },
  });

async function returned() {
  const page = shop.page();
  const { url, state } = await page.beginSignOn(directId, REDIRECT);
  return { page, url, state, back: shop.f.idp.signIn(url) };
}

test("the link is the provider's authorization endpoint, with the same parameters; its code gives a customer token", async () => {
  const page = shop.page();
  const providers = await page.listProviders();
  expect(providers).toEqual([{ id: directId, name: "Direct", isUp: true, health: "up", flow: "direct" }]);
  const { url, state } = await page.beginSignOn(providers[0], REDIRECT);
  expect(url.startsWith(`${shop.f.idp.origin}/authorize?profile=${directId}&scope=openid+email&`)).toBe(true);
  expect(new URL(url).searchParams.get("client_id")).toBe(shop.f.idp.clientId);
  const back = shop.f.idp.signIn(url);
  expect(new URL(back).searchParams.get("state")).toBe(state);
  const token = await page.completeSignOn(back);
  expect(await page.customer(token).get()).toMatchObject({ email: "ada@shop.example" });
});

test("an answer may have no `iss`, or the profile's issuer", async () => {
  const first = await returned();
  expect((await first.page.completeSignOn(first.back)).token).toBeTruthy();
  const second = await returned();
  const named = withParameter(second.back, "iss", shop.f.idp.issuer);
  expect((await second.page.completeSignOn(named)).token).toBeTruthy();
});

test("an answer with another `iss` is issuer_mismatch, and sends no request", async () => {
  const { page, back } = await returned();
  const before = shop.sent.length;
  for (const iss of ["https://evil.example", shop.f.issuer])
    expect((await errorOf(page.completeSignOn(withParameter(back, "iss", iss)))).code).toBe(
      "issuer_mismatch",
    );
  expect(shop.sent.length).toBe(before);
});

test("an unknown `error` becomes server_error; its text is not shown", async () => {
  shop.f.idp.hooks.redirect = ({ state = "" }) => ({
    error: "<b>x</b>",
    error_description: "<b>y</b>",
    state,
  });
  const { page, back } = await returned();
  const error = await errorOf(page.completeSignOn(back));
  expect(error.code).toBe("server_error");
  expect(error.message).not.toContain("<b>");
});

test.each(["constructor", "__proto__", "toString"])(
  "an `error` named %s becomes server_error",
  async (name) => {
    shop.f.idp.hooks.redirect = ({ state = "" }) => ({ error: name, state });
    const { page, back } = await returned();
    expect((await errorOf(page.completeSignOn(back))).code).toBe("server_error");
  },
);

test("a 503 while the provider is down is repeated, and the same code works when it is up", async () => {
  const { page, back } = await returned();
  shop.f.idp.hooks.answer = {
    "/token": (_request, response) => {
      shop.f.idp.hooks.answer = {};
      response.writeHead(502).end();
    },
  };
  expect((await page.completeSignOn(back)).token).toBeTruthy();
  expect(shop.slept).toEqual([10_000]);
  expect(shop.sent.filter(({ path }) => path === TOKENS).map(({ status }) => status)).toEqual([503, 200]);
});

test("without an authorization endpoint isUp is false and beginSignOn fails with temporarily_unavailable, then reads again", async () => {
  const path = `/v2/authentication-realms/${shop.f.realmId}/oidc-profiles`;
  const links = { "authorization-endpoint": null, "client-discovery-url": "" };
  const meta = { issuer: null, health: { status: "up" } };
  const data = { id: directId, name: "Direct", enabled: true, flow: "direct", meta };
  const list = { data: [{ ...data, links }], meta: { results: { total: 1 } }, links: { next: null } };
  shop.faults.push({ path, fault: answer(200, list) });
  shop.faults.push({ path: `${path}/${directId}`, fault: answer(200, { data, links }) });
  const page = shop.page();
  const [provider] = await page.listProviders();
  expect(provider?.isUp).toBe(false);
  expect((await errorOf(page.beginSignOn(provider, REDIRECT))).code).toBe("temporarily_unavailable");
  expect((await page.beginSignOn(provider, REDIRECT)).url).toContain(`${shop.f.idp.origin}/authorize?`);
});

test("a storefront notices a provider's new flow within five minutes", async () => {
  const server = shop.page();
  await server.beginSignOn(directId, REDIRECT);
  await change({ flow: "brokered" }, directId);
  shop.f.latchkey.clock.advance(5 * 60_000);
  expect((await server.beginSignOn(directId, REDIRECT)).url).toContain(`${shop.f.issuer}/authorize?`);
});
