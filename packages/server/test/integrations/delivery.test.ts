import { createHmac } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Hooks, openHooks } from "../support/hooks.ts";

let hooks: Hooks;
beforeEach(async () => {
  hooks = await openHooks();
});
afterEach(() => hooks.close());

test("an event is posted as the log has it, signed as Standard Webhooks say (wire 17)", async () => {
  const { id, signing_secret: secret } = await hooks.integrate();
  const customerId = await hooks.customer();
  await hooks.deliver();
  expect(hooks.receiver.arrived).toHaveLength(1);
  const [{ headers, body, json }] = hooks.receiver.arrived as [(typeof hooks.receiver.arrived)[0]];
  expect(json).toMatchObject({ specversion: "1.0", type: "customer.created", subject: customerId });
  expect(headers["content-type"]).toBe("application/cloudevents+json");
  expect(headers["webhook-id"]).toBe(json.id);
  const signed = `${json.id}.${headers["webhook-timestamp"]}.${body}`;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  expect(key).toHaveLength(32);
  expect(headers["webhook-signature"]).toBe(
    `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
  );
  expect(await hooks.deliveries(id)).toMatchObject([
    { status: "delivered", event: { type: "customer.created" }, attempts: [{ status: 200, answer: "ok" }] },
  ]);
});
