import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createCustomer,
  deleteCustomer,
  eraseCustomer,
  updateCustomer,
} from "../../src/contract/customers.ts";
import { getEventHead, listEvents } from "../../src/contract/events.ts";
import { updateStore } from "../../src/contract/store.ts";
import { byService, ERASED, type EventRow } from "../../src/events/event.ts";
import { noteEvents } from "../../src/events/note.ts";
import { verifyLog, type Witnessed } from "../../src/events/verify.ts";
import { readJws } from "../../src/lib/jws.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { cutOff } from "../support/log.ts";

const DAY_MS = 86_400_000;

describe.each(engines)("a person with write access to the database, on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let shop: TestStore;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
    shop = await latchkey.createStore();
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const verdict = (witnessed?: Witnessed) =>
    verifyLog({ ...latchkey, eventDays: 90 }, shop.store.id, witnessed);
  const events = () => latchkey.storage.db.updateTable("events").where("store_id", "=", shop.store.id);
  const heads = () => latchkey.storage.db.updateTable("event_heads").where("store_id", "=", shop.store.id);
  const eventAt = (sequence: number): Promise<EventRow> =>
    latchkey.storage.db
      .selectFrom("events")
      .selectAll()
      .where("store_id", "=", shop.store.id)
      .where("sequence", "=", sequence)
      .executeTakeFirstOrThrow();
  const change = (sequence: number, columns: Partial<EventRow>) =>
    events().set(columns).where("sequence", "=", sequence).execute();
  const rename = async (name: string) => {
    await shop.call(updateStore, { json: { data: { type: "store", name } } });
    await latchkey.app.tidy();
  };
  const person = (name: string) => ({ type: "customer", name, email: `${name}@shop.example` });
  const register = async (name: string): Promise<string> => {
    const { body } = await shop.call(createCustomer, { json: { data: person(name) } });
    await latchkey.app.tidy();
    return body.data.id;
  };
  const erase = async (id: string) => {
    await shop.call(eraseCustomer, { ids: { id } });
    await latchkey.app.tidy();
  };
  /** The claims that the service has signed for a witness. */
  const witness = async (): Promise<Witnessed> => {
    const { signature } = (await shop.call(getEventHead)).body.data;
    const claims = readJws(signature)?.claims ?? {};
    return {
      sequence: Number(claims.sequence),
      hash: String(claims.hash),
      firstSequence: Number(claims.first_sequence),
      forgottenHash: String(claims.forgotten_hash),
    };
  };
  const blank = { data: ERASED, salt: null, actor_id: null, person_id: null };
  const fault = (sequence: number, what: string) => ({ isWhole: false, sequence, what });

  test("cannot blank an event without personal data", async () => {
    for (const name of ["one", "two", "three"]) await rename(name);
    const witnessed = await witness();
    await change(4, blank);
    expect(await verdict(witnessed)).toEqual(fault(4, "blanked"));
  });

  test("cannot blank an event of a customer who was not erased", async () => {
    const [ada, bea] = [await register("ada"), await register("bea")];
    await erase(bea);
    expect(await verdict()).toMatchObject({ isWhole: true, erased: 1 });
    const { sequence } = await latchkey.storage.db
      .selectFrom("events")
      .select("sequence")
      .where("subject", "=", ada)
      .executeTakeFirstOrThrow();
    await change(sequence, blank);
    expect(await verdict()).toEqual(fault(sequence, "blanked"));
  });

  test("cannot blank an erasure, nor an event after it", async () => {
    const ada = await register("ada");
    await shop.call(deleteCustomer, { ids: { id: ada } });
    await erase(ada);
    const { last_sequence } = (await shop.call(listEvents)).body.meta;
    await change(Number(last_sequence), blank);
    expect(await verdict()).toEqual(fault(Number(last_sequence), "blanked"));
  });

  test("cannot blank a customer token's event without a later erasure of a customer", async () => {
    const happening = {
      type: "customer_token.created" as const,
      subject: "01890000-0000-7000-8000-00000000000a",
      resource: { type: "token", id: "01890000-0000-7000-8000-00000000000a", customer_id: "x" },
    };
    await latchkey.storage.transact((trx) =>
      noteEvents(trx, latchkey, byService(shop.store.id), [happening]),
    );
    await latchkey.app.tidy();
    await change(3, blank);
    expect(await verdict()).toEqual(fault(3, "blanked"));
    await erase(await register("ada"));
    expect(await verdict()).toMatchObject({ isWhole: true, erased: 2 });
  });

  test("finds the log whole when events are blank before their erasure is numbered", async () => {
    const ada = await register("ada");
    await shop.call(updateCustomer, { ids: { id: ada }, json: { data: { type: "customer", name: "a" } } });
    await latchkey.app.tidy();
    await shop.call(eraseCustomer, { ids: { id: ada } });
    expect(await verdict()).toMatchObject({ isWhole: true, erased: 2, events: 4 });
  });

  describe("after the log's beginning was cut off", () => {
    beforeEach(async () => {
      for (let at = 0; at < 6; at++) await rename(`n${at}`);
    });

    const cut = (last: number) => cutOff(latchkey.storage, shop.store.id, last);

    test("is found out by the age of the last event before the cut, which its hash covers", async () => {
      const witnessed = await witness();
      await cut(4);
      for (const head of [undefined, witnessed])
        expect(await verdict(head)).toEqual(fault(4, "forgotten_early"));
      latchkey.clock.advance(89 * DAY_MS);
      expect(await verdict()).toEqual(fault(4, "forgotten_early"));
      latchkey.clock.advance(DAY_MS + 60_000);
      expect(await verdict()).toMatchObject({ isWhole: true, events: 4 });
    });

    test("cannot change or remove the last event before the cut", async () => {
      await cut(4);
      const { forgotten_event } = await latchkey.storage.db
        .selectFrom("event_heads")
        .select("forgotten_event")
        .where("store_id", "=", shop.store.id)
        .executeTakeFirstOrThrow();
      const older = JSON.stringify({ ...JSON.parse(String(forgotten_event)), time: 1 });
      for (const forged of [null, older, "{}", "x", "null"]) {
        await heads().set({ forgotten_event: forged }).execute();
        expect(await verdict(), String(forged)).toEqual(fault(4, "beginning_unproven"));
      }
    });

    test("cannot set another beginning: the hashes do not fit", async () => {
      await cut(4);
      latchkey.clock.advance(91 * DAY_MS);
      await heads().set({ forgotten_hash: "x" }).execute();
      expect(await verdict()).toEqual(fault(4, "beginning_unproven"));
      await heads().set({ first_sequence: 1, forgotten_hash: "", forgotten_event: null }).execute();
      expect(await verdict()).toEqual(fault(1, "removed"));
    });

    test("is covered by a witness of the same beginning, as after an earlier release without proof", async () => {
      await cut(4);
      await heads().set({ forgotten_event: null }).execute();
      const witnessed = await witness();
      expect(witnessed).toMatchObject({ firstSequence: 5 });
      expect(await verdict(witnessed)).toMatchObject({ isWhole: true });
      await heads().set({ forgotten_hash: "x" }).execute();
      expect(await verdict(witnessed)).toEqual(fault(4, "altered"));
    });

    test("finds the log whole when retention has removed the beginning", async () => {
      latchkey.clock.advance(91 * DAY_MS);
      for (let round = 0; round < 3; round++) {
        latchkey.clock.advance(61_000);
        await latchkey.app.tidy();
      }
      const token = await shop.token();
      await shop.call(updateStore, { token, json: { data: { type: "store", name: "young" } } });
      await latchkey.app.tidy();
      const found = await verdict();
      expect(found).toMatchObject({ isWhole: true, events: 1, head: { first_sequence: 9 } });
    });
  });

  describe("cannot hide an event from a filtered list", () => {
    beforeEach(async () => {
      for (const name of ["one", "two"]) await rename(name);
      await register("ada");
    });

    test.each<[string, Partial<EventRow>]>([
      ["by another actor", { actor_id: "01890000-0000-7000-8000-00000000000a" }],
      ["by no actor", { actor_id: null }],
      ["by a later time so far", { latest_time: Date.parse("2030-01-01") }],
      ["by an earlier time so far", { latest_time: 1 }],
      ["by another time", { time: 1 }],
      ["by a time beyond the calendar", { time: Number.MAX_SAFE_INTEGER }],
      ["by a fraction of a millisecond", { time: Date.parse("2026-01-01") + 0.5 }],
      ["by another subject", { subject: "x" }],
      ["by another type", { type: "store.created" }],
      ["by another person, whose erasure would blank it", { person_id: "x" }],
      ["by a salt in another spelling", { salt: "AAAAAAAAAAAAAAAAAAAAAB" }],
    ])("%s", async (title, columns) => {
      if (title.includes("fraction") && engine.name === "postgres") return;
      for (const sequence of [4, 5]) {
        const before = await eventAt(sequence);
        await change(sequence, columns);
        const found = await verdict();
        expect(found).toEqual(fault(sequence, "altered"));
        await change(sequence, before);
      }
      expect(await verdict()).toMatchObject({ isWhole: true });
    });

    test("by the latest time in the head", async () => {
      await heads().set({ latest_time: 1 }).execute();
      expect(await verdict()).toEqual(fault(5, "altered"));
    });
  });

  test("cannot swap, append or prepend events", async () => {
    for (const name of ["one", "two", "three"]) await rename(name);
    for (const [from, to] of [
      [3, 99],
      [4, 3],
      [99, 4],
    ] as const)
      await change(from, { sequence: to });
    expect(await verdict()).toEqual(fault(3, "altered"));
    for (const [from, to] of [
      [3, 99],
      [4, 3],
      [99, 4],
    ] as const)
      await change(from, { sequence: to });
    expect(await verdict()).toMatchObject({ isWhole: true });
    for (const sequence of [6, 1000, 0, -1]) {
      const copy = { ...(await eventAt(5)), sequence };
      await latchkey.storage.db.insertInto("events").values(copy).execute();
      expect(await verdict()).toEqual(fault(sequence > 5 ? 6 : sequence, "added"));
      await latchkey.storage.db.deleteFrom("events").where("sequence", "=", sequence).execute();
    }
  });

  test("cannot cut off the end, if a witness has seen it", async () => {
    for (const name of ["one", "two", "three"]) await rename(name);
    const witnessed = await witness();
    await latchkey.storage.db.deleteFrom("events").where("sequence", ">", 3).execute();
    const { hash, latest_time } = await eventAt(3);
    await heads().set({ last_sequence: 3, last_hash: hash, latest_time }).execute();
    expect(await verdict(witnessed)).toEqual(fault(4, "removed"));
  });
});
