import { beforeEach, describe, expect, test } from "vitest";
import { errorOf, openShop, type Shop, signOn } from "./support/shop.ts";

const ADA = { name: "Ada", email: "ada@shop.example", password: "correct horse battery" };

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});

const registered = async () => {
  const page = shop.page();
  const customer = await page.register(ADA);
  return { page, customer };
};

describe("e-mail and password", () => {
  test("register, then sign in, gives a token of the same form as a sign-on", async () => {
    const { page, customer } = await registered();
    expect(customer).toMatchObject({ type: "customer", name: "Ada", email: ADA.email, password: true });
    const token = await page.signIn(ADA);
    expect(token).toEqual({
      id: expect.any(String),
      customerId: customer.id,
      token: expect.any(String),
      expiresAt: shop.f.latchkey.clock.now() + 86_400_000,
    });
    expect(await page.customer(token).get()).toEqual(customer);
  });

  test("400 credentials_wrong has a message for shoppers", async () => {
    const { page } = await registered();
    const error = await errorOf(page.signIn({ ...ADA, password: "wrong horse battery" }));
    expect(error).toMatchObject({
      code: "credentials_wrong",
      status: 400,
      message: "Wrong e-mail or password.",
    });
  });

  test("409 email_taken for a second registration", async () => {
    const { page } = await registered();
    expect(await errorOf(page.register(ADA))).toMatchObject({ code: "email_taken", status: 409 });
  });

  test("400 for empty fields lists every fault with its pointer", async () => {
    const error = await errorOf(shop.page().register({ name: "", email: "not one", password: "short" }));
    expect(error).toMatchObject({ code: "member_invalid", status: 400 });
    expect(error.errors.map(({ source }) => source)).toEqual([
      { pointer: "/data/name" },
      { pointer: "/data/email" },
      { pointer: "/data/password" },
    ]);
  });

  test("register sends only its own members of a form's values", async () => {
    const page = shop.page();
    await page.register({ ...ADA, email_verified: true } as typeof ADA);
    const body = JSON.parse(shop.sent.at(-1)?.body ?? "");
    expect(body).toEqual({ data: { type: "customer", ...ADA } });
  });
});

describe("a customer", () => {
  test("reads, changes and deletes itself", async () => {
    const { page } = await registered();
    const account = page.customer(await page.signIn(ADA));
    expect(await account.update({ name: "Ada Lovelace", external_ref: "42" })).toMatchObject({
      name: "Ada Lovelace",
      email: ADA.email,
      external_ref: "42",
    });
    expect((await account.get()).name).toBe("Ada Lovelace");
    expect(await account.delete()).toBeUndefined();
    expect(await errorOf(account.get())).toMatchObject({ code: "customer_token_invalid", status: 403 });
  });

  test("may be given as the token's text", async () => {
    const { page, customer } = await registered();
    const { token } = await page.signIn(ADA);
    const account = page.customer(token);
    expect((await account.get()).id).toBe(customer.id);
    await account.signOut();
    expect((await errorOf(account.get())).code).toBe("customer_token_invalid");
  });

  test.each(["", "nonsense", "a.b.c", "a.e30.c", `a.${btoa("null")}.c`])(
    "customer_token_invalid, without a request, for the text %j",
    async (text) => {
      const account = shop.page().customer(text);
      const asked = [account.get(), account.sessions(), account.signOutEverywhere(), account.delete()];
      for (const work of asked) expect((await errorOf(work)).code).toBe("customer_token_invalid");
      expect(shop.sent).toEqual([]);
    },
  );

  test("a 403 is thrown, and renews no access token", async () => {
    const page = shop.page();
    const token = await page.completeSignOn(await signOn(shop, page));
    shop.f.latchkey.clock.advance(86_400_000);
    const before = shop.countOf("/oauth/access_token");
    expect(await errorOf(page.customer(token).get())).toMatchObject({ code: "customer_token_invalid" });
    expect(shop.countOf("/oauth/access_token")).toBe(before + 1);
  });
});

describe("sessions", () => {
  test("are listed with their mechanism; `current` marks the session of the token", async () => {
    const page = shop.page();
    const first = await page.completeSignOn(await signOn(shop, page));
    const second = await page.completeSignOn(await signOn(shop, page));
    const sessions = await page.customer(second).sessions();
    expect(sessions).toEqual(
      [first, second].map(({ id, customerId, expiresAt }) => ({
        type: "token",
        id,
        customer_id: customerId,
        authentication_mechanism: "oidc",
        profile_name: "Hostile",
        browser: null,
        operating_system: null,
        network: null,
        current: id === second.id,
        expires: expiresAt / 1000,
        meta: { timestamps: { created_at: expect.any(String) } },
      })),
    );
  });

  test("are all listed, even if they fill more than one page", async () => {
    const smallPages = (url: string, init: RequestInit) =>
      shop.fetch(url.replace("page[limit]=100", "page[limit]=2"), init);
    const page = shop.page({ fetch: smallPages });
    await page.register(ADA);
    const tokens = [];
    for (let i = 0; i < 5; i++) tokens.push(await page.signIn(ADA));
    const before = shop.sent.length;
    const sessions = await page.customer(tokens[0]?.token ?? "").sessions();
    expect(sessions.map(({ id }) => id)).toEqual(tokens.map(({ id }) => id));
    expect(shop.sent.length - before).toBe(3);
  });

  test("signOut ends its own session, or the session with the given id", async () => {
    const page = shop.page();
    await page.register(ADA);
    const [phone, desk, work] = [await page.signIn(ADA), await page.signIn(ADA), await page.signIn(ADA)];
    const ids = async () => (await page.customer(desk).sessions()).map(({ id }) => id);
    await page.customer(desk).signOut(phone.id);
    expect(await ids()).toEqual([desk.id, work.id]);
    await page.customer(work).signOut();
    expect(await ids()).toEqual([desk.id]);
    expect((await errorOf(page.customer(work).get())).code).toBe("customer_token_invalid");
  });

  test("signOut succeeds if its own session has ended; for another ended session it is 404", async () => {
    const page = shop.page();
    await page.register(ADA);
    const [phone, desk] = [await page.signIn(ADA), await page.signIn(ADA)];
    await page.customer(phone).signOut();
    expect(await page.customer(phone).signOut()).toBeUndefined();
    const error = await errorOf(page.customer(desk).signOut(phone.id));
    expect(error).toMatchObject({ code: "customer_token_not_found", status: 404 });
  });

  test("an empty session id is refused, and ends no session", async () => {
    const page = shop.page();
    await page.register(ADA);
    const [phone, desk] = [await page.signIn(ADA), await page.signIn(ADA)];
    await page.customer(phone).signOut("");
    expect((await page.customer(desk).sessions()).map(({ id }) => id)).toEqual([desk.id]);
    await expect(page.customer(desk).signOut("../tokens")).rejects.toThrow("this is not an id");
    await expect(page.customer(desk).signOut("..")).rejects.toThrow("this is not an id");
  });

  test("signOutEverywhere ends all sessions", async () => {
    const page = shop.page();
    await page.register(ADA);
    const [phone, desk] = [await page.signIn(ADA), await page.signIn(ADA)];
    await page.customer(phone).signOutEverywhere();
    for (const token of [phone, desk])
      expect((await errorOf(page.customer(token).get())).code).toBe("customer_token_invalid");
  });
});
