import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { updateStore } from "../../server/src/contract/store.ts";
import {
  answer,
  errorOf,
  type Fault,
  neverArrive,
  openShop,
  REDIRECT,
  type Shop,
  signOn,
} from "./support/shop.ts";

const ACCESS = "/oauth/access_token";
const SETTINGS = "/v2/customer-authentication-settings";
const HOUR_MS = 3_600_000;

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(() => void vi.unstubAllGlobals());

const busy = (status: number, retryAfter?: number | string): Fault =>
  answer(
    status,
    {
      errors: [{ status: String(status), code: "storage_unavailable", title: "", detail: "For developers." }],
    },
    retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
  );
const fail = (path: string, ...faults: Fault[]) =>
  shop.faults.push(...faults.map((fault) => ({ path, fault })));

describe("the access token", () => {
  test("is fetched on first use, once for all waiting calls, with only the client id", async () => {
    const page = shop.page();
    expect(shop.sent).toHaveLength(0);
    await Promise.all([page.listProviders(), page.beginSignOn(undefined, REDIRECT), page.listProviders()]);
    const [first, ...others] = shop.sent.filter(({ path }) => path === ACCESS);
    expect(others).toEqual([]);
    expect(first?.body).toBe(`grant_type=implicit&client_id=${shop.f.store.key.clientId}`);
    expect(first?.headers.has("authorization")).toBe(false);
  });

  test("is renewed before it expires", async () => {
    const page = shop.page();
    await page.listProviders();
    shop.f.latchkey.clock.advance(HOUR_MS - 61_000);
    await page.listProviders();
    expect(shop.countOf(ACCESS)).toBe(1);
    shop.f.latchkey.clock.advance(2000);
    await Promise.all([page.listProviders(), page.listProviders()]);
    expect(shop.countOf(ACCESS)).toBe(2);
    expect(shop.sent.every(({ status }) => status === 200)).toBe(true);
  });

  test("is renewed once after a 401, for all calls that got one, even if the clock has stopped", async () => {
    const page = shop.page({ now: () => 0 });
    const [provider] = await page.listProviders();
    shop.f.latchkey.clock.advance(HOUR_MS + 1000);
    const answers = await Promise.all([page.listProviders(), page.listProviders(), page.listProviders()]);
    expect(answers.flat()).toEqual([provider, provider, provider]);
    expect(shop.sent.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(1);
    expect(shop.countOf(ACCESS)).toBe(2);
  });

  test("a code is still valid after a 401, because the service did not read it", async () => {
    const page = shop.page({ now: () => 0 });
    await page.listProviders();
    shop.f.latchkey.clock.advance(HOUR_MS + 1000);
    const back = await signOn(shop, shop.page({ now: () => 0 }));
    expect((await page.completeSignOn(back)).token).toBeTruthy();
    expect(
      shop.sent.filter(({ path }) => path === "/v2/customers/tokens").map(({ status }) => status),
    ).toEqual([401, 200]);
  });

  test("a second 401 is thrown", async () => {
    const refusal = answer(401, {
      errors: [{ status: "401", code: "token_invalid", title: "", detail: "No." }],
    });
    fail(SETTINGS, refusal, refusal);
    expect(await errorOf(shop.page().listProviders())).toMatchObject({ code: "token_invalid", status: 401 });
    expect([shop.countOf(ACCESS), shop.countOf(SETTINGS)]).toEqual([2, 2]);
  });

  test("a 401 does not count as one of the three tries", async () => {
    const refusal = answer(401, {
      errors: [{ status: "401", code: "token_invalid", title: "", detail: "No." }],
    });
    fail(SETTINGS, refusal, busy(503, 1), busy(503, 1));
    expect(await shop.page().listProviders()).toHaveLength(1);
    expect(shop.countOf(SETTINGS)).toBe(4);
  });

  test("a 401 for an unknown client id is thrown, and the next call tries again", async () => {
    const page = shop.page({ clientId: "lkid_mistyped" });
    expect(await errorOf(page.listProviders())).toMatchObject({ code: "client_id_mistyped", status: 401 });
    expect(await errorOf(page.listProviders())).toMatchObject({ code: "client_id_mistyped", status: 401 });
    expect(shop.countOf(ACCESS)).toBe(2);
  });

  test("is fetched again after a failed attempt", async () => {
    fail(ACCESS, neverArrive, neverArrive);
    const page = shop.page();
    expect((await errorOf(page.listProviders())).code).toBe("network_failed");
    expect(await page.listProviders()).toHaveLength(1);
  });

  test("is used even if its lifetime is shorter than the renewal margin", async () => {
    fail(ACCESS, async (pass) => {
      const body = await (await pass()).json();
      return Response.json({ ...body, expires_in: 1 });
    });
    const page = shop.page();
    expect(await page.listProviders()).toHaveLength(1);
  });
});

describe("429 and 503", () => {
  test("a 429 of the service is repeated after Retry-After", async () => {
    const page = shop.page();
    await page.listProviders();
    await shop.f.store.call(updateStore, { json: { data: { type: "store", rate_limit: 1 } } });
    shop.f.latchkey.clock.advance(2000);
    for (let i = 0; i < 3; i++) expect(await page.listProviders()).toHaveLength(1);
    const refused = shop.sent.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(shop.slept).toEqual(refused.map(({ retryAfter }) => Number(retryAfter) * 1000));
  });

  test.each([429, 503])("%i: three tries at most, each after Retry-After", async (status) => {
    fail(SETTINGS, busy(status, 2), busy(status, 3), busy(status, 1));
    const error = await errorOf(shop.page().listProviders());
    expect([error.status, shop.countOf(SETTINGS), shop.slept]).toEqual([status, 3, [2000, 3000]]);
  });

  test.each([
    [[11], []],
    [[10], [10_000]],
    [[6, 5], [6000]],
    [
      [4, 6],
      [4000, 6000],
    ],
  ])("at most ten seconds in all: Retry-After %j sleeps %j", async (asked, slept) => {
    fail(SETTINGS, ...asked.map((seconds) => busy(503, seconds)));
    await shop
      .page()
      .listProviders()
      .catch(() => {});
    expect(shop.slept).toEqual(slept);
  });

  test.each([undefined, "Wed, 21 Oct 2026 07:28:00 GMT", "0"])(
    "a second where Retry-After is %s",
    async (retryAfter) => {
      fail(SETTINGS, busy(503, retryAfter));
      await shop.page().listProviders();
      expect(shop.slept).toEqual([1000]);
    },
  );

  test("a 503 of a balancer, without the service's body, is repeated too", async () => {
    fail(SETTINGS, answer(503, "<h1>503</h1>", { "retry-after": "4" }));
    expect(await shop.page().listProviders()).toHaveLength(1);
    expect(shop.slept).toEqual([4000]);
  });

  test("a 503 is not repeated if the request might take effect twice; a 429 is, because nothing was done", async () => {
    const ada = { name: "Ada", email: "ada@shop.example", password: "correct horse battery" };
    fail("/v2/customers", busy(503, 1));
    expect((await errorOf(shop.page().register(ada))).status).toBe(503);
    expect([shop.countOf("/v2/customers"), shop.slept]).toEqual([1, []]);
    fail("/v2/customers", busy(429, 1));
    expect((await shop.page().register(ada)).email).toBe(ada.email);
  });

  test("a 503 at the token endpoint is repeated with the same Idempotency-Key", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    fail("/v2/customers/tokens", busy(503, 1), busy(503, 1));
    expect((await page.completeSignOn(back)).token).toBeTruthy();
    const keys = shop.sent
      .filter(({ path }) => path === "/v2/customers/tokens")
      .map(({ headers }) => headers.get("idempotency-key"));
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  test("a lasting 503 leaves the sign-on open, so the shopper can try again", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    fail("/v2/customers/tokens", busy(503, 1), busy(503, 1), busy(503, 1));
    expect((await errorOf(page.completeSignOn(back))).message).toMatch(/try again in a moment/);
    expect((await page.completeSignOn(back)).token).toBeTruthy();
  });

  test("a 500 is not repeated", async () => {
    fail(SETTINGS, answer(500, { errors: [{ code: "internal_error", detail: "", id: "r" }] }));
    expect(await errorOf(shop.page().listProviders())).toMatchObject({
      code: "internal_error",
      requestId: "r",
    });
    expect(shop.slept).toEqual([]);
  });
});

describe("options", () => {
  test("the global fetch, clock and timer are the defaults", async () => {
    const waitedMs: number[] = [];
    vi.stubGlobal("fetch", shop.fetch);
    vi.stubGlobal("setTimeout", (proceed: () => void, ms: number) => {
      waitedMs.push(ms);
      proceed();
    });
    fail(SETTINGS, busy(503, 7));
    const page = shop.page({ fetch: undefined, now: undefined, sleep: undefined });
    expect(await page.listProviders()).toHaveLength(1);
    expect(waitedMs).toContain(7000);
  });

  test.each([
    ["credentials are omitted in browsers", "Mozilla/5.0", "omit"],
    ["credentials are not set in Cloudflare Workers", "Cloudflare-Workers", undefined],
  ])("requests: %s", async (_, userAgent, expected) => {
    const sent: RequestInit[] = [];
    const fetch = async (_: string, init: RequestInit) => {
      sent.push(init);
      return Response.json({ errors: [{ code: "parameter_invalid" }] }, { status: 400 });
    };
    vi.stubGlobal("navigator", { userAgent });
    await errorOf(shop.page({ fetch }).listProviders());
    expect(sent.map(({ credentials }) => credentials)).toEqual([expected]);
  });

  test("fetch is called without a receiver, as browsers require", async () => {
    const { fetch } = shop;
    let self: unknown = "not called";
    const page = shop.page({
      fetch: function (this: unknown, url, init) {
        self = this;
        return fetch(url, init);
      },
    });
    await page.listProviders();
    expect(self).toBeUndefined();
  });

  test("baseUrl may end with a slash", async () => {
    expect(await shop.page({ baseUrl: "https://keys.example/" }).listProviders()).toHaveLength(1);
  });
});
