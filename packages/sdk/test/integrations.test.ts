import { afterEach, beforeEach, expect, test } from "vitest";
import { startHostileIdp } from "../../server/test/support/hostile-idp.ts";
import { type Receiver, startReceiver } from "../../server/test/support/receiver.ts";
import type { Admin } from "../src/admin/index.ts";
import { parseWebhook } from "../src/webhooks/index.ts";
import { errorOf, openAdmin, openShop, type Shop } from "./support/shop.ts";

let receiver: Receiver;
let shop: Shop;
let admin: Admin;
beforeEach(async () => {
  receiver = await startReceiver();
  const idp = await startHostileIdp();
  shop = await openShop({ idp, allowedOrigins: [idp.origin, receiver.origin] });
  admin = openAdmin(shop);
});
afterEach(() => receiver.close());

const deliver = async () => {
  await shop.f.latchkey.app.tidy();
  await shop.f.latchkey.app.delivered();
};
const integrate = () =>
  admin.integrations.create({
    name: "Newsletter",
    integration_type: "webhook",
    observes: ["customer.*"],
    configuration: { url: receiver.url },
  });

test("parseWebhook accepts the service's messages, with the previous secret and the new one", async () => {
  const made = await integrate();
  const { id } = made.data;
  const rotated = await admin.integrations.rotate(id);
  await admin.customers.create({ name: "Grace", email: "grace@shop.example" });
  await deliver();
  const [message] = receiver.arrived;
  const now = shop.f.latchkey.clock.now;
  for (const secret of [made.data.signing_secret, rotated.data.signing_secret]) {
    const event = await parseWebhook(message?.body ?? "", message?.headers ?? {}, secret, { now });
    expect(event.type).toBe("customer.created");
    if (event.type === "customer.created" && event.data !== "(erased)")
      expect(event.data.resource.email).toBe("grace@shop.example");
  }
});

test("deliveries are listed, filtered, redelivered, replayed and tested", async () => {
  const { id } = (await integrate()).data;
  await admin.customers.create({ name: "Grace", email: "grace@shop.example" });
  await deliver();
  const { data } = await admin.integrations.deliveries(id, { filter: "eq(status,delivered)" });
  expect(data).toMatchObject([{ event: { type: "customer.created" }, attempts: [{ status: 200 }] }]);
  expect((await admin.integrations.deliveries(id, { filter: "eq(status,failed)" })).data).toEqual([]);
  const again = await admin.integrations.redeliver(id, data[0]?.id ?? "");
  expect(again.data.status).toBe("waiting");
  await deliver();
  await admin.integrations.replay(id, { after: 0 });
  await deliver();
  const tested = await admin.integrations.test(id);
  expect(tested.data).toMatchObject({ delivered: true, attempt: { status: 200 } });
  expect(receiver.arrived.map(({ json }) => json.type)).toEqual([
    "customer.created",
    "customer.created",
    "customer.created",
    "integration.test",
  ]);
});

test("an integration is listed, changed and deleted; a refusal names its reason", async () => {
  const { id } = (await integrate()).data;
  const changed = await admin.integrations.update(id, { enabled: false });
  expect(changed.data.meta.status).toBe("disabled");
  expect((await admin.integrations.list()).data.map((one) => one.id)).toEqual([id]);
  expect(await errorOf(admin.integrations.replay(id, { after: "0" }))).toMatchObject({
    code: "integration_disabled",
  });
  await admin.integrations.delete(id);
  expect(await errorOf(admin.integrations.get(id))).toMatchObject({ code: "integration_not_found" });
});
