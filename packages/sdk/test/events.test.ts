import { beforeEach, expect, test } from "vitest";
import type { Admin, Event } from "../src/admin/index.ts";
import { errorOf, openAdmin, openShop, type Shop } from "./support/shop.ts";

let shop: Shop;
let admin: Admin;
beforeEach(async () => {
  shop = await openShop();
  admin = openAdmin(shop);
  await shop.f.latchkey.app.tidy();
});

const rename = async (name: string) => {
  await admin.store.update({ name });
  await shop.f.latchkey.app.tidy();
};

test("list gives a page, and `next` keeps the filter and the types", async () => {
  for (const name of ["one", "two", "three"]) await rename(name);
  const first = await admin.events.list({ types: ["store.*"], limit: 2 });
  expect(first.data.map(({ type }) => type)).toEqual(["store.updated", "store.updated"]);
  expect(first.next).toEqual({ types: ["store.*"], limit: 2, after: first.data[1]?.sequence });
  const second = await admin.events.list(first.next);
  expect([second.data.length, second.next]).toEqual([1, undefined]);
  expect(second.data[0]?.sequence).toBe(second.lastSequence);
  const none = await admin.events.list({ filter: "eq(subject,nobody)" });
  expect(none.data).toEqual([]);
});

test("follow gives existing and then new events, each once and in order, and sleeps between polls", async () => {
  const seen: Event[] = [];
  const { sequence } = await admin.events.head();
  await rename("one");
  shop.slept.length = 0;
  for await (const event of admin.events.follow({ after: sequence, everyMs: 700 })) {
    seen.push(event);
    if (seen.length === 3) break;
    await rename(`after ${seen.length}`);
  }
  expect(seen.map((event) => Number(event.sequence) - Number(sequence))).toEqual([1, 2, 3]);
  expect(shop.slept).toEqual([700, 700]);
});

test("stream gives each event after `after` as it happens, and ends with the signal", async () => {
  const { sequence } = await admin.events.head();
  await rename("one");
  const ending = new AbortController();
  const seen: Event[] = [];
  for await (const event of admin.events.stream({ after: sequence, signal: ending.signal })) {
    seen.push(event);
    if (seen.length === 2) break;
    await rename("two");
  }
  expect(seen.map(({ type }) => type)).toEqual(["store.updated", "store.updated"]);
  expect(seen.map((event) => Number(event.sequence) - Number(sequence))).toEqual([1, 2]);
});

test("a refused stream throws an ApiError; after a 401 it fetches a new token once", async () => {
  const refused = await errorOf(openAdmin(shop, { clientSecret: "lksk_cut-off" }).events.stream().next());
  expect(refused).toMatchObject({ code: "client_secret_mistyped", status: 401 });
  const slow = openAdmin(shop, { now: () => 0 });
  await slow.store.get();
  shop.f.latchkey.clock.advance(3_600_001);
  const { sequence } = await admin.events.head();
  await rename("again");
  const first = await slow.events.stream({ after: sequence }).next();
  expect(first.value?.type).toBe("store.updated");
});

/** A `fetch` whose answer sends events until the signal, or an error, ends it. */
function openCut() {
  let cut = (_: Error) => {};
  const fetch = async (url: string, init: RequestInit) => {
    if (!url.includes("/stream")) return shop.fetch(url, init);
    init.signal?.throwIfAborted();
    const body = new ReadableStream({
      start(controller) {
        cut = (error) => controller.error(error);
        init.signal?.addEventListener("abort", () => cut(init.signal?.reason));
      },
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: {"sequence":"7"}\n\n')),
    });
    return new Response(body);
  };
  return { cut: (error: Error) => cut(error), events: openAdmin(shop, { fetch }).events };
}

test.each([
  ["before it begins", 0],
  ["while it runs", 1],
])("a stream whose signal is aborted %s ends without an error", async (_, count) => {
  const ending = new AbortController();
  const stream = openCut().events.stream({ signal: ending.signal });
  for (let event = 0; event < count; event++) expect((await stream.next()).value?.sequence).toBe("7");
  ending.abort();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test("a stream that breaks off throws an ApiError", async () => {
  const { cut, events } = openCut();
  const stream = events.stream();
  await stream.next();
  cut(new TypeError("terminated"));
  expect(await errorOf(stream.next())).toMatchObject({ name: "ApiError", code: "network_failed" });
});

test("reading events that are no longer kept throws events_gone", async () => {
  const { db } = shop.f.latchkey.storage;
  await db.updateTable("event_heads").set({ first_sequence: 3 }).execute();
  const error = await errorOf(admin.events.follow({ after: "0" }).next());
  expect(error).toMatchObject({ code: "events_gone", status: 410 });
});

test("a customer is erased", async () => {
  const { data } = await admin.customers.create({ name: "Grace", email: "grace@shop.example" });
  const erased = await admin.customers.erase(data.id);
  expect(erased.data).toEqual({ type: "customer-erasure", id: data.id, events: 1, complete: true });
});
