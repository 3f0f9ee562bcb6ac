import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createCustomer,
  deleteCustomer,
  eraseCustomer,
  getCustomer,
  updateCustomer,
} from "../../src/contract/customers.ts";
import { getEventHead, listEvents } from "../../src/contract/events.ts";
import { updateStore } from "../../src/contract/store.ts";
import { digestOf, hashOf } from "../../src/events/chain.ts";
import { eraseSome } from "../../src/events/erase.ts";
import { byService } from "../../src/events/event.ts";
import { noteEvents } from "../../src/events/note.ts";
import { readPublicKeys, verifyLog } from "../../src/events/verify.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { cutOff, isWhole, readLog, typesOf } from "../support/log.ts";
import { until } from "../support/until.ts";

const DAY_MS = 86_400_000;

describe.each(engines)("the log on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
    store = await latchkey.createStore();
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const rename = async (name: string) => {
    // Tokens live for an hour, and these tests for months.
    const token = await store.token();
    await call(latchkey.app, updateStore, { token, json: { data: { type: "store", name } } });
  };
  const list = async (query: string) => call(latchkey.app, listEvents, { token: await store.token(), query });
  const verdict = (witnessed?: { sequence: number; hash: string }) =>
    verifyLog({ ...latchkey, eventDays: 90 }, store.store.id, witnessed);

  describe("verified", () => {
    const ofStore = () => latchkey.storage.db.updateTable("events").where("store_id", "=", store.store.id);
    beforeEach(async () => {
      for (let at = 0; at < 8; at++) await rename(`n${at}`);
      await latchkey.app.tidy();
    });

    test("is complete, with the number of events", async () => {
      const seen: number[] = [];
      const found = await verifyLog({ ...latchkey, eventDays: 90 }, store.store.id, undefined, (done) =>
        seen.push(done),
      );
      expect(found).toMatchObject({ isWhole: true, events: 10, erased: 0 });
      expect(seen).toEqual([10]);
    });

    test("names the first event whose data, time, type, salt or hash was altered", async () => {
      for (const change of [
        { data: '{"resource":{}}' },
        { data: '"(erased)"' },
        { actor_id: null },
        { latest_time: 1 },
        { time: 1 },
        { type: "store.x" },
        { salt: "AAAAAAAAAAAAAAAAAAAAAA" },
        { salt: null },
        { hash: "x" },
        { subject: "x" },
        { source: "https://else.example" },
      ]) {
        const rows = latchkey.storage.db
          .selectFrom("events")
          .selectAll()
          .where("store_id", "=", store.store.id)
          .where("sequence", "=", 5);
        const before = await rows.executeTakeFirstOrThrow();
        await ofStore().set(change).where("sequence", "=", 5).execute();
        expect(await verdict(), JSON.stringify(change)).toEqual({
          isWhole: false,
          sequence: 5,
          what: "altered",
        });
        await ofStore().set(before).where("sequence", "=", 5).execute();
      }
      expect(await verdict()).toMatchObject({ isWhole: true });
    });

    test("names the event after a rewritten one with a fitting digest; a rewritten last one is found by the head", async () => {
      const salt = Buffer.alloc(16);
      const data = JSON.stringify({ actor: { id: store.key.id } });
      const anew = { salt: salt.toString("base64url"), data, digest: digestOf(salt, data) };
      for (const [sequence, named] of [
        [10, 10],
        [5, 6],
      ] as const) {
        const row = await latchkey.storage.db
          .selectFrom("events")
          .selectAll()
          .where("store_id", "=", store.store.id)
          .where("sequence", "=", sequence)
          .executeTakeFirstOrThrow();
        const hash = hashOf({ ...row, ...anew });
        await ofStore()
          .set({ ...anew, hash })
          .where("sequence", "=", sequence)
          .execute();
        expect(await verdict()).toEqual({ isWhole: false, sequence: named, what: "altered" });
      }
    });

    test("names the first event that was removed, from the middle, the beginning or the end", async () => {
      const remove = (sequence: number) =>
        latchkey.storage.db
          .deleteFrom("events")
          .where("store_id", "=", store.store.id)
          .where("sequence", "=", sequence)
          .execute();
      for (const sequence of [10, 6, 1]) {
        await remove(sequence);
        expect(await verdict()).toEqual({ isWhole: false, sequence, what: "removed" });
      }
    });

    test("names the first of two events that were swapped", async () => {
      for (const [from, to] of [
        [4, 99],
        [7, 4],
        [99, 7],
      ] as const)
        await ofStore().set({ sequence: to }).where("sequence", "=", from).execute();
      expect(await verdict()).toEqual({ isWhole: false, sequence: 4, what: "altered" });
    });

    test("a cut log with a rewritten head passes alone, and fails against a witness", async () => {
      const { sequence, hash } = (await store.call(getEventHead)).body.data;
      const witnessed = { sequence: Number(sequence), hash };
      const { db } = latchkey.storage;
      await db
        .deleteFrom("events")
        .where("store_id", "=", store.store.id)
        .where("sequence", ">", 7)
        .execute();
      const last = await db
        .selectFrom("events")
        .select(["hash", "latest_time"])
        .where("store_id", "=", store.store.id)
        .where("sequence", "=", 7)
        .executeTakeFirstOrThrow();
      const cut = { last_sequence: 7, last_hash: last.hash, latest_time: last.latest_time };
      await db.updateTable("event_heads").set(cut).where("store_id", "=", store.store.id).execute();
      expect(await verdict()).toMatchObject({ isWhole: true });
      expect(await verdict(witnessed)).toEqual({ isWhole: false, sequence: 8, what: "removed" });
      await rename("goes on");
      await rename("goes on and on");
      await rename("as if nothing had been");
      await rename("beyond what the witness has seen");
      await latchkey.app.tidy();
      expect(await verdict()).toMatchObject({ isWhole: true });
      expect(await verdict(witnessed)).toEqual({ isWhole: false, sequence: 10, what: "altered" });
    });

    describe("over several pages", () => {
      beforeEach(async () => {
        const happening = { type: "store.updated" as const, subject: store.store.id, resource: {} };
        const many = Array.from({ length: 1000 }, () => happening);
        await latchkey.storage.transact((trx) => noteEvents(trx, latchkey, byService(store.store.id), many));
        await latchkey.app.tidy();
      });

      const ofEvents = () => latchkey.storage.db.deleteFrom("events").where("store_id", "=", store.store.id);
      const takeAway = () => ofEvents().where("sequence", "<=", 600).execute();

      /** Verifies the log, and does something after the first page was read. */
      const verdictWith = (work: () => Promise<unknown>) => {
        let isDone = false;
        const db = latchkey.storage.db.withPlugin({
          transformQuery: ({ node }) => node,
          async transformResult({ result }) {
            if (isDone || result.rows.length < 500) return result;
            isDone = true;
            await work();
            return result;
          },
        });
        const seen: number[][] = [];
        const storage = { ...latchkey.storage, db };
        const onProgress = (...far: number[]) => void seen.push(far);
        const deps = { ...latchkey, storage, eventDays: 90 };
        return verifyLog(deps, store.store.id, undefined, onProgress).then((found) => ({
          found,
          seen,
        }));
      };

      test("is read to its end, with its progress", async () => {
        const seen: number[][] = [];
        const found = await verifyLog({ ...latchkey, eventDays: 90 }, store.store.id, undefined, (...far) =>
          seen.push(far),
        );
        expect(found).toMatchObject({ isWhole: true, events: 1010 });
        expect(seen).toEqual([
          [500, 1010],
          [1000, 1010],
          [1010, 1010],
        ]);
        await ofStore().set({ time: 1 }).where("sequence", "=", 1005).execute();
        expect(await verdict()).toEqual({ isWhole: false, sequence: 1005, what: "altered" });
      });

      test("is complete when retention deletes its beginning meanwhile, and shows the progress in the rest", async () => {
        const forget = async () => {
          await cutOff(latchkey.storage, store.store.id, 600);
          latchkey.clock.advance(91 * DAY_MS);
        };
        const { found, seen } = await verdictWith(forget);
        expect(found).toMatchObject({ isWhole: true, events: 910, head: { first_sequence: 601 } });
        // The total is that of the events that are retained at that moment.
        expect(seen).toEqual([
          [500, 1010],
          [410, 410],
        ]);
      });

      test("names the first missing event when another program deletes it meanwhile", async () => {
        const { found } = await verdictWith(takeAway);
        expect(found).toEqual({ isWhole: false, sequence: 501, what: "removed" });
      });

      test("is complete when events are added meanwhile, up to its former end", async () => {
        const more = async () => {
          await rename("meanwhile");
          await latchkey.app.tidy();
        };
        expect((await verdictWith(more)).found).toMatchObject({ isWhole: true, events: 1010 });
      });
    });

    test("a log with a moved beginning fails against a witness of the event before it, which has another hash", async () => {
      const { hash } = await latchkey.storage.db
        .selectFrom("events")
        .select("hash")
        .where("store_id", "=", store.store.id)
        .where("sequence", "=", 4)
        .executeTakeFirstOrThrow();
      await cutOff(latchkey.storage, store.store.id, 4);
      latchkey.clock.advance(91 * DAY_MS);
      expect(await verdict({ sequence: 4, hash })).toMatchObject({ isWhole: true });
      expect(await verdict({ sequence: 4, hash: "another" })).toEqual({
        isWhole: false,
        sequence: 4,
        what: "altered",
      });
    });

    test("the public keys of heads are published", async () => {
      await store.call(getEventHead);
      const [jwk] = await readPublicKeys(latchkey.storage.db);
      expect(jwk).toMatchObject({ kty: "EC", alg: "ES256" });
      expect(jwk).not.toHaveProperty("d");
    });
  });

  describe("deletes events that are older than the operator's retention", () => {
    /** Each round corresponds to a minute of a service. */
    async function forget(): Promise<void> {
      for (let round = 0; round < 3; round++) {
        latchkey.clock.advance(61_000);
        await latchkey.app.tidy();
      }
    }

    test("and the rest still verifies; 410 for a reader that is further behind, with the oldest retained number", async () => {
      for (let day = 0; day < 10; day++) {
        await rename(`day ${day}`);
        latchkey.clock.advance(10 * DAY_MS);
        await latchkey.app.tidy();
      }
      await forget();
      // The first two and one renaming are 100 days old.
      const events = await list("page[limit]=100");
      expect(events.body.data.map(({ sequence }: { sequence: string }) => Number(sequence))).toEqual([
        5, 6, 7, 8, 9, 10, 11, 12,
      ]);
      expect(await isWhole(latchkey, store)).toBe(true);
      const gone = await list("after=3");
      expect([gone.status, gone.code]).toEqual([410, "events_gone"]);
      expect(gone.body.errors[0].meta).toEqual({ oldest_sequence: "5" });
      expect((await list("after=4")).body.data).toHaveLength(8);
      await latchkey.storage.db.updateTable("events").set({ time: 1 }).where("sequence", "=", 5).execute();
      expect(await verdict()).toEqual({ isWhole: false, sequence: 5, what: "altered" });
    });

    test("all events, and continues with the next number and the same chain", async () => {
      const second = await latchkey.createStore();
      await rename("one");
      await latchkey.app.tidy();
      latchkey.clock.advance(91 * DAY_MS);
      await forget();
      expect((await list("")).body).toMatchObject({ data: [], meta: { last_sequence: "3" } });
      expect(await isWhole(latchkey, store)).toBe(true);
      expect(await isWhole(latchkey, second)).toBe(true);
      await rename("two");
      await forget();
      expect((await list("")).body.data.map(({ sequence }: { sequence: string }) => sequence)).toEqual(["4"]);
      expect(await isWhole(latchkey, store)).toBe(true);
      latchkey.clock.advance(91 * DAY_MS);
      await forget();
      expect((await list("")).body.data).toEqual([]);
      expect(await isWhole(latchkey, store)).toBe(true);
    });

    test("keeps an old event after a young one: numbers have no gap", async () => {
      await rename("one");
      await latchkey.app.tidy();
      const now = latchkey.clock.now();
      latchkey.clock.set(now - 200 * DAY_MS);
      await rename("the clock was wrong");
      latchkey.clock.set(now);
      await forget();
      expect((await list("")).body.data).toHaveLength(4);
      latchkey.clock.advance(91 * DAY_MS);
      await forget();
      expect((await list("")).body.data).toEqual([]);
    });
  });

  describe("erasing a person", () => {
    const person = (name: string) => ({ type: "customer", name, email: `${name}@shop.example` });
    const make = async (name: string) =>
      (await store.call(createCustomer, { json: { data: person(name) } })).body.data.id as string;
    const erase = (id: string) => store.call(eraseCustomer, { ids: { id } });

    test("200: the person's data, salts and actors are removed, everything else stays, and the log still verifies", async () => {
      const [grace, bea] = [await make("gracehopper"), await make("bea")];
      const json = { data: { type: "customer", name: "gracehopper the second" } };
      await store.call(updateCustomer, { ids: { id: grace }, json });
      await latchkey.app.tidy();
      // An event without a number yet.
      await store.call(updateCustomer, {
        ids: { id: grace },
        json: { data: { type: "customer", name: "gracehopper III" } },
      });
      const before = await list("page[limit]=100");
      const answer = await erase(grace);
      expect(answer.body.data).toEqual({ type: "customer-erasure", id: grace, events: 3, complete: true });
      expect((await store.call(getCustomer, { ids: { id: grace } })).status).toBe(404);
      const events = await readLog(latchkey, store);
      expect(typesOf(events).slice(2)).toEqual([
        "customer.created",
        "customer.created",
        "customer.updated",
        "customer.updated",
        "customer.deleted",
        "customer.erased",
      ]);
      for (const at of [2, 4, 5]) {
        expect(events[at].data).toBe("(erased)");
        expect(events[at]).not.toHaveProperty("salt");
      }
      expect(events[2].hash).toBe(before.body.data[2].hash);
      expect(events[3].data.resource.email).toBe("bea@shop.example");
      expect(events[7].data.resource).toEqual({ type: "customer", id: grace });
      expect(JSON.stringify(events)).not.toContain("gracehopper");
      const byKey = await readLog(latchkey, store, `filter=eq(actor,${store.key.id})`);
      expect(byKey.map(({ data }) => data)).not.toContain("(erased)");
      expect(await verdict()).toMatchObject({ isWhole: true, erased: 3 });
      expect(bea).toBe(events[3].subject);
    });

    test("changes no event of another store with the same number (A33)", async () => {
      const other = await latchkey.createStore();
      await other.call(createCustomer, { json: { data: person("ada") } });
      const id = await make("ada");
      const before = await readLog(latchkey, other);
      expect((await erase(id)).body.data.events).toBe(1);
      expect(await readLog(latchkey, other)).toEqual(before);
    });

    test("200 for a customer who was deleted before; 404 for an unknown one, and for another store's", async () => {
      const id = await make("gracehopper");
      await store.call(deleteCustomer, { ids: { id } });
      const other = await latchkey.createStore();
      expect((await other.call(eraseCustomer, { ids: { id } })).code).toBe("customer_not_found");
      expect((await erase(id)).body.data.events).toBe(1);
      expect((await erase(id)).code).toBe("customer_not_found");
      // Every waiting event of this store has its number.
      const gone = await make("gracehopper");
      await store.call(deleteCustomer, { ids: { id: gone } });
      await latchkey.app.tidy();
      expect((await erase(gone)).status).toBe(200);
      const log = await readLog(latchkey, store);
      expect(JSON.stringify(log)).not.toContain("gracehopper");
      // No customer is deleted twice.
      expect(typesOf(log).filter((type) => type === "customer.deleted")).toHaveLength(2);
    });

    test("200 where an earlier request did not finish", async () => {
      const id = await make("grace");
      const order = { store_id: store.store.id, person_id: id, asked_at: 0 };
      await latchkey.storage.db.insertInto("event_erasures").values(order).execute();
      expect((await erase(id)).body.data).toMatchObject({ events: 1, complete: true });
    });

    test("is not finished when a round ends before a search found nothing left", async () => {
      const { storage, clock } = latchkey;
      const id = await make("grace");
      await latchkey.app.tidy();
      const order = { store_id: store.store.id, person_id: id, asked_at: 0 };
      await storage.db.insertInto("event_erasures").values(order).execute();
      let asked = 0;
      const hasty = { ...clock, monotonicMs: () => 1000 * asked++ };
      const person = { storeId: store.store.id, personId: id };
      expect(await eraseSome({ storage, clock: hasty }, person)).toMatchObject({ isDone: false });
      expect(await storage.db.selectFrom("event_erasures").selectAll().execute()).toHaveLength(1);
    });

    test("continues by itself where a request did not finish", async () => {
      const id = await make("grace");
      await latchkey.app.tidy();
      const order = { store_id: store.store.id, person_id: id, asked_at: 0 };
      await latchkey.storage.db.insertInto("event_erasures").values(order).execute();
      await latchkey.app.tidy();
      expect((await readLog(latchkey, store)).at(-1)?.data).toBe("(erased)");
      expect(await latchkey.storage.db.selectFrom("event_erasures").selectAll().execute()).toEqual([]);
    });

    test("continues by itself also after many erasures of another store", async () => {
      const { storage, clock } = latchkey;
      const later = await latchkey.createStore();
      const { body } = await later.call(createCustomer, { json: { data: person("grace") } });
      await latchkey.app.tidy();
      const order = (storeId: string, id: string) => ({
        store_id: storeId,
        person_id: id,
        asked_at: clock.now(),
      });
      const others = Array.from({ length: 50 }, (_, at) => order(store.store.id, `person ${at}`));
      const own = order(later.store.id, body.data.id);
      await storage.db
        .insertInto("event_erasures")
        .values([...others, own])
        .execute();
      await until(async () => {
        await latchkey.app.tidy();
        return (await readLog(latchkey, later)).at(-1)?.data === "(erased)";
      });
      expect(await storage.db.selectFrom("event_erasures").selectAll().execute()).toHaveLength(51);
    });

    test("continues by itself also while another store has more and more people erased", async () => {
      const { storage, clock } = latchkey;
      const [own, other] = [store, await latchkey.createStore()].sort((a, b) =>
        a.store.id < b.store.id ? -1 : 1,
      ) as [TestStore, TestStore];
      const { body } = await own.call(createCustomer, { json: { data: person("grace") } });
      const order = (storeId: string, ...ids: string[]) =>
        storage.db
          .insertInto("event_erasures")
          .values(ids.map((id) => ({ store_id: storeId, person_id: id, asked_at: clock.now() })))
          .execute();
      const round = async (number: number) => {
        await order(other.store.id, ...Array.from({ length: 20 }, (_, at) => `${1000 * number + at}`));
        await latchkey.app.tidy();
      };
      await round(1);
      await order(own.store.id, body.data.id);
      for (const number of [2, 3, 4]) await round(number);
      const said = storage.db.selectFrom("events").select("data").where("subject", "=", body.data.id);
      expect(await said.execute()).toEqual([{ data: '"(erased)"' }]);
    });
  });
});
