import { beforeEach, describe, expect, test } from "vitest";
import { createCustomer } from "../../server/src/contract/customers.ts";
import { SHOP } from "../../server/test/support/federation.ts";
import {
  errorOf,
  newStorage,
  openBrowser,
  openShop,
  REDIRECT,
  type Shop,
  signOn,
  withParameter,
} from "./support/shop.ts";

const TOKENS = "/v2/customers/tokens";

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});

describe("an answer that does not belong to this browser sends no request", () => {
  const changes: [string, string, (url: string) => string][] = [
    ["state_unknown", "another state", (url) => withParameter(url, "state", "somebody-elses")],
    ["state_unknown", "a state with one letter changed", (url) => url.replace(/state=./, "state=*")],
    ["state_unknown", "no state", (url) => withParameter(url, "state", undefined)],
    ["state_unknown", "the name of our own list", (url) => withParameter(url, "state", "open")],
    ["state_unknown", "no parameters at all", () => SHOP],
    ["issuer_mismatch", "another issuer", (url) => withParameter(url, "iss", "https://evil.example")],
    ["issuer_mismatch", "no issuer", (url) => withParameter(url, "iss", undefined)],
    [
      "issuer_mismatch",
      "an error of another issuer",
      (url) => `${withParameter(url, "iss", "https://evil.example")}&error=access_denied`,
    ],
    ["answer_unreadable", "neither code nor error", (url) => withParameter(url, "code", undefined)],
  ];

  test.each(changes)("%s: %s; the original answer still works", async (code, _, change) => {
    const back = await signOn(shop, shop.page());
    const page = shop.page();
    const before = shop.sent.length;
    const error = await errorOf(page.completeSignOn(change(back)));
    expect(error).toMatchObject({ code, status: undefined, errors: [] });
    expect(shop.sent.length).toBe(before);
    expect((await page.completeSignOn(back)).token).toBeTruthy();
  });

  test("state_unknown: a sign-on that began in another browser", async () => {
    const back = await signOn(shop, shop.page());
    const error = await errorOf(shop.page({ storage: newStorage() }).completeSignOn(back));
    expect(error.code).toBe("state_unknown");
    expect(shop.countOf(TOKENS)).toBe(0);
  });
});

describe("a redirect with an error", () => {
  test.each([
    "access_denied",
    "account_selection_required",
    "consent_required",
    "interaction_required",
    "invalid_request",
    "invalid_scope",
    "login_required",
    "server_error",
    "temporarily_unavailable",
    "unauthorized_client",
    "unsupported_response_type",
  ])("of the provider, %s, keeps its code and the record's reference", async (error) => {
    const page = shop.page();
    shop.f.idp.hooks.redirect = ({ state = "" }) => ({ error, state });
    const back = await signOn(shop, page);
    expect(page.isSignOnAnswer(back)).toBe(true);
    const thrown = await errorOf(page.completeSignOn(back));
    expect(thrown).toMatchObject({ code: error, name: "ApiError", status: undefined });
    expect((await shop.f.recordOf(thrown.reference ?? "")).error).toBe(error);
    expect(shop.countOf(TOKENS)).toBe(0);
    expect(shop.storage.entries.size).toBe(0);
    expect(await errorOf(page.completeSignOn(back))).toBe(thrown);
  });

  test("callback_replay: the shopper goes back to Latchkey's callback before the code is redeemed", async () => {
    const page = shop.page();
    const browser = openBrowser(shop);
    const { url } = await page.beginSignOn(shop.f.profileId, REDIRECT);
    const callback = await browser.toCallback(url);
    await browser.visit(callback);
    const thrown = await errorOf(shop.page().completeSignOn(await browser.visit(callback)));
    expect(thrown).toMatchObject({ code: "callback_replay", reference: expect.stringMatching(/\S+/) });
    expect(shop.countOf(TOKENS)).toBe(0);
  });

  test("callback_replay: the shopper goes back to Latchkey's callback when signed in, without a slot", async () => {
    const browser = openBrowser(shop);
    const { url } = await shop.page().beginSignOn(shop.f.profileId, REDIRECT);
    const callback = await browser.toCallback(url);
    await shop.page().completeSignOn(await browser.visit(callback));
    const thrown = await errorOf(shop.page().completeSignOn(await browser.visit(callback)));
    expect(thrown).toMatchObject({ code: "callback_replay", reference: expect.stringMatching(/\S+/) });
    expect(shop.countOf(TOKENS)).toBe(1);
  });

  test("drops a `reference` that lacks the form of a reference", async () => {
    const forged = (reference: string) =>
      `${SHOP}?${new URLSearchParams({ state: "s", error: "callback_replay", reference })}`;
    const page = shop.page();
    expect((await errorOf(page.completeSignOn(forged("Call 555-0100 now")))).reference).toBeUndefined();
    expect((await errorOf(page.completeSignOn(forged("7KQM-2X9D")))).reference).toBe("7KQM-2X9D");
  });

  test("a refusal at the exchange has its reference too", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    const proven = { type: "customer", name: "Ada", email: "ada@shop.example", email_verified: true };
    await shop.f.store.call(createCustomer, { json: { data: proven } });
    await shop.f.changeRealm({ duplicate_email_policy: "disallowed" });
    const thrown = await errorOf(page.completeSignOn(back));
    expect(thrown).toMatchObject({ code: "sign_on_refused", status: 400 });
    expect(thrown.errors[0]?.meta).toMatchObject({ reason: "email_taken", reference: thrown.reference });
    expect((await shop.f.recordOf(thrown.reference ?? "")).reason).toBe("email_taken");
  });
});

describe("isSignOnAnswer", () => {
  test.each([
    [true, `${SHOP}?state=s&code=c`],
    [true, `${SHOP}?state=s&error=e#f`],
    [true, "/signed-in?a=b&code=c&state=s"],
    [false, SHOP],
    [false, `${SHOP}?state=s`],
    [false, `${SHOP}?code=c`],
    [false, `${SHOP}?state=&code=c`],
    [false, `${SHOP}#?state=s&code=c`],
    [false, ""],
  ])("%s: %s", (is, url) => {
    expect(shop.page().isSignOnAnswer(url)).toBe(is);
  });

  test("reads the page's own URL by default, as completeSignOn does", async () => {
    const page = shop.page();
    expect(page.isSignOnAnswer()).toBe(false);
    const holder = globalThis as { location?: unknown };
    holder.location = { href: await signOn(shop, page) };
    try {
      expect(page.isSignOnAnswer()).toBe(true);
      expect((await page.completeSignOn()).token).toBeTruthy();
    } finally {
      delete holder.location;
    }
  });
});
