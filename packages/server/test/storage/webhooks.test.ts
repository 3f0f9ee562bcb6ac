import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deleteCustomer, eraseCustomer } from "../../src/contract/customers.ts";
import { redeliver } from "../../src/contract/deliveries.ts";
import { updateIntegration } from "../../src/contract/integrations.ts";
import { forgetOldEvents } from "../../src/events/forget.ts";
import { createSequencer } from "../../src/events/sequencer.ts";
import type { DeliveryAttempt } from "../../src/integrations/attempt.ts";
import type { Deliverer } from "../../src/integrations/deliverer.ts";
import { markStores } from "../../src/integrations/due.ts";
import { fanOut } from "../../src/integrations/fan-out.ts";
import { release, takeDue } from "../../src/integrations/lease.ts";
import { openStorage } from "../../src/storage/open.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { type Hooks, openHooks } from "../support/hooks.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const DAY = 86_400_000;

/** The rules of webhooks on either engine, and those among several instances. */
describe.each(engines)("on $name", (engine) => {
  let database: TestDatabase;
  let hooks: Hooks;
  let others: TestApp[];

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    hooks = await openHooks({ databaseUrl: database.url, random: () => 0.5 });
    others = [];
  });
  afterEach(async () => {
    for (const other of others) {
      await other.app.stop();
      await other.storage.close();
    }
    await hooks?.close();
    await database?.drop();
  });

  /** Another instance on the same database, with the same clock. */
  async function join(): Promise<TestApp> {
    const { clock, keyring } = hooks.latchkey;
    const storage = await openStorage({ clock }, database.url, UNHURRIED);
    const other = await createTestApp({ storage, clock, keyring, allowedOrigins: [hooks.receiver.origin] });
    others.push(other);
    return other;
  }

  const work = async ({ app }: TestApp) => {
    await app.tidy();
    await app.delivered();
  };
  /** Moves the clock, and the database's times with it. */
  async function pass(ms: number): Promise<void> {
    hooks.latchkey.clock.advance(ms);
    if (engine.name === "postgres")
      await hooks.latchkey.storage.db
        .updateTable("integrations")
        .set(({ eb }) => ({ lease_until: eb("lease_until", "-", ms) }))
        .where("lease", "is not", null)
        .execute();
  }
  const namesOf = (subject: string) =>
    hooks.receiver.arrived
      .filter(({ json }) => json.subject === subject)
      .map(({ json }) => json.data.resource.name);

  test("a receiver's answer is deleted with its event, also of an attempt under way", async () => {
    const { id } = await hooks.integrate();
    const held: (() => void)[] = [];
    let hold = false;
    hooks.receiver.answer((response, { body }) => {
      const end = () => response.writeHead(200).end(body);
      if (hold) held.push(end);
      else end();
    });
    await hooks.customer("Ada Lovelace");
    await hooks.deliver();
    await hooks.pass(10 * DAY);
    await hooks.customer("Grace Hopper");
    await hooks.deliver();
    const { storage, clock } = hooks.latchkey;
    const rows = () =>
      storage.db.selectFrom("integration_deliveries").selectAll().orderBy("sequence").execute();
    const answers = async () =>
      (await rows()).map(({ attempts }) =>
        (JSON.parse(attempts) as DeliveryAttempt[]).map(({ answer }) => answer),
      );
    const [ofAda] = await rows();
    hold = true;
    await hooks.store.call(redeliver, { ids: { id, delivery: String(ofAda?.id) } });
    await hooks.latchkey.app.tidy();
    while (held.length === 0) await sleep(5);
    const hopper = [expect.stringContaining("Grace Hopper")];
    expect(await answers()).toEqual([[expect.stringContaining("Ada Lovelace")], hopper]);
    expect(await forgetOldEvents({ storage, clock, eventDays: 7 })).toBe(false);
    expect(await answers()).toEqual([[null], hopper]);
    held[0]?.();
    await hooks.latchkey.app.delivered();
    expect(await answers()).toEqual([[null, null], hopper]);
  });

  test("each event is delivered once and in the order of its subject, whatever fails meanwhile", async () => {
    const { id } = await hooks.integrate();
    const ids = [await hooks.customer("0"), await hooks.customer("0"), await hooks.customer("0")];
    for (const name of ["1", "2", "3", "4"]) for (const customer of ids) await hooks.rename(customer, name);
    // The first attempt of every second event fails.
    const failed = new Set<string>();
    hooks.receiver.answer((response, { json }, count) => {
      const fails = count % 2 === 0 && !failed.has(json.id);
      if (fails) failed.add(json.id);
      response.writeHead(fails ? 500 : 200).end();
    });
    await hooks.deliver();
    for (let rounds = 0; rounds < 20; rounds++) await hooks.pass(5000);
    for (const customer of ids) {
      const names = namesOf(customer);
      // Without the messages that were sent again at once, the order is that of the log.
      expect(names.filter((name, at) => name !== names[at - 1])).toEqual(["0", "1", "2", "3", "4"]);
    }
    expect(await hooks.deliveries(id, "filter=eq(status,delivered)")).toHaveLength(15);
    const byType = await hooks.deliveries(id, "filter=eq(type,customer.created):eq(status,delivered)");
    expect(byType).toHaveLength(3);
  });

  describe("an integration that observes little", () => {
    let id: string;
    beforeEach(async () => {
      ({ id } = await hooks.integrate({ observes: ["customer.deleted"] }));
      await hooks.deliver();
    });
    const sequenceOf = async () => {
      const rows = hooks.latchkey.storage.db.selectFrom("integrations").select("sequence");
      return (await rows.where("id", "=", id).executeTakeFirstOrThrow()).sequence;
    };
    const headOf = async () =>
      (await hooks.latchkey.storage.db.selectFrom("event_heads").selectAll().executeTakeFirstOrThrow())
        .last_sequence;

    test("is not processed for other events, and gets its own events at once", async () => {
      const before = await sequenceOf();
      const customer = await hooks.customer();
      await hooks.rename(customer, "Grace");
      await hooks.deliver();
      expect(await sequenceOf()).toBe(before);
      await hooks.store.call(deleteCustomer, { ids: { id: customer } });
      await hooks.deliver();
      expect(hooks.receiver.arrived.map(({ json }) => json.type)).toEqual(["customer.deleted"]);
      expect(await sequenceOf()).toBe(await headOf());
    });

    test("is processed even if it is a thousand events behind", async () => {
      const behind = { sequence: (await headOf()) - 1000 };
      await hooks.latchkey.storage.db.updateTable("integrations").set(behind).execute();
      await hooks.customer();
      await hooks.deliver();
      expect(await sequenceOf()).toBe(await headOf());
    });

    test("gets newly observed events from the change on, and no earlier ones", async () => {
      const customer = await hooks.customer();
      await hooks.deliver();
      const json = { data: { type: "integration", observes: ["customer.*"] } };
      await hooks.store.call(updateIntegration, { ids: { id }, json });
      await hooks.deliver();
      expect(hooks.receiver.arrived).toEqual([]);
      await hooks.rename(customer, "Grace");
      await hooks.deliver();
      expect(hooks.receiver.arrived.map(({ json }) => json.type)).toEqual(["customer.updated"]);
    });

    test("gets newly observed events also where an instance holds its older state", async () => {
      const { storage } = hooks.latchkey;
      const inHand = { lease: "of before", lease_until: Date.now() + 30_000 };
      const before = await storage.db
        .updateTable("integrations")
        .set(inHand)
        .returningAll()
        .executeTakeFirstOrThrow();
      const json = { data: { type: "integration", observes: ["customer.*"] } };
      await hooks.store.call(updateIntegration, { ids: { id }, json });
      await hooks.customer();
      await hooks.deliver();
      await fanOut(hooks.latchkey, before);
      await release(hooks.latchkey, before);
      await hooks.deliver();
      expect(hooks.receiver.arrived.map(({ json }) => json.type)).toEqual(["customer.created"]);
    });

    test("gets an observed event also when the event was numbered just before a change of what is observed", async () => {
      const customer = await hooks.customer();
      await hooks.store.call(deleteCustomer, { ids: { id: customer } });
      // An instance that delivers nothing has numbered the events.
      const { storage, clock } = hooks.latchkey;
      const mark = async (...[trx, numberedOf]: Parameters<Deliverer["mark"]>) =>
        void (await markStores(trx, numberedOf, clock.now()));
      await createSequencer({ storage, clock, publicUrl: "https://keys.example", mark }).run();
      const json = { data: { type: "integration", observes: ["customer.deleted", "customer.created"] } };
      await hooks.store.call(updateIntegration, { ids: { id }, json });
      await hooks.deliver();
      expect(hooks.receiver.arrived.map(({ json }) => json.type)).toEqual(["customer.deleted"]);
    });
  });

  test("an instance that dies during a delivery delays an integration by half a minute; the ids stay", async () => {
    await hooks.integrate();
    const customer = await hooks.customer("0");
    await hooks.rename(customer, "1");
    // Numbered, and taken by an instance that then stops.
    hooks.receiver.answer((response) => response.destroy());
    await hooks.deliver();
    hooks.receiver.answer(200);
    hooks.latchkey.clock.advance(5000);
    const [taken] = await takeDue(hooks.latchkey, true, 1);
    expect(taken).toBeDefined();
    // On PostgreSQL the database's clock runs by itself, too.
    await pass(15_000);
    await hooks.deliver();
    expect(hooks.receiver.arrived).toHaveLength(1);
    await pass(15_000);
    await hooks.deliver();
    expect(namesOf(customer)).toEqual(["0", "0", "1"]);
    const [first, again] = hooks.receiver.arrived;
    expect(again?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  });

  test.each([200, 500])(
    "a redelivery that is requested during an attempt is made, if the attempt gets %i",
    async (status) => {
      const { id } = await hooks.integrate();
      await hooks.customer();
      const held: (() => void)[] = [];
      hooks.receiver.answer((response, _, count) => {
        if (count === 1) held.push(() => response.writeHead(status).end("before"));
        else response.writeHead(200).end("again");
      });
      await hooks.latchkey.app.tidy();
      await until(() => held.length === 1);
      const [{ id: delivery }] = await hooks.deliveries(id);
      const asked = await hooks.store.call(redeliver, { ids: { id, delivery } });
      expect(asked.body.data).toMatchObject({ status: "waiting", attempts: [] });
      held[0]?.();
      await hooks.latchkey.app.delivered();
      await hooks.deliver();
      expect(hooks.receiver.arrived).toHaveLength(2);
      expect(await hooks.deliveries(id)).toMatchObject([
        {
          status: "delivered",
          attempts: [
            { status, answer: "before" },
            { status: 200, answer: "again" },
          ],
        },
      ]);
    },
  );

  test("a redelivery waits for a write under way of the integration, and delays no other", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("one transaction at a time writes to a SQLite");
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.deliver();
    const [{ id: delivery }] = await hooks.deliveries(id);
    const { storage } = hooks.latchkey;
    const waits = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    let asked: ReturnType<typeof hooks.store.call> | undefined;
    // In the order in which outcomes of attempts are written.
    await storage.db.transaction().execute(async (trx) => {
      await trx.selectFrom("integrations").select("id").where("id", "=", id).forUpdate().execute();
      asked = hooks.store.call(redeliver, { ids: { id, delivery } });
      await until(async () => (await waits.execute(storage.db)).rows.length === 1);
      const row = trx.selectFrom("integration_deliveries").select("id").where("id", "=", delivery);
      expect(await row.forUpdate().noWait().execute()).toHaveLength(1);
    });
    expect((await asked)?.status).toBe(202);
  });

  test("a delivery that lost its lease during the attempt writes nothing, and its message is sent again", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("one process serves a SQLite");
    const { id } = await hooks.integrate();
    await hooks.customer();
    const held: (() => void)[] = [];
    hooks.receiver.answer((response, _, count) => {
      if (count === 1) held.push(() => response.writeHead(500).end("late"));
      else response.writeHead(200).end("in time");
    });
    await hooks.latchkey.app.tidy();
    await until(() => held.length === 1);
    const other = await join();
    await pass(30_000);
    await work(other);
    expect(hooks.receiver.arrived).toHaveLength(2);
    held[0]?.();
    await hooks.latchkey.app.delivered();
    expect(await hooks.deliveries(id)).toMatchObject([
      { status: "delivered", attempts: [{ answer: "in time" }] },
    ]);
    expect((await hooks.see(id)).meta.status).toBe("healthy");
  });

  test("an instance whose clock is a minute ahead respects the leases of others: leases use the database's clock", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("one process serves a SQLite");
    const { id } = await hooks.integrate();
    await hooks.customer();
    hooks.receiver.answer((response) => response.destroy());
    await hooks.deliver();
    const { storage, clock } = hooks.latchkey;
    clock.advance(5000);
    const ahead = { ...clock, now: () => clock.now() + 60_000 };
    expect(await takeDue(hooks.latchkey, true, 1)).toMatchObject([{ id }]);
    expect(await takeDue({ storage, clock: ahead }, true, 1)).toEqual([]);
    await pass(30_000);
    expect(await takeDue({ storage, clock: ahead }, true, 1)).toMatchObject([{ id }]);
  });

  test("the leases of a killed instance whose clock is a minute ahead end in time for the others", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("one process serves a SQLite");
    const { storage, clock } = hooks.latchkey;
    clock.set(Date.now());
    const { id } = await hooks.integrate();
    await hooks.customer();
    hooks.receiver.answer((response) => response.destroy());
    await hooks.deliver();
    clock.advance(6000);
    const ahead = { ...clock, now: () => clock.now() + 60_000 };
    expect(await takeDue({ storage, clock: ahead }, true, 1)).toMatchObject([{ id }]);
    // The database's clock runs by itself, too.
    await pass(15_000);
    expect(await takeDue(hooks.latchkey, true, 1)).toEqual([]);
    await pass(16_000);
    expect(await takeDue(hooks.latchkey, true, 1)).toMatchObject([{ id }]);
  });

  test("a person without events in the log is erased where there are integrations too", async () => {
    await hooks.integrate();
    const id = await hooks.customer("Ada Lovelace");
    await hooks.deliver();
    const { status, body } = await hooks.store.call(eraseCustomer, { ids: { id } });
    expect([status, body.data.complete]).toEqual([200, true]);
  });

  test("a receiver's answer is erased with the person, also while it is being written", async ({ skip }) => {
    if (engine.name === "sqlite") skip("one transaction at a time writes to a SQLite");
    const { id } = await hooks.integrate();
    const ada = await hooks.customer("Ada Lovelace");
    await hooks.deliver();
    const { storage } = hooks.latchkey;
    const waits = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const attempts = JSON.stringify([
      { at: 0, status: 200, reason: null, milliseconds: 1, answer: "Ada Lovelace" },
    ]);
    let isErased = false;
    let asked: Promise<unknown> | undefined;
    // In the order in which outcomes of attempts are written, after the check that the event was not erased.
    await storage.db.transaction().execute(async (trx) => {
      await trx.selectFrom("integrations").select("id").where("id", "=", id).forUpdate().execute();
      await trx.updateTable("integration_deliveries").set({ attempts }).execute();
      asked = hooks.store.call(eraseCustomer, { ids: { id: ada } }).then(() => {
        isErased = true;
      });
      await until(async () => isErased || (await waits.execute(storage.db)).rows.length > 0);
    });
    await asked;
    expect(JSON.stringify(await hooks.deliveries(id))).not.toContain("Lovelace");
  });

  test("instances that look at the same time share the work, and deliver nothing twice", async ({ skip }) => {
    if (engine.name === "sqlite") skip("one process serves a SQLite");
    const more = await Promise.all([join(), join()]);
    for (let made = 0; made < 6; made++) await hooks.integrate({ name: `number ${made}` });
    const customers: string[] = [];
    for (let made = 0; made < 10; made++) customers.push(await hooks.customer(String(made)));
    await hooks.latchkey.app.tidy();
    for (let rounds = 0; rounds < 10; rounds++)
      await Promise.all([hooks.latchkey, ...more].map((app) => work(app)));
    expect(hooks.receiver.arrived).toHaveLength(60);
    for (const customer of customers) expect(namesOf(customer)).toHaveLength(6);
  });

  test("an event that is numbered while an integration is released is not forgotten", async () => {
    await hooks.integrate();
    let wanted = 0;
    for (let rounds = 0; rounds < 15; rounds++) {
      await hooks.customer();
      wanted++;
      // Numbered during the delivery of the previous one.
      const delivering = hooks.deliver();
      await hooks.customer();
      wanted++;
      await hooks.latchkey.app.tidy();
      await delivering;
      await hooks.deliver();
      expect(hooks.receiver.arrived).toHaveLength(wanted);
    }
  });

  test("a clock that steps back delays no new event, and numbers stay in order", async () => {
    await hooks.integrate();
    const customer = await hooks.customer("0");
    await hooks.deliver();
    hooks.latchkey.clock.set(hooks.latchkey.clock.now() - 3_600_000);
    await hooks.rename(customer, "1");
    await hooks.deliver();
    hooks.latchkey.clock.set(hooks.latchkey.clock.now() + 3_600_000);
    await hooks.rename(customer, "2");
    await hooks.deliver();
    expect(namesOf(customer)).toEqual(["0", "1", "2"]);
    const numbers = hooks.receiver.arrived.map(({ json }) => Number(json.sequence));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  test("a receiver that does not answer delays no other, and has at most eight messages", async () => {
    const slow = await startReceiver();
    const held: (() => void)[] = [];
    slow.answer((response) => void held.push(() => response.writeHead(200).end()));
    const other = await openHooks({
      databaseUrl: "sqlite::memory:",
      allowedOrigins: [slow.origin, hooks.receiver.origin],
    });
    await other.integrate({ name: "slow", configuration: { url: slow.url } });
    await other.integrate({ name: "quick", configuration: { url: hooks.receiver.url } });
    for (let made = 0; made < 30; made++) await other.customer();
    await other.latchkey.app.tidy();
    await until(() => hooks.receiver.arrived.length === 30 && held.length === 8);
    expect(slow.open().most).toBe(8);
    while (slow.open().now > 0 || slow.arrived.length < 30) {
      for (const end of held.splice(0)) end();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await other.latchkey.app.delivered();
    expect(slow.open().most).toBe(8);
    await other.close();
    await slow.close();
  });
});
