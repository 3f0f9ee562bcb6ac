import { describe, expect, test } from "vitest";
import { listEvents } from "../../src/contract/events.ts";
import { metrics } from "../../src/contract/service.ts";
import { DELAYS_MS } from "../../src/integrations/retry-schedule.ts";
import { call } from "../support/call.ts";
import { readExposition } from "../support/exposition.ts";
import { change, DAY, HOUR, hooks, only, SECOND, storeWithWebhooks } from "./store-with-webhooks.ts";

/** When a message is sent: the order of a subject, the schedule after a failure, and the end of both. */

storeWithWebhooks();

describe("order", () => {
  test("is the order of the log for each subject; a failure delays its own subject alone (wire 17)", async () => {
    const { id } = await hooks.integrate();
    const [ada, grace] = [await hooks.customer("Ada"), await hooks.customer("Grace")];
    hooks.receiver.answer((response, { json }) => response.writeHead(json.subject === ada ? 500 : 200).end());
    for (const name of ["one", "two", "three"]) {
      await hooks.rename(ada, name);
      await hooks.rename(grace, name);
    }
    await hooks.deliver();
    const named = (subject: string) =>
      hooks.receiver.arrived
        .filter(({ json }) => json.subject === subject)
        .map(({ json }) => json.data.resource.name);
    expect(named(ada)).toEqual(["Ada"]);
    expect(named(grace)).toEqual(["Grace", "one", "two", "three"]);
    expect(await hooks.deliveries(id, "filter=eq(status,waiting)")).toHaveLength(4);
    hooks.receiver.answer(200);
    await hooks.pass(5 * SECOND);
    expect(named(ada)).toEqual(["Ada", "Ada", "one", "two", "three"]);
    expect(await hooks.deliveries(id, "filter=eq(status,waiting)")).toEqual([]);
  });

  test("goes on after the last attempt: the next event of the subject is sent", async () => {
    const { id } = await hooks.integrate();
    const ada = await hooks.customer("Ada");
    hooks.receiver.answer((response, { json }) =>
      response.writeHead(json.type === "customer.created" ? 500 : 200).end(),
    );
    await hooks.rename(ada, "one");
    await hooks.deliver();
    // Messages of other subjects succeed, so the integration is not disabled.
    for (const delay of DELAYS_MS.slice(1)) {
      await hooks.rename(await hooks.customer(), "x");
      await hooks.pass(delay);
    }
    const [failed] = (await hooks.deliveries(id, "filter=eq(status,failed):eq(type,customer.created)")).slice(
      -1,
    );
    expect(failed).toMatchObject({ reason: "attempts_exceeded", event: { subject: ada } });
    expect(failed.attempts).toHaveLength(10);
    expect(hooks.receiver.arrived.map(({ json }) => json.data.resource.name)).toContain("one");
  });
});

