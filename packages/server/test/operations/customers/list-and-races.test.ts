import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listCustomers, updateCustomer } from "../../../src/contract/customers.ts";
import { createTestApp, PUBLIC_URL, type TestApp, type TestStore } from "../../support/app.ts";
import { engines, type TestDatabase } from "../../support/engines.ts";
import { create, newEmail, PASSWORD, shops, store } from "./shop.ts";

/** Lists of customers, and requests that race for one e-mail, on each engine. */

shops();

describe.each(engines)("customers on $name", (engine) => {
  let database: TestDatabase;
  let here: TestApp;
  let shop: TestStore;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    here = await createTestApp({ databaseUrl: database.url });
    shop = await here.createStore(10_000);
  });
  afterEach(async () => {
    await here?.close();
    await database?.drop();
  });

  const list = async (query: string) => (await shop.call(listCustomers, { query })).body;
  const namesOf = async (query: string): Promise<string[]> =>
    (await list(query)).data.map((customer: { name: string }) => customer.name);

  test("sixteen created at once with one e-mail and a password: one 201, fifteen 409", async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        create({ email: index % 2 ? "race@shop.example" : "RACE@shop.example", password: PASSWORD }, shop),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(15).fill(409)]);
    expect((await list("filter=eq(email,race@shop.example)")).meta.results.total).toBe(1);
  });

  test("twenty changed at once to one e-mail: one 200, nineteen 409", async () => {
    const ids = [];
    for (let i = 0; i < 20; i++)
      ids.push((await create({ email: newEmail(), password: PASSWORD }, shop)).body.data.id);
    const json = { data: { type: "customer", email: "race@shop.example" } };
    const answers = await Promise.all(ids.map((id) => shop.call(updateCustomer, { ids: { id }, json })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
  });

  test("a list is filtered, sorted and paged, and its links keep filter and sort", async () => {
    const made: { id: string; name: string }[] = [];
    for (const [index, name] of ["Ada", "Bea", "a_b", "axb", "100%"].entries()) {
      here.clock.set(Date.parse("2026-01-01") + index * 1000);
      const data = { name, email: `${"Cust"}${index}@Shop.example`, external_ref: `ref:(${index})` };
      made.push((await create(data, shop)).body.data);
    }
    const newestFirst = ["100%", "axb", "a_b", "Bea", "Ada"];
    for (const query of ["", "filter=", "sort=-created_at"])
      expect(await namesOf(query), query).toEqual(newestFirst);
    // Ids of one millisecond have no order among each other.
    const byId = made.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ name }) => name);
    expect(await namesOf("sort=id")).toEqual(byId);
    expect(await namesOf("sort=-id")).toEqual(byId.toReversed());
    for (const [filter, names] of [
      ["eq(email,CUST1@shop.EXAMPLE)", ["Bea"]],
      ["eq(email,cust1)", []],
      ["like(email,*1@SHOP*)", ["Bea"]],
      ["like(email,cust*)", ["Ada", "Bea", "a_b", "axb", "100%"]],
      ["eq(name,ada)", []],
      ["eq(name,Ada)", ["Ada"]],
      ["like(name,ada)", ["Ada"]],
      ["like(name,A_B)", ["a_b"]],
      ["like(name,100%25)", ["100%"]],
      ["like(name,%25)", []],
      ["like(name,\\*)", []],
      ["eq(external_ref,ref:(2))", ["a_b"]],
      ["gt(created_at,2026-01-01T00:00:03.000Z)", ["100%"]],
      ["ge(created_at,2026-01-01T00:00:03.000Z)", ["100%", "axb"]],
      ["lt(created_at,2026-01-01T00:00:01Z)", ["Ada"]],
      ["eq(created_at,2026-01-01)", ["Ada"]],
      ["le(updated_at,2026-01-01T00:00:01Z):like(name,*a)", ["Bea", "Ada"]],
    ] as const) {
      expect(await namesOf(`filter=${filter}`), filter).toEqual(names);
    }
    expect(await namesOf("sort=-email&filter=like(name,*a)")).toEqual(["Bea", "Ada"]);

    const { data, meta, links } = await list(
      "filter=like(email,*@shop.example)&sort=-created_at&page[limit]=2",
    );
    expect(data[0].links.self).toBe(`${PUBLIC_URL}/v2/customers/${data[0].id}`);
    expect(meta).toEqual({ page: { limit: 2, offset: 0, current: 1, total: 3 }, results: { total: 5 } });
    const seen: string[] = [];
    for (let next = links.first; next; ) {
      const { search, origin, pathname } = new URL(next);
      expect(origin + pathname).toBe(`${PUBLIC_URL}/v2/customers`);
      const page = await list(search.slice(1));
      seen.push(...page.data.map((customer: { name: string }) => customer.name));
      expect(page.links.current).toBe(next);
      next = page.links.next;
    }
    expect(seen).toEqual(["100%", "axb", "a_b", "Bea", "Ada"]);
    expect(await namesOf(new URL(links.last).search.slice(1))).toEqual(["Ada"]);
    const walked: string[] = [];
    for (let query = "sort=id&page[limit]=2"; query !== ""; ) {
      const page = await list(query);
      walked.push(...page.data.map((customer: { name: string }) => customer.name));
      query = page.links.next === null ? "" : new URL(page.links.next).search.slice(1);
    }
    expect(walked).toEqual(byId);
  });

  test("a customer is found by a reference of the greatest length", async () => {
    const external_ref = "crm/".padEnd(2048, "0");
    await create({ name: "Other", external_ref: `${external_ref.slice(0, -1)}1` }, shop);
    await create({ name: "Long", external_ref }, shop);
    expect(await namesOf(`filter=eq(external_ref,${external_ref})`)).toEqual(["Long"]);
  });

  test("a list has the store's own customers only, with any filter", async () => {
    const neighbour = await here.createStore();
    await create({ name: "Neighbour", email: "ada@shop.example" }, neighbour);
    for (const query of ["", "filter=eq(email,ada@shop.example)", "filter=like(name,*)", "sort=name"])
      expect((await list(query)).meta.results.total).toBe(0);
  });

  test("all members change in one request, and a changed e-mail is unverified", async () => {
    const { id } = (await create({ email_verified: true }, shop)).body.data;
    const change = async (data: object) =>
      (await shop.call(updateCustomer, { ids: { id }, json: { data: { type: "customer", ...data } } })).body
        .data;
    const email = newEmail();
    const all = { name: "Bea", email, external_ref: "crm-2", email_verified: true };
    expect(await change({ ...all, password: PASSWORD })).toMatchObject({ ...all, password: true });
    expect(await change({ email: email.toUpperCase() })).toMatchObject({ email_verified: true });
    expect(await change({ email: newEmail() })).toMatchObject({ email_verified: false });
  });
});

