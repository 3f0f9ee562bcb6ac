import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { getEventHead, listEvents } from "../../src/contract/events.ts";
import { jwks } from "../../src/contract/sign-on.ts";
import { updateStore } from "../../src/contract/store.ts";
import { byService, EVENT_TYPES } from "../../src/events/event.ts";
import { noteEvents } from "../../src/events/note.ts";
import { listEvents as readEvents } from "../../src/events/read.ts";
import { canonicalJson } from "../../src/lib/canonical-json.ts";
import { toIso } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { type Answer, call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { readLog, typesOf } from "../support/log.ts";
import { watchStatements } from "../support/statements.ts";

const publicUrl = "https://keys.example";
const readerOf = (storeId: string) => ({ storeId, role: "administrator" as const });

describe.each(engines)("the list of events on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;
  let start: number;
  let all: Answer["body"][];

  beforeEach(({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
  });
  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
    store = await latchkey.createStore();
    start = latchkey.clock.now();
    for (let at = 0; at < 5; at++) {
      latchkey.clock.advance(1000);
      const person = { type: "customer", name: `n${at}`, email: `a${at}@shop.example` };
      const { body } = await store.call(createCustomer, { json: { data: person } });
      const change = { type: "customer", name: `m${at}` };
      await store.call(updateCustomer, { ids: { id: body.data.id }, json: { data: change } });
    }
    await store.call(updateStore, { json: { data: { type: "store", name: "Renamed" } } });
    all = await readLog(latchkey, store);
  });
  afterAll(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const list = async (query: string) => (await store.call(listEvents, { query })).body;

  test("200: every event, oldest first, numbered from 1 without a gap", async () => {
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, at) => String(at + 1)));
    expect(typesOf(all).slice(0, 4)).toEqual([
      "application_key.created",
      "authentication_realm.created",
      "customer.created",
      "customer.updated",
    ]);
    expect(all).toHaveLength(13);
  });

  test("the changes of one request are found by its request id, and by no other", async () => {
    const ownDatabase = await engine.create();
    const own = await createTestApp({ databaseUrl: ownDatabase.url });
    // Request ids contain the time of the machine's clock.
    own.clock.set(Date.now());
    const shop = await own.createStore();
    const rename = (name: string) => shop.call(updateStore, { json: { data: { type: "store", name } } });
    const of = async (id: string | null) =>
      (await shop.call(listEvents, { query: `filter=eq(request_id,${id})` })).body.data;
    const { headers } = await rename("Found");
    own.clock.advance(60_000);
    await rename("Other");
    own.clock.advance(600_000);
    await rename("Much later");
    await readLog(own, shop);
    expect(await of(headers.get("x-request-id"))).toMatchObject([
      { type: "store.updated", data: { resource: { name: "Found" } } },
    ]);
    for (const nothing of [newId(), "nonsense"]) expect(await of(nothing)).toEqual([]);
    own.clock.set(Date.now());
    const { headers: later } = await rename("After the clock was set right");
    const { length } = await readLog(own, shop);
    // The number of events that a page reads first: the last of them is of the time when the clock was ahead.
    const query = `filter=eq(request_id,${later.get("x-request-id")})&page[limit]=${length - 2}`;
    expect((await shop.call(listEvents, { query })).body).toMatchObject({
      data: [{ data: { resource: { name: "After the clock was set right" } } }],
      links: { next: null },
    });
    await own.close();
    await ownDatabase.drop();
  });

  test("each event's digest and hash can be recomputed by a reader (wire 16)", () => {
    const sha256 = (...parts: (string | Buffer)[]) =>
      createHash("sha256")
        .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
        .digest("base64url");
    let before = "";
    for (const { hash, data, salt, ...attributes } of all) {
      expect(attributes.digest).toBe(sha256(Buffer.from(salt, "base64url"), canonicalJson(data)));
      expect(attributes.previoushash).toBe(before);
      expect(hash).toBe(sha256(canonicalJson(attributes)));
      before = hash;
    }
  });

  test("pages follow by links.next; the last one has the number to continue from", async () => {
    const seen: string[] = [];
    let query = "page[limit]=3";
    for (let pages = 0; pages < 5; pages++) {
      const { data, links, meta } = await list(query);
      expect(data.length).toBeLessThanOrEqual(3);
      expect(meta.last_sequence).toBe("13");
      seen.push(...data.map(({ sequence }: { sequence: string }) => sequence));
      if (links.next === null) break;
      query = links.next.slice(links.next.indexOf("?") + 1);
    }
    expect(seen).toEqual(all.map(({ sequence }) => sequence));
    expect(await list("after=13")).toMatchObject({ data: [], links: { next: null } });
    expect((await list("after=99")).data).toEqual([]);
  });

  test.each([
    ["types=customer.created", (type: string) => type === "customer.created"],
    ["types=customer.*,store.updated", (type: string) => /^customer\.|^store/.test(type)],
    ["types=customer_token.*", () => false],
    ["types=member.*", () => false],
    ["filter=eq(type,customer.updated)", (type: string) => type === "customer.updated"],
    ["types=customer.*&filter=eq(type,customer.updated)", (type: string) => type === "customer.updated"],
    ["types=store.*&filter=eq(type,customer.updated)", () => false],
  ])("%s", async (query, isMeant) => {
    const meant = all.filter(({ type }) => isMeant(type));
    expect(await readLog(latchkey, store, query)).toEqual(meant);
    expect((await list(`${query}&page[limit]=1`)).data).toEqual(meant.slice(0, 1));
  });

  /** The same storage; the test sees the answers before the caller. */
  const seeing = (onRows: (rows: readonly object[]) => Promise<void> | void): Storage => ({
    ...latchkey.storage,
    db: latchkey.storage.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        await onRows(result.rows as object[]);
        return result;
      },
    }),
  });

  test("many types cost one page of reading, not one page for each type", async () => {
    let read = 0;
    const storage = seeing((rows) => {
      read += rows.filter((row) => "data" in row).length;
    });
    const asked = { types: [...EVENT_TYPES], "page[limit]": 3 };
    const { data } = await readEvents({ storage, publicUrl }, readerOf(store.store.id), asked);
    expect(data.map(({ sequence }) => sequence)).toEqual(["1", "2", "3"]);
    expect(read).toBe(4);
  });

  test("a page that retention shortens while it is read is not the last page", async () => {
    const { store: other } = await latchkey.createStore();
    const by = byService(other.id);
    const about = { subject: other.id, resource: { type: "store", id: other.id } };
    const { storage, clock } = latchkey;
    for (let at = 0; at < 6; at++)
      await storage.transact((trx) => noteEvents(trx, { clock }, by, [{ type: "store.updated", ...about }]));
    await latchkey.app.tidy();
    let isTaken = false;
    const losing = seeing(async (rows) => {
      if (isTaken || !rows.some((row) => "sequence" in row && !("data" in row))) return;
      isTaken = true;
      const old = storage.db.deleteFrom("events").where("store_id", "=", other.id);
      await old.where("sequence", "<=", 4).execute();
    });
    const asked = { types: ["store.updated", "application_key.created"], "page[limit]": 2 };
    const { data, links } = await readEvents({ storage: losing, publicUrl }, readerOf(other.id), asked);
    expect([isTaken, data.map(({ sequence }) => sequence)]).toEqual([true, ["5", "6"]]);
    expect(links.next).toContain("?after=6&");
  });

  test("filter by subject and by actor", async () => {
    const { subject } = all[4];
    const of = all.filter((event) => event.subject === subject);
    expect(await readLog(latchkey, store, `filter=eq(subject,${subject})`)).toEqual(of);
    expect(of).toHaveLength(2);
    const byKey = all.filter(({ data }) => data.actor.id === store.key.id);
    expect(await readLog(latchkey, store, `filter=eq(actor,${store.key.id})`)).toEqual(byKey);
    expect(byKey).toHaveLength(11);
    const both = `filter=eq(actor,${store.key.id}):eq(subject,${subject})&types=customer.updated`;
    expect(typesOf(await readLog(latchkey, store, both))).toEqual(["customer.updated"]);
  });

  test.each([
    ["ge", 2000, (time: number) => time >= 2000],
    ["gt", 2000, (time: number) => time > 2000],
    ["eq", 3000, (time: number) => time === 3000],
    ["le", 1000, (time: number) => time <= 1000],
    ["lt", 1000, (time: number) => time < 1000],
    ["ge", 99_000, () => false],
  ])("filter=%s(time,+%i ms)", async (operator, ms, isMeant) => {
    const found = await readLog(latchkey, store, `filter=${operator}(time,${toIso(start + ms)})`);
    expect(found).toEqual(all.filter(({ time }) => isMeant(Date.parse(time) - start)));
  });

  test("a filter that few of many events match gives short pages with a next link, not one long wait", async () => {
    const { storage, clock } = latchkey;
    const other = await latchkey.createStore();
    const by = byService(other.store.id);
    const many = Array.from({ length: 6000 }, (_, at) => ({
      type: "store.updated" as const,
      subject: `${at}`,
      resource: { type: "store", id: "x" },
    }));
    await storage.transact((trx) => noteEvents(trx, { clock }, by, many));
    clock.advance(10_000);
    await other.call(updateStore, { json: { data: { type: "store", name: "The last" } } });
    await latchkey.app.tidy();
    const query = `filter=eq(subject,${other.store.id}):eq(type,store.updated)`;
    expect(await readLog(latchkey, other, query)).toHaveLength(1);
    const atEnd = `filter=lt(time,${toIso(clock.now())}):eq(type,store.updated):gt(time,${toIso(start - 1)})`;
    expect(await readLog(latchkey, other, atEnd)).toHaveLength(6000);
    // No event is so old: the page ends at a bound of the search, and its link continues from there.
    const tooOld = `filter=lt(time,${toIso(start - 5000)})`;
    const first = (await other.call(listEvents, { query: tooOld })).body;
    expect([first.data, typeof first.links.next]).toEqual([[], "string"]);
    expect(await readLog(latchkey, other, tooOld)).toEqual([]);
  });

  test("events of other types are skipped in few statements, however short the page and whatever the types (T38)", async () => {
    const { storage, clock } = latchkey;
    const other = await latchkey.createStore();
    const many = Array.from({ length: 1000 }, () => ({
      type: "store.updated" as const,
      subject: "x",
      resource: { type: "store", id: "x" },
    }));
    await storage.transact((trx) => noteEvents(trx, { clock }, byService(other.store.id), many));
    await latchkey.app.tidy();
    let statements = 0;
    const watched = { storage: watchStatements(storage, () => void statements++), publicUrl };
    const asked = {
      types: ["store.updated", "customer.*"],
      filter: [{ field: "time", operator: "lt", value: 0 } as const],
      "page[limit]": 1,
    };
    expect((await readEvents(watched, readerOf(other.store.id), asked)).data).toEqual([]);
    // Two statements for a hundred events: their numbers, and their rows.
    expect(statements).toBeLessThan(30);
  });

  test("400 for unknown types and invalid numbers", async () => {
    for (const query of [
      "after=-1",
      "after=x",
      "types=customer",
      "types=a.b,",
      "filter=eq(data,x)",
      "page[limit]=101",
    ])
      expect((await store.call(listEvents, { query })).code, query).toBe("parameter_invalid");
  });

  test("another store has its own log, without these events", async () => {
    const other = await latchkey.createStore();
    const events = await readLog(latchkey, other);
    expect(typesOf(events)).toEqual(["application_key.created", "authentication_realm.created"]);
    expect(events[0].sequence).toBe("1");
    latchkey.clock.advance(60_000);
    const person = { type: "customer", name: "Theirs", email: "theirs@shop.example" };
    await other.call(createCustomer, { json: { data: person } });
    await latchkey.app.tidy();
    const query = `filter=ge(time,${toIso(latchkey.clock.now())})`;
    expect(typesOf((await other.call(listEvents, { query })).body.data)).toEqual(["customer.created"]);
    expect((await list(query)).data).toEqual([]);
  });

  test("the head is signed by a key of the published key set, over store, both ends and time", async () => {
    const { body } = await store.call(getEventHead);
    const ends = { sequence: "13", hash: all[12].hash, first_sequence: "1", forgotten_hash: "" };
    expect(body.data).toMatchObject(ends);
    const [header = "", payload = "", signature = ""] = body.data.signature.split(".");
    const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(decode(payload)).toEqual({
      store: store.store.id,
      ...ends,
      time: toIso(latchkey.clock.now()),
    });
    const { keys } = (await call(latchkey.app, jwks)).body;
    const jwk = keys.find(({ kid }: { kid: string }) => kid === decode(header).kid);
    const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
    const signed = Buffer.from(`${header}.${payload}`);
    expect(await crypto.subtle.verify(algorithm, key, Buffer.from(signature, "base64url"), signed)).toBe(
      true,
    );
    const empty = await latchkey.createStore();
    expect((await empty.call(getEventHead)).body.data).toMatchObject({ sequence: "0", hash: "" });
  });
});
