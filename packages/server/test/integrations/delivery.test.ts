import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCustomer, eraseCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { redeliver, replayEvents, testIntegration } from "../../src/contract/deliveries.ts";
import { listEvents } from "../../src/contract/events.ts";
import {
  createIntegration,
  rotateIntegrationSecret,
  updateIntegration,
} from "../../src/contract/integrations.ts";
import { metrics } from "../../src/contract/service.ts";
import { eraseSome } from "../../src/events/erase.ts";
import { createSequencer } from "../../src/events/sequencer.ts";
import { Deliverer } from "../../src/integrations/deliverer.ts";
import { takeDue } from "../../src/integrations/lease.ts";
import { DELAYS_MS } from "../../src/integrations/schedule.ts";
import { settle } from "../../src/integrations/settle.ts";
import { createLog } from "../../src/lib/log.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createTestApp, PUBLIC_URL } from "../support/app.ts";
import { call } from "../support/call.ts";
import { readExposition } from "../support/exposition.ts";
import { type Hooks, openHooks } from "../support/hooks.ts";
import type { Arrived } from "../support/receiver.ts";
import { mostInOneTurn, watchStatements } from "../support/statements.ts";
import { until } from "../support/until.ts";

type Delivery = { attempts: { answer: string | null }[] };

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

let hooks: Hooks;
beforeEach(async () => {
  hooks = await openHooks({ random: () => 0.5 });
});
afterEach(() => hooks.close());

const change = (id: string, data: object) =>
  hooks.store.call(updateIntegration, { ids: { id }, json: { data: { type: "integration", ...data } } });
const typesArrived = () => hooks.receiver.arrived.map(({ json }) => json.type);
const signaturesOf = ({ headers }: Arrived) => String(headers["webhook-signature"]).split(" ");