describe("a receiver that fails", () => {
  test("gets the message again by the schedule, with the same id: down for three days (wire 17)", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    hooks.receiver.answer(503);
    await hooks.deliver();
    const startedAt = hooks.latchkey.clock.now();
    expect((await hooks.see(id)).meta).toMatchObject({
      status: "failing",
      last_delivery: { delivered: false, status: 503, reason: "status" },
    });
    for (let attempts = 1; attempts < 9; attempts++) {
      const [{ next_attempt_at }] = await hooks.deliveries(id);
      const waitMs = Date.parse(next_attempt_at) - hooks.latchkey.clock.now();
      expect(waitMs).toBe(DELAYS_MS[attempts]);
      await hooks.pass(waitMs - 1);
      expect(hooks.receiver.arrived).toHaveLength(attempts);
      await hooks.pass(1);
      expect(hooks.receiver.arrived).toHaveLength(attempts + 1);
    }
    hooks.receiver.answer(204);
    await hooks.pass(24 * HOUR);
    expect(hooks.latchkey.clock.now() - startedAt).toBeGreaterThan(3 * DAY);
    const [delivery] = await hooks.deliveries(id);
    expect(delivery).toMatchObject({ status: "delivered", reason: null });
    expect(delivery.attempts).toHaveLength(10);
    expect(new Set(hooks.receiver.arrived.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    const timestamps = hooks.receiver.arrived.map(({ headers }) => headers["webhook-timestamp"]);
    expect(new Set(timestamps).size).toBe(10);
    expect((await hooks.see(id)).meta).toMatchObject({ status: "healthy", failing_since: null });
  });

  test("delays the next attempt by Retry-After, if that is later than the schedule", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    hooks.receiver.answer((response) => response.writeHead(429, { "Retry-After": "100" }).end());
    await hooks.deliver();
    const [delivery] = await hooks.deliveries(id);
    expect(Date.parse(delivery.next_attempt_at) - hooks.latchkey.clock.now()).toBe(100 * SECOND);
  });

  test("is counted as failing in the metrics while its integration is enabled", async () => {
    const failing = async () => {
      await hooks.pass(60 * SECOND);
      hooks.latchkey.clock.advance(2 * SECOND);
      const { body } = await call(hooks.latchkey.app, metrics);
      return readExposition(body).sumOf("latchkey_webhooks_failing");
    };
    const [first, second] = [await hooks.integrate(), await hooks.integrate()];
    hooks.receiver.answer(500);
    await hooks.customer();
    await hooks.deliver();
    expect(await failing()).toBe(2);
    await change(first.id, { enabled: false });
    expect(await failing()).toBe(1);
    expect((await hooks.see(second.id)).meta.status).toBe("failing");
  });

  test("answers 410: the integration is disabled at once, with an event (wire 17)", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    hooks.receiver.answer(410);
    await hooks.deliver();
    await hooks.customer();
    await hooks.deliver();
    expect(hooks.receiver.arrived).toHaveLength(1);
    expect(await hooks.see(id)).toMatchObject({
      enabled: false,
      meta: { status: "disabled", disabled_reason: "gone" },
    });
    expect(await hooks.deliveries(id)).toMatchObject([{ status: "failed", reason: "gone" }]);
    const { body } = await hooks.store.call(listEvents, { query: "types=integration.disabled" });
    expect(body.data).toMatchObject([
      {
        subject: id,
        data: {
          actor: { type: "service" },
          changes: { enabled: { before: true, after: false } },
          resource: { meta: { disabled_reason: "gone" } },
        },
      },
    ]);
    expect(hooks.latchkey.logLines).toContainEqual(
      expect.objectContaining({ event: "integration_disabled", integration_id: id, reason: "gone" }),
    );
  });

  test.each([410, 500])("answers %s at the former address: the new address stays healthy", async (status) => {
    const { id } = await hooks.integrate();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    hooks.receiver.answer(async (response) => {
      asked.resolve();
      await answered.promise;
      response.writeHead(status).end();
    });
    await hooks.customer();
    const delivering = hooks.deliver();
    await asked.promise;
    await change(id, { configuration: { url: `${hooks.receiver.url}/new` } });
    answered.resolve();
    await delivering;
    expect(await hooks.see(id)).toMatchObject({
      enabled: true,
      meta: { status: "healthy", last_delivery: null },
    });
    hooks.receiver.answer(200);
    await hooks.pass(6 * SECOND);
    expect(await hooks.deliveries(id)).toMatchObject([
      { status: "delivered", attempts: [{ status }, { status: 200 }] },
    ]);
  });

  test("is disabled after five days without a success, with an event; one success restarts the five days (wire 17)", async () => {
    const { id } = await hooks.integrate();
    hooks.receiver.answer(500);
    await hooks.customer();
    await hooks.deliver();
    await hooks.pass(4 * DAY);
    hooks.receiver.answer((response, { json }) =>
      response.writeHead(json.data.resource.name === "Grace" ? 200 : 500).end(),
    );
    await hooks.customer("Grace");
    await hooks.deliver();
    expect((await hooks.see(id)).meta.status).toBe("healthy");
    hooks.receiver.answer(500);
    await hooks.customer();
    await hooks.deliver();
    const { failing_since } = (await hooks.see(id)).meta;
    expect(Date.parse(failing_since)).toBe(hooks.latchkey.clock.now());
    await hooks.pass(5 * DAY - 1);
    await hooks.customer();
    await hooks.deliver();
    expect((await hooks.see(id)).enabled).toBe(true);
    hooks.latchkey.clock.advance(1);
    await hooks.customer();
    await hooks.deliver();
    expect(await hooks.see(id)).toMatchObject({ enabled: false, meta: { disabled_reason: "failing" } });
    await hooks.deliver();
    const { body } = await hooks.store.call(listEvents, { query: "types=integration.disabled" });
    expect(body.data).toHaveLength(1);
  });

  test("redirects: the redirect is not followed", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    hooks.receiver.answer((response) =>
      response.writeHead(307, { Location: `${hooks.receiver.origin}/elsewhere` }).end(),
    );
    await hooks.deliver();
    only();
    expect(await hooks.deliveries(id)).toMatchObject([
      { status: "waiting", attempts: [{ status: 307, reason: "status" }] },
    ]);
  });

  test("cannot be reached: only the reason of the egress guard is kept", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.receiver.close();
    await hooks.deliver();
    expect(await hooks.deliveries(id)).toMatchObject([
      { status: "waiting", attempts: [{ status: null, reason: "connect_failed", answer: null }] },
    ]);
  });
});
