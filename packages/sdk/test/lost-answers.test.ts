import { beforeEach, describe, expect, test } from "vitest";
import {
  answer,
  errorOf,
  type Fault,
  loseAnswer,
  neverArrive,
  openShop,
  type Shop,
  signOn,
} from "./support/shop.ts";

/** A code works once. A network failure during its redemption must not cost the shopper the sign-on. */

const TOKENS = "/v2/customers/tokens";

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});

const fail = (...faults: Fault[]) => shop.faults.push(...faults.map((fault) => ({ path: TOKENS, fault })));
const requests = () => shop.sent.filter(({ path }) => path === TOKENS);
const keys = () => requests().map(({ headers }) => headers.get("idempotency-key"));

const breakOff: Fault = async (pass) => {
  const whole = await (await pass()).text();
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(whole.slice(0, 20)));
      controller.error(new TypeError("terminated"));
    },
  });
  return new Response(body, { status: 200 });
};
const cutShort: Fault = async (pass) => new Response((await (await pass()).text()).slice(0, 20));
const portal: Fault = answer(200, "<h1>Welcome to our hotel</h1>");
const gateway: Fault = async (pass) => {
  await pass();
  return new Response("<h1>504 Gateway Time-out</h1>", { status: 504 });
};
const nothing: Fault = answer(200, "null");

test.each<[string, Fault]>([
  ["is lost after the service answered", loseAnswer],
  ["never came, since the request did not arrive", neverArrive],
  ["breaks off in its body", breakOff],
  ["is cut short", cutShort],
  ["comes from somebody in between", portal],
  ["is a gateway's that did not want to wait", gateway],
  ["has nothing in it", nothing],
])(
  "after an answer that %s the request is repeated once with the same key, and gives the token",
  async (_, fault) => {
    const page = shop.page();
    const back = await signOn(shop, page);
    fail(fault);
    const token = await page.completeSignOn(back);
    const [first, second] = keys();
    expect([requests().length, second]).toEqual([2, first]);
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(requests()[1]?.body).toBe(requests()[0]?.body);
    const sessions = await page.customer(token).sessions();
    expect(sessions.map(({ id }) => id)).toEqual([token.id]);
  },
);

test("the repeated request gives the token of the lost answer", async () => {
  const page = shop.page();
  const back = await signOn(shop, page);
  let lost = "";
  fail(async (pass) => {
    lost = (await (await pass()).json()).data.token;
    throw new TypeError("Failed to fetch");
  });
  expect((await page.completeSignOn(back)).token).toBe(lost);
});

test("two lost answers are network_failed; the shopper's retry sends the same key and gets the same token", async () => {
  const page = shop.page();
  const back = await signOn(shop, page);
  fail(loseAnswer, loseAnswer);
  const error = await errorOf(page.completeSignOn(back));
  expect(error).toMatchObject({ code: "network_failed", status: undefined, cause: expect.any(TypeError) });
  expect(requests()).toHaveLength(2);
  const token = await page.completeSignOn(back);
  expect(new Set(keys()).size).toBe(1);
  expect(await page.customer(token).sessions()).toHaveLength(1);
});

test("a reload in the middle gets the same token, because the key is in the slot", async () => {
  const page = shop.page();
  const back = await signOn(shop, page);
  fail(loseAnswer, loseAnswer);
  await errorOf(page.completeSignOn(back));
  const token = await shop.page().completeSignOn(back);
  expect(await page.customer(token).sessions()).toHaveLength(1);
  expect(shop.storage.entries.size).toBe(0);
});

test("two unreadable answers are answer_unreadable, with the status for support", async () => {
  const page = shop.page();
  const back = await signOn(shop, page);
  fail(portal, portal);
  expect(await errorOf(page.completeSignOn(back))).toMatchObject({ code: "answer_unreadable", status: 200 });
  expect((await page.completeSignOn(back)).token).toBeTruthy();
});

describe("a used code is never sent again", () => {
  test.each([
    "code_invalid",
    "code_expired",
    "code_already_used",
    "verifier_mismatch",
    "redirect_uri_mismatch",
  ])("%s: one request, the slot is gone, the second call makes no request", async (code) => {
    const page = shop.page();
    const back = await signOn(shop, page);
    const fault = { status: "400", code, title: "Bad Request", detail: "For developers.", id: "r-1" };
    fail(answer(400, { errors: [fault] }));
    const error = await errorOf(page.completeSignOn(back));
    expect(error).toMatchObject({ code, status: 400, requestId: "r-1", errors: [fault] });
    expect(error.message).toBe("This sign-in has ended. Please start again.");
    expect(await errorOf(page.completeSignOn(back))).toBe(error);
    expect((await errorOf(shop.page().completeSignOn(back))).code).toBe("state_unknown");
    expect(requests()).toHaveLength(1);
  });

  test("a code that a logout at the provider has voided", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    const code = new URL(back).searchParams.get("code") ?? "";
    await shop.f.redeem({ code, pkce: { verifier: "v".repeat(43), challenge: "" } });
    expect((await errorOf(page.completeSignOn(back))).code).toBe("code_invalid");
    expect(requests()).toHaveLength(1);
  });
});

describe("e-mail and password", () => {
  test("each sign-in has its own key, so a request with a lost answer is repeated", async () => {
    const page = shop.page();
    const ada = { email: "ada@shop.example", password: "correct horse battery" };
    await page.register({ name: "Ada", ...ada });
    fail(loseAnswer);
    const token = await page.signIn(ada);
    expect(new Set(keys()).size).toBe(1);
    const again = await page.signIn(ada);
    expect(new Set(keys()).size).toBe(2);
    expect(again.id).not.toBe(token.id);
    expect(await page.customer(token).sessions()).toHaveLength(2);
  });
});

test("a registration with a lost answer is not repeated, because it has no key", async () => {
  shop.faults.push({ path: "/v2/customers", fault: loseAnswer });
  const error = await errorOf(
    shop.page().register({ name: "Ada", email: "ada@shop.example", password: "correct horse battery" }),
  );
  expect(error.code).toBe("network_failed");
  expect(shop.countOf("/v2/customers")).toBe(1);
});
