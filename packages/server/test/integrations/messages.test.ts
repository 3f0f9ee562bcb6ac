import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { testIntegration } from "../../src/contract/deliveries.ts";
import { listEvents } from "../../src/contract/events.ts";
import { createIntegration, rotateIntegrationSecret } from "../../src/contract/integrations.ts";
import type { Arrived } from "../support/receiver.ts";
import {
  DAY,
  HOUR,
  hooks,
  only,
  SECOND,
  signatureOf,
  signaturesOf,
  storeWithWebhooks,
  typesArrived,
} from "./store-with-webhooks.ts";

/** The message of a receiver: the event, its shape and its signatures. */

storeWithWebhooks();

describe("a message", () => {
  test("is the event of the log, signed by Standard Webhooks (wire 17)", async () => {
    const { id, signing_secret } = await hooks.integrate();
    const customerId = await hooks.customer();
    await hooks.deliver();
    const arrived = only();
    const { body } = await hooks.store.call(listEvents, { query: "types=customer.*" });
    expect(arrived.json).toEqual(body.data[0]);
    expect(arrived.json).toMatchObject({ type: "customer.created", subject: customerId });
    expect(arrived.headers["content-type"]).toBe("application/cloudevents+json");
    expect(arrived.headers["webhook-id"]).toBe(arrived.json.id);
    expect(Number(arrived.headers["webhook-timestamp"]) * 1000).toBe(hooks.latchkey.clock.now());
    expect(signaturesOf(arrived)).toEqual([signatureOf(arrived, signing_secret)]);
    expect(arrived.headers).not.toHaveProperty("x-moltin-secret-key");
    expect(await hooks.deliveries(id)).toMatchObject([
      {
        status: "delivered",
        event: {
          id: arrived.json.id,
          type: "customer.created",
          subject: customerId,
          sequence: arrived.json.sequence,
        },
        attempts: [{ status: 200, reason: null, answer: "ok" }],
        next_attempt_at: null,
      },
    ]);
    expect((await hooks.see(id)).meta).toMatchObject({
      status: "healthy",
      last_delivery: { delivered: true, status: 200, reason: null },
    });
  });

  test("of the format `integration` has the older shape and carries the secret key (wire 17)", async () => {
    const configuration = { url: hooks.receiver.url, format: "integration", secret_key: "their secret key" };
    const { id, signing_secret } = await hooks.integrate({ configuration, description: "d" });
    const customerId = await hooks.customer("Grace");
    await hooks.deliver();
    const arrived = only();
    expect(arrived.json).toEqual({
      id: arrived.headers["webhook-id"],
      triggered_by: "customer.created",
      attempt: 1,
      integration: { id, integration_type: "webhook", name: "Newsletter", description: "d" },
      payload: { data: expect.objectContaining({ type: "customer", id: customerId, name: "Grace" }) },
      store_id: hooks.store.store.id,
    });
    expect(arrived.headers["content-type"]).toBe("application/json");
    expect(arrived.headers["x-moltin-secret-key"]).toBe("their secret key");
    expect(signaturesOf(arrived)).toEqual([signatureOf(arrived, signing_secret)]);
  });

  test("has both signatures for 24 hours after a rotation, then the new one alone (wire 17)", async () => {
    const { id, signing_secret: old } = await hooks.integrate();
    const rotated = await hooks.store.call(rotateIntegrationSecret, { ids: { id } });
    const fresh = rotated.body.data.signing_secret;
    expect(fresh).not.toBe(old);
    await hooks.customer();
    await hooks.deliver();
    expect(signaturesOf(only())).toEqual([signatureOf(only(), fresh), signatureOf(only(), old)]);
    await hooks.pass(DAY);
    expect((await hooks.see(id)).meta.previous_secret_until).toBeNull();
    await hooks.customer();
    await hooks.deliver();
    const last = hooks.receiver.arrived[1] as Arrived;
    expect(signaturesOf(last)).toEqual([signatureOf(last, fresh)]);
  });

  test("has a third signature after a second rotation: a replaced secret signs for 24 hours (wire 17)", async () => {
    const { id, signing_secret: first } = await hooks.integrate();
    const rotate = async (): Promise<string> =>
      (await hooks.store.call(rotateIntegrationSecret, { ids: { id } })).body.data.signing_secret;
    const second = await rotate();
    await hooks.latchkey.clock.advance(HOUR);
    const third = await rotate();
    const signedBy = async () => {
      hooks.receiver.arrived.length = 0;
      await hooks.customer();
      await hooks.deliver();
      const arrived = only();
      const names = { first, second, third };
      return signaturesOf(arrived).map(
        (signature) =>
          Object.entries(names).find(([, secret]) => signatureOf(arrived, secret) === signature)?.[0],
      );
    };
    expect(await signedBy()).toEqual(["third", "second", "first"]);
    hooks.latchkey.clock.advance(DAY - HOUR);
    expect(await signedBy()).toEqual(["third", "second"]);
    hooks.latchkey.clock.advance(HOUR);
    expect(await signedBy()).toEqual(["third"]);
  });

  test("is sent for observed events alone, from the creation of the integration on", async () => {
    await hooks.customer();
    await hooks.deliver();
    await hooks.integrate({ observes: ["customer.updated", "integration.created"] });
    const id = await hooks.customer();
    await hooks.rename(id, "Grace");
    await hooks.deliver();
    // The event of its creation is numbered after the creation.
    expect(typesArrived().sort()).toEqual(["customer.updated", "integration.created"]);
  });
});