test("a bad list parameter › 400 with the parameter and its bounds in the detail", async () => {
  const detailOf = async (query: string) =>
    (await store.call(listCustomers, { query })).body.errors[0].detail;
  expect(await detailOf("filter=eq(foo,1)")).toBe(
    "`filter`: unknown field `foo`; known are email, name, external_ref, created_at, updated_at.",
  );
  expect(await detailOf("filter=gt(email,a)")).toBe("`filter`: `email` takes eq, like, not `gt`.");
  expect(await detailOf("filter=gt(created_at,soon)")).toMatch(/^`filter`: `created_at` takes an instant/);
  expect(await detailOf("filter=evil")).toBe(
    "`filter`: expected operator(field,value), several joined by a colon.",
  );
  expect(await detailOf("sort=password")).toMatch(/^`sort`: expected one of created_at, /);
  expect(await detailOf("page[limit]=0")).toBe("`page[limit]`: expected at least 1.");
  expect(await detailOf("page[limit]=101")).toBe("`page[limit]`: expected at most 100.");
  expect(await detailOf("page[offset]=ten")).toBe("`page[offset]`: expected a whole number from 0 to 10000.");
  expect(await detailOf("page[after]=%27")).toBe("`page[after]`: expected a cursor from `links.next`.");
});

test.each(["filter=eq(password,x)", "filter=email", "filter=eq(email,x", "sort=password", "sort="])(
  "a bad list parameter › 400 for %s",
  async (query) => {
    const answer = await store.call(listCustomers, { query });
    expect([answer.status, answer.code]).toEqual([400, "parameter_invalid"]);
  },
);
