import { beforeEach, expect, test } from "vitest";
import type { Exchange } from "../src/index.ts";
import {
  errorOf,
  loseAnswer,
  neverArrive,
  openBrowser,
  openShop,
  REDIRECT,
  type Shop,
  signOn,
} from "./support/shop.ts";

let shop: Shop;
let seen: Exchange[];
beforeEach(async () => {
  shop = await openShop();
  seen = [];
});

const watched = () => shop.page({ onExchange: (exchange) => seen.push(exchange) });
const told = () => seen.map(({ step, method, status }) => `${step} ${method} ${status}`);

test("is called for every request with its step, in order", async () => {
  const page = watched();
  const [provider] = await page.listProviders();
  const { url } = await page.beginSignOn(provider, REDIRECT);
  const token = await page.completeSignOn(await openBrowser(shop).go(url));
  const account = page.customer(token);
  await account.get();
  await account.update({ name: "Ada" });
  await account.sessions();
  await account.signOut();
  await page.beginSignOn(undefined, REDIRECT);
  await page.register({ name: "Ben", email: "ben@shop.example", password: "correct horse battery" });
  expect(told()).toEqual([
    "access_token POST 200",
    "settings GET 200",
    "providers GET 200",
    "customer_token POST 200",
    "customer GET 200",
    "customer PUT 200",
    "sessions GET 200",
    "sign_out DELETE 204",
    "discovery GET 200",
    "register POST 201",
  ]);
  expect(seen[0]).toEqual({
    method: "POST",
    url: "https://keys.example/oauth/access_token",
    status: 200,
    step: "access_token",
  });
});

test("is called for requests without an answer, and for each repeat", async () => {
  const page = watched();
  const back = await signOn(shop, page);
  seen.length = 0;
  shop.faults.push({ path: "/v2/customers/tokens", fault: loseAnswer });
  await page.completeSignOn(back);
  expect(told()).toEqual(["customer_token POST undefined", "customer_token POST 200"]);
});

test("gets no token, code, verifier, state, key or password", async () => {
  const page = watched();
  const ada = { email: "ben@shop.example", password: "correct horse battery" };
  await page.register({ name: "Ben", ...ada });
  const token = await page.signIn(ada);
  await page.customer(token).sessions();
  const { url, state } = await page.beginSignOn(shop.f.profileId, REDIRECT);
  const slot = JSON.parse(shop.storage.getItem(`latchkey:${state}`) ?? "");
  const back = await openBrowser(shop).go(url);
  const other = await page.completeSignOn(back);
  await errorOf(page.signIn({ ...ada, password: "a wrong password" }));
  await page.customer(other).signOutEverywhere();
  const everything = JSON.stringify(seen);
  const bearers = shop.sent.map(({ headers }) => headers.get("authorization")?.slice(7));
  const secrets = [
    token.token,
    other.token,
    new URL(back).searchParams.get("code"),
    state,
    slot.verifier,
    slot.idempotencyKey,
    ada.password,
    "a wrong password",
    ada.email,
    ...bearers,
  ].filter((secret) => typeof secret === "string");
  expect(secrets.length).toBeGreaterThan(10);
  for (const secret of secrets) expect(everything).not.toContain(secret);
});

test("an error that it throws is ignored", async () => {
  const page = shop.page({
    onExchange() {
      throw new Error("the panel is broken");
    },
  });
  expect((await page.completeSignOn(await signOn(shop, page))).token).toBeTruthy();
  shop.faults.push({ path: "/v2/customers", fault: neverArrive });
  const ada = { name: "Ada", email: "ada@shop.example", password: "correct horse battery" };
  expect((await errorOf(page.register(ada))).code).toBe("network_failed");
});