/** As the standard says it, and not as the service does it. */
function signatureOf({ headers, body }: Arrived, secret: string): string {
  const key = Buffer.from(secret.slice(6), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
const only = (): Arrived => {
  expect(hooks.receiver.arrived).toHaveLength(1);
  return hooks.receiver.arrived[0] as Arrived;
};

describe("a message", () => {
  test("is the event as the log has it, signed as Standard Webhooks say (wire 17)", async () => {
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

  test("of the format `integration` has the shape that older receivers expect, and their secret key (wire 17)", async () => {
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

  test("carries both signatures for 24 hours after a rotation, and then the new one alone (wire 17)", async () => {
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

  test("carries a third signature after a second rotation: each secret signs for 24 hours after it was replaced (wire 17)", async () => {
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

  test("is sent for what is observed, from when the integration was made, and for nothing else", async () => {
    await hooks.customer();
    await hooks.deliver();
    await hooks.integrate({ observes: ["customer.updated", "integration.created"] });
    const id = await hooks.customer();
    await hooks.rename(id, "Grace");
    await hooks.deliver();
    // Its own creation is numbered after it was made.
    expect(typesArrived().sort()).toEqual(["customer.updated", "integration.created"]);
  });
});

test("what happens in another store is told to its own receivers alone, in its own order and time (A33)", async () => {
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
  const toldOf = (storeId: string) =>
    hooks.receiver.arrived
      .filter(({ json }) => json.storeid === storeId)
      .map(({ json }) => [json.sequence, json.data.resource.name]);
  for (const [{ store }, name] of both)
    expect(toldOf(store.id)).toEqual([
      ["4", name],
      ["4", name],
      ["5", `${name} again`],
    ]);
});

describe("order", () => {
  test("is that of the log for each subject; a failure holds back its own subject and no other (wire 17)", async () => {
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

  test("does not hold a subject back for ever: after the last attempt the next one goes", async () => {
    const { id } = await hooks.integrate();
    const ada = await hooks.customer("Ada");
    hooks.receiver.answer((response, { json }) =>
      response.writeHead(json.type === "customer.created" ? 500 : 200).end(),
    );
    await hooks.rename(ada, "one");
    await hooks.deliver();
    // Somebody else gets through, so that the integration is not switched off.
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

describe("a receiver that does not take it", () => {
  test("is tried again as the schedule says, with the same id, until it does: down for three days (wire 17)", async () => {
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

  test("says with Retry-After when to come again, if that is later", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    hooks.receiver.answer((response) => response.writeHead(429, { "Retry-After": "100" }).end());
    await hooks.deliver();
    const [delivery] = await hooks.deliveries(id);
    expect(Date.parse(delivery.next_attempt_at) - hooks.latchkey.clock.now()).toBe(100 * SECOND);
  });

  test("counts as failing in the metrics while it is enabled, and no longer when it was disabled for that", async () => {
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

  test("410 disables it at once, with an event (wire 17)", async () => {
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

  test.each([410, 500])(
    "%s of the address that it had before is nothing against the new one",
    async (status) => {
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
    },
  );

  test("is disabled after five days of nothing but failures, with an event; one success begins anew (wire 17)", async () => {
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

  test("is not followed to where it redirects", async () => {
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

  test("is read as far as 64 KB, of which one is kept: 10 MB of answer with 200 are delivered all the same", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    let sent = 0;
    hooks.receiver.answer((response) => {
      response.writeHead(200, { "Content-Length": 10_000_000 });
      const more = () => {
        while (sent < 10_000_000 && !response.destroyed) {
          sent += 10_000;
          if (!response.write(Buffer.alloc(10_000, "é"))) return void response.once("drain", more);
        }
      };
      more();
    });
    await hooks.deliver();
    const [delivery] = await hooks.deliveries(id);
    expect(delivery).toMatchObject({ status: "delivered", attempts: [{ status: 200 }] });
    expect(Buffer.byteLength(delivery.attempts[0].answer)).toBeLessThanOrEqual(1026);
    expect(sent).toBeLessThan(10_000_000);
  });

  test("may say back what it was sent: the secret key, which is for administrators, is left out of what is kept", async () => {
    const secret_key = "correct horse battery staple";
    const { id } = await hooks.integrate({ configuration: { url: hooks.receiver.url, secret_key } });
    hooks.receiver.answer((response, { headers }) =>
      response.writeHead(200).end(`${"x".repeat(1010)} ${headers["x-moltin-secret-key"]} ${secret_key}`),
    );
    await hooks.customer();
    await hooks.deliver();
    const [{ attempts }] = await hooks.deliveries(id);
    expect(attempts[0].answer).toBe(`${"x".repeat(1010)} (left out) (l`);
    const { body } = await hooks.store.call(testIntegration, { ids: { id } });
    expect(body.data.attempt.answer).not.toContain("correct");
  });

  test("may answer with bytes that are no text, compressed, or with nothing", async () => {
    const { id } = await hooks.integrate();
    for (const [body, headers] of [
      [Buffer.from([0, 255, 254, 65]), {}],
      [Buffer.from("x"), { "Content-Encoding": "gzip" }],
      ["", {}],
    ] as const) {
      hooks.receiver.answer((response) => response.writeHead(200, headers).end(body));
      await hooks.customer();
      await hooks.deliver();
    }
    const answers = (await hooks.deliveries(id)).map(({ attempts }: Delivery) => attempts[0]?.answer);
    expect(answers).toEqual(["", "", "\uFFFD\uFFFD\uFFFDA"]);
  });

  test("cannot be reached: the guard's reason is kept, and nothing else", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.receiver.close();
    await hooks.deliver();
    expect(await hooks.deliveries(id)).toMatchObject([
      { status: "waiting", attempts: [{ status: null, reason: "connect_failed", answer: null }] },
    ]);
  });
});

describe("a database that fails while messages are under way", () => {
  test("lets nobody send beside them: no message is at its receiver twice at once", async () => {
    const { clock } = hooks.latchkey;
    const storage = await openStorage({ clock }, "sqlite::memory:");
    let isToFail = false;
    const failing: Storage = Object.assign(Object.create(storage) as Storage, {
      transact: async <T>(...of: Parameters<typeof storage.transact<T>>) => {
        if (!isToFail) return storage.transact(...of);
        isToFail = false;
        throw new Error("Connection terminated");
      },
    });
    const here = await openHooks({ storage: failing });
    const open = new Set<string>();
    const twice: string[] = [];
    const held: (() => void)[] = [];
    here.receiver.answer((response, { json }) => {
      if (json.id === "a look") return void response.end();
      if (open.has(json.id)) twice.push(json.id);
      open.add(json.id);
      held.push(() => {
        open.delete(json.id);
        response.end();
      });
    });
    await here.integrate();
    for (let made = 0; made < 20; made++) await here.customer();
    await here.latchkey.app.tidy();
    await until(() => held.length === 8);
    // The first is answered, and what became of it cannot be written.
    isToFail = true;
    held[0]?.();
    await until(() => !isToFail && held.length === 9);
    for (let looks = 0; looks < 5; looks++) {
      await here.latchkey.app.tidy();
      // What was sent before it has arrived when it is answered.
      await fetch(here.receiver.url, { method: "POST", body: '{"id":"a look"}' });
    }
    expect(twice).toEqual([]);
    here.receiver.answer(200);
    for (const answer of held) answer();
    await here.deliver();
    await here.deliver();
    const subjects = here.receiver.arrived.flatMap(({ json }) => json.subject ?? []);
    expect(new Set(subjects).size).toBe(20);
    await here.close();
  });
});

test("a turn that a fault of our own ends is begun again by the next look, and not over and over", async () => {
  const { storage, clock, keyring } = hooks.latchkey;
  let interrupted = 0;
  const write = () => {
    if (++interrupted === 3) void deliverer.stop();
  };
  const deliverer = new Deliverer({
    storage,
    clock,
    keyring,
    random: () => 0.5,
    log: createLog("warn", { write }),
    onAttempt() {},
    webhookEgress: { send: () => Promise.reject(new Error("a fault of our own")) },
  });
  await hooks.integrate();
  await hooks.customer();
  await createSequencer({
    storage,
    clock,
    publicUrl: PUBLIC_URL,
    mark: deliverer.mark.bind(deliverer),
  }).run();
  deliverer.start();
  await deliverer.look();
  await deliverer.idle();
  expect(interrupted).toBe(1);
});

describe("disabled", () => {
  test("nothing is sent; enabled again, it goes on from then, and a replay fetches the rest", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer("before");
    await hooks.deliver();
    await change(id, { enabled: false });
    await hooks.customer("meanwhile");
    await hooks.deliver();
    await change(id, { enabled: true });
    await hooks.customer("after");
    await hooks.deliver();
    const names = () => hooks.receiver.arrived.map(({ json }) => json.data.resource.name);
    expect(names()).toEqual(["before", "after"]);
    const replayed = await hooks.store.call(replayEvents, { ids: { id }, json: { data: { after: 0 } } });
    expect(replayed.body.data.meta.replay).toMatchObject({ after: "0" });
    await hooks.deliver();
    expect(names().slice(2).sort()).toEqual(["after", "before", "meanwhile"]);
    expect((await hooks.see(id)).meta.replay).toBeNull();
  });

  test("what waited when it was disabled is sent when it is enabled again", async () => {
    const { id } = await hooks.integrate();
    hooks.receiver.answer(500);
    await hooks.customer();
    await hooks.deliver();
    await change(id, { enabled: false });
    await hooks.pass(DAY);
    expect(hooks.receiver.arrived).toHaveLength(1);
    hooks.receiver.answer(200);
    await change(id, { enabled: true });
    await hooks.deliver();
    expect(hooks.receiver.arrived).toHaveLength(2);
  });
});

describe("again", () => {
  test("a redelivery is sent at once with the same id, whatever became of it before (wire 17)", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.deliver();
    const [{ id: delivery }] = await hooks.deliveries(id);
    const answer = await hooks.store.call(redeliver, { ids: { id, delivery } });
    expect(answer.body.data).toMatchObject({ id: delivery, status: "waiting" });
    await hooks.deliver();
    expect(hooks.receiver.arrived).toHaveLength(2);
    const [first, second] = hooks.receiver.arrived;
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    const [again] = await hooks.deliveries(id);
    expect(again).toMatchObject({ id: delivery, status: "delivered" });
    expect(again.attempts).toHaveLength(2);
    await change(id, { enabled: false });
    expect((await hooks.store.call(redeliver, { ids: { id, delivery } })).code).toBe("integration_disabled");
    expect((await hooks.deliveries(id))[0].status).toBe("delivered");
  });

  test("a replay sends what lies after one number and up to another, also what was sent before (wire 17)", async () => {
    const { id } = await hooks.integrate();
    for (const name of ["one", "two", "three", "four"]) await hooks.customer(name);
    await hooks.deliver();
    const numbers = hooks.receiver.arrived.map(({ json }) => Number(json.sequence)).sort((a, b) => a - b);
    hooks.receiver.arrived.length = 0;
    const data = { after: String(numbers[0]), before: numbers[2] };
    expect((await hooks.store.call(replayEvents, { ids: { id }, json: { data } })).status).toBe(202);
    expect((await hooks.store.call(replayEvents, { ids: { id }, json: { data } })).code).toBe(
      "replay_under_way",
    );
    await hooks.deliver();
    const arrived = hooks.receiver.arrived.map(({ json }) => Number(json.sequence)).sort((a, b) => a - b);
    expect(arrived).toEqual(numbers.slice(1, 3));
    expect(await hooks.deliveries(id)).toHaveLength(4);
    await change(id, { enabled: false });
    expect((await hooks.store.call(replayEvents, { ids: { id }, json: { data } })).code).toBe(
      "integration_disabled",
    );
  });

  test("a replay writes what it sends again by the page: a statement for each would hold the service up", async () => {
    const { id } = await hooks.integrate();
    for (let at = 0; at < 20; at++) await hooks.customer();
    await hooks.deliver();
    await hooks.store.call(replayEvents, { ids: { id }, json: { data: { after: 0 } } });
    const { storage, clock, keyring } = hooks.latchkey;
    let writes = 0;
    const watched = watchStatements(storage, ({ sql }) => {
      if (/^insert into "integration_deliveries"/.test(sql)) writes++;
    });
    const allowedOrigins = [hooks.receiver.origin];
    const { app } = await createTestApp({ storage: watched, clock, keyring, allowedOrigins });
    await app.tidy();
    await app.delivered();
    expect(hooks.receiver.arrived).toHaveLength(40);
    expect(writes).toBeLessThan(8);
  });

  test("a replay of what is no longer kept is 410, and one of nothing does nothing", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.deliver();
    await hooks.latchkey.storage.db.updateTable("event_heads").set({ first_sequence: 3 }).execute();
    const replay = (data: object) => hooks.store.call(replayEvents, { ids: { id }, json: { data } });
    expect((await replay({ after: 0 })).code).toBe("events_gone");
    expect((await replay({ after: 900, before: 1000 })).body.data.meta.replay).toBeNull();
  });

  test("an event that is no longer kept is given up", async () => {
    const { id } = await hooks.integrate();
    hooks.receiver.answer(500);
    await hooks.customer();
    await hooks.deliver();
    await hooks.latchkey.storage.db.deleteFrom("events").execute();
    await hooks.pass(5 * SECOND);
    expect(await hooks.deliveries(id)).toMatchObject([{ status: "failed", reason: "event_forgotten" }]);
  });
});

describe("a test message", () => {
  test("is sent once while the caller waits, signed as any other, also where it is disabled (wire 17)", async () => {
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

  test("that is delivered ends `failing`, and its five days; one that is not leaves it as it is", async () => {
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
    // The log says the end as it said the beginning, and says it once.
    await hooks.store.call(testIntegration, { ids: { id } });
    const said = hooks.latchkey.logLines.filter(({ event }) => /^integration_/.test(String(event)));
    expect(said).toMatchObject([
      { event: "integration_failing", integration_id: id },
      { event: "integration_recovered", integration_id: id, store_id: hooks.store.store.id },
    ]);
  });

  test("429 where a store has five of them under way", async () => {
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

describe("what is kept", () => {
  test("of deliveries goes after 14 days; those that wait stay", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.deliver();
    await hooks.pass(14 * DAY - 1);
    expect(await hooks.deliveries(id)).toHaveLength(1);
    await hooks.pass(61 * SECOND);
    expect(await hooks.deliveries(id)).toEqual([]);
  });

  test("of the answers is taken away with the person that they may speak of, also of one that is under way", async () => {
    const { id } = await hooks.integrate();
    let hold = false;
    const held: (() => void)[] = [];
    hooks.receiver.answer((response, { body }) => {
      const end = () => response.writeHead(500).end(body);
      if (hold) held.push(end);
      else end();
    });
    const ada = await hooks.customer("Ada Lovelace");
    await hooks.deliver();
    const kept = async () => JSON.stringify(await hooks.deliveries(id));
    expect(await kept()).toContain("Ada Lovelace");
    hold = true;
    hooks.latchkey.clock.advance(5 * SECOND);
    await hooks.latchkey.app.tidy();
    while (held.length === 0) await sleep(5);
    await hooks.store.call(eraseCustomer, { ids: { id: ada } });
    expect(await kept()).not.toContain("Ada Lovelace");
    hold = false;
    held[0]?.();
    await hooks.latchkey.app.delivered();
    const [last] = (await hooks.deliveries(id)).slice(-1);
    expect(last.attempts).toMatchObject([
      { status: 500, answer: null },
      { status: 500, answer: null },
    ]);
    expect(JSON.stringify(await hooks.deliveries(id))).not.toContain("Ada Lovelace");
    await hooks.pass(HOUR);
    expect(hooks.receiver.arrived.at(-1)?.body).not.toContain("Ada Lovelace");
  });

  test("of the answers is taken away with its person, and not those of others that are written down together with it", async () => {
    await hooks.integrate();
    hooks.receiver.answer((response) => response.destroy());
    const [ada, bea] = [await hooks.customer("Ada"), await hooks.customer("Bea")];
    await hooks.deliver();
    await hooks.store.call(eraseCustomer, { ids: { id: ada } });
    const { storage, clock } = hooks.latchkey;
    clock.advance(HOUR);
    const [integration] = await takeDue({ storage, clock }, true, 1);
    if (!integration) throw new Error("nothing is due");
    const read = () => storage.db.selectFrom("integration_deliveries").selectAll().execute();
    const attempt = { at: clock.now(), status: 200, reason: null, milliseconds: 1, answer: "heard of it" };
    const outcomes = (await read()).map((row) => ({
      row,
      attempted: { attempt, url: integration.url, retryAfterMs: undefined },
    }));
    await settle({ storage, clock, random: () => 0.5 }, integration, outcomes);
    const answers = (await read()).map(({ subject, attempts }) => [
      subject,
      JSON.parse(attempts).at(-1).answer,
    ]);
    expect(new Map(answers as [string, unknown][])).toEqual(
      new Map([
        [ada, null],
        [bea, "heard of it"],
      ]),
    );
  });

  test("of the answers is taken away without what an attempt has added meanwhile", async () => {
    await hooks.integrate();
    hooks.receiver.answer((response, { body }) => response.writeHead(500).end(body));
    const ada = await hooks.customer("Ada Lovelace");
    await hooks.deliver();
    const { storage, clock } = hooks.latchkey;
    const attempts = JSON.stringify([{ answer: null }, { answer: null }]);
    let isAdded = false;
    const db = storage.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        // Its delivery was read, and another attempt of it is written down before it is changed.
        if (!isAdded && result.rows.some((row) => "attempts" in row)) {
          isAdded = true;
          await storage.db.updateTable("integration_deliveries").set({ attempts }).execute();
        }
        return result;
      },
    });
    const person = { storeId: hooks.store.store.id, personId: ada };
    await eraseSome({ storage: { ...storage, db }, clock }, person);
    const rows = await storage.db.selectFrom("integration_deliveries").select("attempts").execute();
    expect(rows).toEqual([{ attempts }]);
  });

  test("of many answers is taken away integration by integration, and others have their turn in between", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push((await hooks.integrate()).id);
    hooks.receiver.answer((response, { body }) => response.writeHead(200).end(body));
    const ada = await hooks.customer("Ada Lovelace");
    for (let at = 0; at < 19; at++) await hooks.rename(ada, `Ada Lovelace ${at}`);
    await hooks.deliver();
    const person = { storeId: hooks.store.store.id, personId: ada };
    const { storage, clock } = hooks.latchkey;
    const most = await mostInOneTurn(storage, (watched) => eraseSome({ storage: watched, clock }, person));
    expect(most).toBeLessThan(50);
    for (const id of ids) expect(JSON.stringify(await hooks.deliveries(id))).not.toContain("Lovelace");
  });
});
