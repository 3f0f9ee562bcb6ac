import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { type Admin, ApiError, createAdmin } from "../src/admin/index.ts";
import { answer, collect, errorOf, openAdmin, openShop, type Shop } from "./support/shop.ts";

let shop: Shop;
let admin: Admin;
beforeEach(async () => {
  shop = await openShop();
  admin = openAdmin(shop);
});

describe("lists", () => {
  beforeEach(async () => {
    for (let i = 0; i < 7; i++) {
      // Lists are ordered by age.
      shop.f.latchkey.clock.advance(1);
      await admin.customers.create({
        name: `Customer ${i}`,
        email: `c${i}@${i % 2 ? "odd" : "even"}.example`,
      });
    }
    shop.sent.length = 0;
  });

  test("come in pages; `next` of a page is the query of the next page, with the same filter and order", async () => {
    const query = { limit: 3, filter: "like(email,*@even.example)", sort: "-name" };
    const first = await admin.customers.list(query);
    expect([first.data.map(({ name }) => name), first.total]).toEqual([
      ["Customer 6", "Customer 4", "Customer 2"],
      4,
    ]);
    expect(first.next).toEqual({ ...query, offset: 3, after: expect.any(String) });
    const second = await admin.customers.list(first.next);
    expect([second.data.map(({ name }) => name), second.next]).toEqual([["Customer 0"], undefined]);
  });

  test("all() reads every page, beginning at the given offset", async () => {
    const all = await collect(admin.customers.list({ limit: 2 }).all());
    expect(all.map(({ name }) => name)).toEqual(Array.from({ length: 7 }, (_, i) => `Customer ${6 - i}`));
    expect(shop.countOf("/v2/customers")).toBe(4);
    expect(await collect(admin.customers.list({ limit: 2, offset: 5 }).all())).toHaveLength(2);
  });

  test("all() throws the error of the first page when the iteration begins", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    const fetch = async () => Response.json({ errors: [{ code: "parameter_invalid" }] }, { status: 400 });
    const all = createAdmin({ baseUrl: "https://keys.example", accessToken: () => "a token", fetch })
      .customers.list()
      .all();
    // The answer arrives after one turn of the event loop; Node reports unhandled rejections at its end.
    await setImmediate();
    await setImmediate();
    expect(await errorOf(collect(all))).toMatchObject({ code: "parameter_invalid" });
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("all() does not request a page before the iteration reaches it", async () => {
    for await (const { name } of admin.customers.list({ limit: 2 }).all()) if (name === "Customer 4") break;
    expect(shop.countOf("/v2/customers")).toBe(2);
  });

  test("a list that is awaited and iterated requests its first page once", async () => {
    const listing = admin.customers.list({ limit: 5 });
    expect((await listing).data).toHaveLength(5);
    expect(await collect(listing.all())).toHaveLength(7);
    expect(shop.countOf("/v2/customers")).toBe(2);
  });

  test("an empty list ends at once; a filter that does not parse is 400, also through all()", async () => {
    expect(await collect(admin.customers.list({ filter: "eq(name,Nobody)" }).all())).toEqual([]);
    const error = await errorOf(collect(admin.customers.list({ filter: "name=Nobody" }).all()));
    expect(error).toMatchObject({ code: "parameter_invalid", status: 400 });
    expect(error.errors[0]?.source).toEqual({ parameter: "filter" });
  });
});

describe("the access token", () => {
  test("comes from the client_credentials grant; the secret is only in the form", async () => {
    await admin.store.get();
    const [first, second] = shop.sent;
    const { clientId, clientSecret } = shop.f.store.key;
    expect(Object.fromEntries(new URLSearchParams(first?.body))).toEqual({
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    });
    expect(JSON.stringify([...(second?.headers ?? [])])).not.toContain(clientSecret);
  });

  test("is renewed before it expires, and after a 401", async () => {
    await admin.store.get();
    shop.f.latchkey.clock.advance(3_600_000);
    await admin.store.get();
    const slow = openAdmin(shop, { now: () => 0 });
    await slow.store.get();
    shop.f.latchkey.clock.advance(3_600_001);
    expect((await slow.store.get()).data.type).toBe("store");
    expect(shop.countOf("/oauth/access_token")).toBe(4);
  });

  test("a 401 for a wrong secret has the service's message for developers", async () => {
    const error = await errorOf(openAdmin(shop, { clientSecret: "lksk_cut-off" }).store.get());
    expect(error).toMatchObject({ code: "client_secret_mistyped", status: 401 });
    expect(error.message).toBe("The client secret is not valid: its checksum does not match.");
    expect(error).toBeInstanceOf(ApiError);
  });
});

test("a 429 is repeated after Retry-After; a 503 only if repeating is safe", async () => {
  const busy = answer(
    503,
    { errors: [{ code: "storage_unavailable", detail: "Away." }] },
    { "retry-after": "2" },
  );
  shop.faults.push({ path: "/v2/store", fault: busy }, { path: "/v2/store", fault: busy });
  expect((await admin.store.get()).data.type).toBe("store");
  expect(shop.slept).toEqual([2000, 2000]);
  shop.faults.push({ path: "/v2/store", fault: busy });
  expect(await errorOf(admin.store.update({ name: "Alder" }))).toMatchObject({
    status: 503,
    message: "Away.",
  });
});
