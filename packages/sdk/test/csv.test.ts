import { beforeEach, expect, test } from "vitest";
import type { Admin } from "../src/admin/index.ts";
import { errorOf, openAdmin, openShop, type Shop, signOn } from "./support/shop.ts";

let shop: Shop;
let admin: Admin;
beforeEach(async () => {
  shop = await openShop();
  admin = openAdmin(shop);
});

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

const createCustomers = async (count: number) => {
  for (let at = 0; at < count; at++)
    await admin.customers.create({ name: `Person ${at}`, email: `person${at}@shop.example` });
};

test("csv has the whole list, by the same filter and sort", async () => {
  await createCustomers(120);
  const lines = (await textOf(admin.customers.csv())).split("\r\n");
  expect(lines).toHaveLength(122);
  expect(lines[0]).toMatch(/^id,type,name,email,/);
  const some = await textOf(admin.customers.csv({ filter: "like(name,Person 1*)", sort: "-name" }));
  expect(some.split("\r\n")).toHaveLength(33);
  expect(some.indexOf("Person 19,")).toBeLessThan(some.indexOf("Person 10,"));
});

test("every list has csv", async () => {
  const [realm] = (await admin.realms.list()).data;
  const { data: customer } = await admin.customers.create({ name: "Ada", email: "ada@shop.example" });
  const { data: integration } = await admin.integrations.create({
    name: "Hooks",
    integration_type: "webhook",
    observes: ["customer.*"],
    configuration: { url: "https://hooks.example" },
  });
  const lists = [
    admin.applicationKeys.csv(),
    admin.realms.csv(),
    admin.members.csv(),
    admin.profiles(realm?.id ?? "").csv(),
    admin.customers.csv(),
    admin.customerTokens(customer.id).csv(),
    admin.signOns.csv({ filter: "eq(outcome,failed)" }),
    admin.events.csv({ types: ["customer.*"], after: "0" }),
    admin.integrations.csv(),
    admin.integrations.deliveriesCsv(integration.id, { filter: "eq(status,failed)" }),
  ];
  for (const list of lists) expect(await textOf(list)).toMatch(/^\w+,.+\r\n/);
});

test("a file has the name that the service gives it", async () => {
  const { data: customer } = await admin.customers.create({ name: "Ada", email: "ada@shop.example" });
  const names: string[] = [];
  const onName = (name: string) => names.push(name);
  await textOf(admin.customers.csv({ filter: "eq(name,Ada)", onName }));
  const text = await textOf(admin.customers.exportFile(customer.id, { onName }));
  expect(JSON.parse(text).data).toMatchObject({ type: "customer-export", id: customer.id });
  expect(names).toEqual([
    expect.stringMatching(/^customers-\d{4}-\d\d-\d\d\.csv$/),
    expect.stringMatching(new RegExp(`^.+-${customer.id}-\\d{4}-\\d\\d-\\d\\d\\.json$`)),
  ]);
});

test("csv throws the service's refusal, and where the list breaks off", async () => {
  expect(await errorOf(textOf(admin.customers.csv({ filter: "x" })))).toMatchObject({
    code: "parameter_invalid",
    status: 400,
  });
  await createCustomers(120);
  const pieces = admin.customers.csv();
  await pieces.next();
  shop.f.latchkey.clock.advance(3_700_000);
  expect(await errorOf(textOf(pieces))).toMatchObject({ code: "network_failed" });
});

test("csv that is left makes room for the next", async () => {
  await createCustomers(120);
  for (let at = 0; at < 5; at++) for await (const _ of admin.customers.csv()) break;
  const ending = new AbortController();
  const pieces = admin.customers.csv({ signal: ending.signal });
  await pieces.next();
  await pieces.return();
});

test("customers.export has everything that is kept of the person", async () => {
  const page = shop.page();
  const token = await page.completeSignOn(await signOn(shop, page));
  const { data } = await admin.customers.export(token.customerId);
  expect(data).toMatchObject({ type: "customer-export", id: token.customerId });
  expect([data.identities.length, data.sessions.length]).toEqual([1, 1]);
  const nobody = "00000000-0000-7000-8000-000000000000";
  expect(await errorOf(admin.customers.export(nobody))).toMatchObject({ code: "customer_not_found" });
});