test("an event of another store goes to that store's receivers alone, in its own order (A33)", async () => {
  const other = await hooks.latchkey.createStore();
  const both = [
    [hooks.store, "Ours"],
    [other, "Theirs"],
  ] as const;
  const integration = {
    type: "integration",
    name: "Newsletter",
    integration_type: "webhook",
    observes: ["customer.*"],
    configuration: { url: hooks.receiver.url },
  };
  for (const [by] of both) await by.call(createIntegration, { json: { data: integration } });
  await hooks.deliver();
  for (const [by, name] of both) {
    const person = { type: "customer", name, email: "ada@shop.example" };
    const { body } = await by.call(createCustomer, { json: { data: person } });
    const json = { data: { type: "customer", name: `${name} again` } };
    await by.call(updateCustomer, { ids: { id: body.data.id }, json });
  }
  hooks.receiver.answer(500);
  await hooks.deliver();
  hooks.receiver.answer(200);
  await hooks.pass(10 * SECOND);
  const arrivedAt = (storeId: string) =>
    hooks.receiver.arrived
      .filter(({ json }) => json.storeid === storeId)
      .map(({ json }) => [json.sequence, json.data.resource.name]);
  for (const [{ store }, name] of both)
    expect(arrivedAt(store.id)).toEqual([
      ["4", name],
      ["4", name],
      ["5", `${name} again`],
    ]);
});

describe("a test message", () => {
  test("is sent once while the caller waits, signed as usual, also for a disabled integration (wire 17)", async () => {
    const { id, signing_secret } = await hooks.integrate({ enabled: false });
    const { body } = await hooks.store.call(testIntegration, { ids: { id } });
    expect(body.data).toMatchObject({
      delivered: true,
      attempt: { status: 200, answer: "ok", reason: null },
    });
    expect(only().json).toMatchObject({ type: "integration.test", subject: id, id: body.data.id });
    expect(signaturesOf(only())).toEqual([signatureOf(only(), signing_secret)]);
    expect(JSON.stringify(only().json)).not.toContain("whsec_");
    hooks.receiver.answer(500);
    const failed = await hooks.store.call(testIntegration, { ids: { id } });
    expect(failed.body.data).toMatchObject({ delivered: false, attempt: { status: 500, reason: "status" } });
    expect(await hooks.deliveries(id)).toEqual([]);
  });

  test("ends `failing` when it is delivered; otherwise the state stays", async () => {
    const { id } = await hooks.integrate();
    hooks.receiver.answer(500);
    await hooks.customer();
    await hooks.deliver();
    await hooks.store.call(testIntegration, { ids: { id } });
    expect((await hooks.see(id)).meta.status).toBe("failing");
    hooks.receiver.answer(200);
    await hooks.store.call(testIntegration, { ids: { id } });
    expect((await hooks.see(id)).meta).toMatchObject({ status: "healthy", failing_since: null });
    expect(await hooks.deliveries(id)).toMatchObject([{ status: "waiting" }]);
    // The log has one line for the beginning and one line for the end.
    await hooks.store.call(testIntegration, { ids: { id } });
    const said = hooks.latchkey.logLines.filter(({ event }) => /^integration_/.test(String(event)));
    expect(said).toMatchObject([
      { event: "integration_failing", integration_id: id },
      { event: "integration_recovered", integration_id: id, store_id: hooks.store.store.id },
    ]);
  });

  test("is refused with 429 while a store has five of them under way", async () => {
    const { id } = await hooks.integrate();
    const held: (() => void)[] = [];
    hooks.receiver.answer((response) => void held.push(() => response.writeHead(200).end()));
    const tests = Array.from({ length: 5 }, () => hooks.store.call(testIntegration, { ids: { id } }));
    while (held.length < 5) await sleep(5);
    expect((await hooks.store.call(testIntegration, { ids: { id } })).code).toBe("tests_exceeded");
    for (const end of held) end();
    for (const answer of await Promise.all(tests)) expect(answer.status).toBe(200);
  });
});
