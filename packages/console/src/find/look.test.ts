import { type Admin, ApiError, type EventQuery, type ListQuery } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { look } from "./look.ts";

/** An `Admin` with the given parts. Other lists are empty, and other ids are 404. */
function adminWith(given: { [Part in keyof Admin]?: object }): Admin {
  const nowhere = async () => {
    throw new ApiError("customer_not_found", "There is none.", { status: 404 });
  };
  const none = { list: async () => ({ data: [] }), get: nowhere };
  const parts = { signOns: none, customers: none, applicationKeys: none, events: none };
  return { ...parts, ...given } as unknown as Admin;
}

const ID = "01890000-0000-7000-8000-000000000000";

test("a client id finds its key with one request, for any number of keys", async () => {
  const list = async ({ filter }: ListQuery) => ({
    data: filter === "eq(client_id,lkid_249)" ? [{ id: "249" }] : [],
  });
  const found = await look(adminWith({ applicationKeys: { list } }), {
    kind: "client_id",
    clientId: "lkid_249",
  });
  expect(found.keys.map(({ id }) => id)).toEqual(["249"]);
});

test("a customer's id also finds the customer's events, newest first", async () => {
  const customer = { id: ID, name: "Ada" };
  const happened = [
    { id: "created", sequence: "3" },
    { id: "updated", sequence: "9" },
  ];
  const admin = adminWith({
    customers: { get: async () => ({ data: customer }) },
    events: {
      list: async ({ filter }: EventQuery) => ({ data: filter === `eq(subject,${ID})` ? happened : [] }),
    },
  });
  const found = await look(admin, { kind: "id", id: ID });
  expect(found.customers).toEqual([customer]);
  expect(found.events.map(({ id }) => id)).toEqual(["updated", "created"]);
});

test("a subject with very many events shows the latest events", async () => {
  const all = Array.from({ length: 300 }, (_, at) => ({ id: `e${at + 1}`, sequence: `${at + 1}` }));
  const list = async ({ filter, after = "0", limit = 25 }: EventQuery) => {
    if (filter?.startsWith("eq(request_id")) return { data: [] };
    const data = all.slice(Number(after), Number(after) + limit);
    const next = Number(after) + limit < 300 ? { after: data.at(-1)?.sequence } : undefined;
    return { data, lastSequence: "300", next };
  };
  const found = await look(adminWith({ events: { list } }), { kind: "id", id: ID });
  expect(found.events.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, at) => `e${300 - at}`));
});

test("with too many names to search, a reference and names that begin with the words are found", async () => {
  const list = async ({ filter }: ListQuery) => {
    if (filter === "like(name,*ada*)") throw new ApiError("filter_too_wide", "Too many.", { status: 422 });
    const [id] = { "like(name,ada*)": ["named"], "eq(external_ref,ada)": ["referred"] }[filter ?? ""] ?? [];
    return { data: id ? [{ id }] : [] };
  };
  const found = await look(adminWith({ customers: { list } }), { kind: "words", words: "ada" });
  expect(found.customers.map(({ id }) => id)).toEqual(["referred", "named"]);
});
