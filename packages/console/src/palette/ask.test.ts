import { type Admin, ApiError, type ListQuery } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { ask } from "./ask.ts";

const ID = "01890000-0000-7000-8000-000000000000";

/** An `Admin` whose lists answer these filters; notes the filters. Other ids are 404. */
function adminWith(answers: Record<string, object[]>, things: Record<string, object> = {}) {
  const asked: string[] = [];
  const part = (name: string) => ({
    list: async ({ filter = "" }: ListQuery) => {
      asked.push(`${name} ${filter}`);
      return { data: answers[`${name} ${filter}`] ?? [] };
    },
    get: async () => {
      const thing = things[name];
      if (thing) return { data: thing };
      throw new ApiError("customer_not_found", "There is none.", { status: 404 });
    },
  });
  const names = ["signOns", "customers", "applicationKeys", "events"];
  const admin = Object.fromEntries(names.map((name) => [name, part(name)])) as unknown as Admin;
  return { admin, asked };
}

test.each(["7K3M-Q9TX", "7k3mq9tx", " 7k3m q9tx "])(
  "the reference of a sign-on, spelt %s, is exact",
  async (text) => {
    const { admin } = adminWith({ "signOns eq(reference,7K3M-Q9TX)": [{ id: "s" }] });
    expect((await ask(admin, text)).exact).toBe("/sign-ons/s");
  },
);

test("a name with the form of a reference is found as a name, and is not exact", async () => {
  const { admin } = adminWith({ "customers like(name,Michelle*)": [{ id: "m" }] });
  const { customers, exact } = await ask(admin, "Michelle");
  expect([customers, exact]).toEqual([[{ id: "m" }], undefined]);
});

test("words search the beginning of names and e-mails, which an index finds, and each customer once", async () => {
  const ada = { id: "a" };
  const { admin, asked } = adminWith({
    "customers like(name,ada*)": [ada],
    "customers like(email,ada*)": [ada, { id: "b" }],
  });
  expect((await ask(admin, "ada")).customers).toEqual([ada, { id: "b" }]);
  expect(asked).toEqual(["customers like(name,ada*)", "customers like(email,ada*)"]);
});

test.each(["", " ", "a", "*"])("%j is too short to search", async (text) => {
  const { admin, asked } = adminWith({});
  await ask(admin, text);
  expect(asked).toEqual([]);
});

test("no text can end the filter's condition, or act as a pattern", async () => {
  const { admin, asked } = adminWith({});
  await ask(admin, "a):eq(name,b)*");
  expect(asked[0]).toBe("customers like(name,a) :eq(name,b)*)");
});

test("a whole e-mail of one customer is exact; of several it is not", async () => {
  const ada = { id: "a", email: "ada@shop.example" };
  const filter = "customers eq(email,ada@shop.example)";
  const { admin } = adminWith({ [filter]: [ada] });
  expect((await ask(admin, "ada@shop.example")).exact).toBe("/customers/a");
  const two = adminWith({ [filter]: [ada, { ...ada, id: "b" }] });
  const { customers, exact } = await ask(two.admin, "ada@shop.example");
  expect([customers.length, exact]).toEqual([2, undefined]);
});

test("a whole e-mail of a person who never became a customer leads to the only sign-on", async () => {
  const { admin } = adminWith({ "signOns eq(email,ben@shop.example)": [{ id: "s" }] });
  expect((await ask(admin, "ben@shop.example")).exact).toBe("/sign-ons/s");
});

test("the beginning of an e-mail sends one request, and is not exact", async () => {
  const { admin, asked } = adminWith({ "customers like(email,ada@sh*)": [{ id: "a" }] });
  expect((await ask(admin, "ada@sh")).exact).toBeUndefined();
  expect(asked).toEqual(["customers like(email,ada@sh*)"]);
});

test("the id of a customer and the client id of a key are exact", async () => {
  const customer = adminWith(
    { [`events eq(subject,${ID})`]: [{ id: "e", sequence: "1" }] },
    { customers: { id: ID } },
  );
  expect((await ask(customer.admin, ID)).exact).toBe(`/customers/${ID}`);
  const key = adminWith({ "applicationKeys eq(client_id,lkid_1)": [{ id: "k" }] });
  expect((await ask(key.admin, "lkid_1")).exact).toBe("/keys/k");
});

test("the id of a request leads to its failed sign-on, or to its events in Look up", async () => {
  const failed = adminWith({ [`signOns eq(request_id,${ID})`]: [{ id: "s" }] });
  expect((await ask(failed.admin, ID)).exact).toBe("/sign-ons/s");
  const changed = adminWith({ [`events eq(request_id,${ID})`]: [{ id: "e" }] });
  expect((await ask(changed.admin, ID)).exact).toBe(`/find?q=${ID}`);
  expect((await ask(adminWith({}).admin, ID)).exact).toBeUndefined();
});
