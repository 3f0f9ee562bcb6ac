import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createApplicationKey,
  getApplicationKey,
  updateApplicationKey,
} from "../../src/contract/application-keys.ts";
import { createTestApp, PUBLIC_URL, type TestApp, type TestStore } from "../support/app.ts";

let latchkey: TestApp;
let store: TestStore;
let other: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore();
  other = await latchkey.createStore();
});
afterAll(() => latchkey.close());

const put = (keyId: string, data: unknown, by: TestStore = store) =>
  by.call(updateApplicationKey, { ids: { id: keyId }, json: { data } });

const newKey = async (reserved = 0) => {
  const json = { data: { type: "application_key", name: "Before", reserved_rate_limit: reserved } };
  const { body } = await store.call(createApplicationKey, { json });
  return body.data as { id: string; client_id: string; meta: { timestamps: { created_at: string } } };
};

const read = async (keyId: string, by: TestStore = store) => {
  const { body } = await by.call(getApplicationKey, { ids: { id: keyId } });
  return body.data;
};

test("an update of an application key › 200 sets name and reserved rate limit (seed 4.5)", async () => {
  const key = await newKey();
  latchkey.clock.advance(5);
  const { status, body } = await put(key.id, {
    type: "application_key",
    name: "After",
    reserved_rate_limit: 20,
  });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    id: key.id,
    type: "application_key",
    name: "After",
    client_id: key.client_id,
    reserved_rate_limit: 20,
  });
  expect(body.data.meta.timestamps.updated_at > body.data.meta.timestamps.created_at).toBe(true);
  expect(body.links.self).toBe(`${PUBLIC_URL}/v2/application-keys/${key.id}`);
  expect(await read(key.id)).toEqual(body.data);
});

test("an update of an application key › 200 keeps the reservation when the body has none (seed 4.5)", async () => {
  const key = await newKey(7);
  const { body } = await put(key.id, { type: "application_key", name: "Renamed" });
  expect(body.data).toMatchObject({ name: "Renamed", reserved_rate_limit: 7 });
});

test("an update of an application key › 200 for a reservation of 0, which returns the rest to the store", async () => {
  const key = await newKey(3);
  expect((await put(key.id, { type: "application_key", name: "n", reserved_rate_limit: 0 })).status).toBe(
    200,
  );
  expect((await read(key.id)).reserved_rate_limit).toBe(0);
});

test("an update of an application key › 200 with the time by which the reservation holds everywhere: within a second", async () => {
  const key = await newKey();
  const { body } = await put(key.id, { type: "application_key", name: "n", reserved_rate_limit: 1 });
  expect(Date.parse(body.meta.effective_by) - latchkey.clock.now()).toBe(1000);
});

test("updated_at grows with every change, even when the clock goes back (I8)", async () => {
  const key = await newKey();
  const first = (await put(key.id, { type: "application_key", name: "a" })).body.data.meta.timestamps
    .updated_at;
  latchkey.clock.set(latchkey.clock.now() - 60_000);
  const second = (await put(key.id, { type: "application_key", name: "b" })).body.data.meta.timestamps
    .updated_at;
  latchkey.clock.set(latchkey.clock.now() + 60_000);
  expect(second > first).toBe(true);
});

test("an update of an application key › 200 ignores read-only and unknown members (wire 1)", async () => {
  const key = await newKey();
  const { status, body } = await put(key.id, {
    id: "",
    type: "application_key",
    name: "n",
    client_id: "lkid_mine",
    client_secret: "lksk_mine",
    meta: { timestamps: { created_at: "1970-01-01T00:00:00.000Z" } },
    relationships: null,
    colour: "red",
  });
  expect(status).toBe(200);
  expect(body.data.client_id).toBe(key.client_id);
  expect(body.data.meta.timestamps.created_at).toBe(key.meta.timestamps.created_at);
});

test("an update of an application key › 200 with the key's own id in the body; 409 for any other (T33)", async () => {
  const key = await newKey();
  expect((await put(key.id, { id: key.id, type: "application_key", name: "same" })).status).toBe(200);
  const before = await read(key.id);
  for (const id of [other.key.id, "x", 7]) {
    const answer = await put(key.id, { id, type: "application_key", name: "other" });
    expect([answer.status, answer.code]).toEqual([409, "id_mismatch"]);
  }
  expect(await read(key.id)).toEqual(before);
});

test.each([
  ["no name", { type: "application_key" }, "/data/name", "member_missing"],
  ["no type", { name: "n" }, "/data/type", "member_missing"],
  ["another type", { type: "customer", name: "n" }, "/data/type", "member_invalid"],
  ["an empty name", { type: "application_key", name: "" }, "/data/name", "member_invalid"],
  ["a blank name", { type: "application_key", name: "  " }, "/data/name", "member_invalid"],
  [
    "a name of 256 characters",
    { type: "application_key", name: "n".repeat(256) },
    "/data/name",
    "member_invalid",
  ],
  ["a name of 10 KB", { type: "application_key", name: "n".repeat(10_240) }, "/data/name", "member_invalid"],
  ["a line break in the name", { type: "application_key", name: "a\nb" }, "/data/name", "member_invalid"],
  ["a NUL in the name", { type: "application_key", name: "a\u0000b" }, "/data/name", "member_invalid"],
  ["a number as name", { type: "application_key", name: 7 }, "/data/name", "member_invalid"],
  ["null as name", { type: "application_key", name: null }, "/data/name", "member_invalid"],
])(
  "an update of an application key › 400 for %s, with a pointer (T33, seed 4.5)",
  async (_, data, pointer, code) => {
    const key = await newKey(2);
    const before = await read(key.id);
    const answer = await put(key.id, data);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toHaveLength(1);
    expect(answer.body.errors[0]).toMatchObject({ code, source: { pointer } });
    expect(await read(key.id)).toEqual(before);
  },
);

test.each([[-1], [1.5], ["10"], [1e9], [null], [true], [2 ** 53], [[]], [{}]])(
  "an update of an application key › 400 for reserved_rate_limit %j: values are not coerced (T43)",
  async (reserved) => {
    const key = await newKey(2);
    const before = await read(key.id);
    const answer = await put(key.id, { type: "application_key", name: "n", reserved_rate_limit: reserved });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].source.pointer).toBe("/data/reserved_rate_limit");
    expect(await read(key.id)).toEqual(before);
  },
);

test.each([
  [1e20, "`reserved_rate_limit`: expected at most 1000000."],
  [-1e20, "`reserved_rate_limit`: expected at least 0."],
  [1.5, "`reserved_rate_limit`: expected a value of type integer."],
])(
  "an update of an application key › 400 for reserved_rate_limit %j with one error and the bound",
  async (reserved, detail) => {
    const { body } = await put(store.key.id, {
      type: "application_key",
      name: "n",
      reserved_rate_limit: reserved,
    });
    expect(body.errors.map((error: { detail: string }) => error.detail)).toEqual([detail]);
  },
);

test("an update of an application key › 400 with all faults at once", async () => {
  const { body } = await put(store.key.id, { type: "x", name: "", reserved_rate_limit: -1 });
  expect(body.errors.map((error: { source: { pointer: string } }) => error.source.pointer).sort()).toEqual([
    "/data/name",
    "/data/reserved_rate_limit",
    "/data/type",
  ]);
});

test("an update of an application key › 400 never repeats the sent value", async () => {
  const { body } = await put(store.key.id, {
    type: "<script>marker",
    name: "marker\u0007",
    reserved_rate_limit: "marker",
  });
  expect(JSON.stringify(body)).not.toContain("marker");
});

test("an update of an application key › 404 for an unknown key, and for another store's, which stays (T31)", async () => {
  const before = await read(other.key.id, other);
  const data = { type: "application_key", name: "taken", reserved_rate_limit: 1 };
  const foreign = await put(other.key.id, data);
  const unknown = await put("01890000-0000-7000-8000-000000000000", data);
  const { id: _a, ...foreignError } = foreign.body.errors[0];
  const { id: _b, ...unknownError } = unknown.body.errors[0];
  expect([foreign.status, unknown.status]).toEqual([404, 404]);
  expect(foreignError).toEqual(unknownError);
  expect(await read(other.key.id, other)).toEqual(before);
});

test("an update of an application key › 409 when all reservations would exceed the store's limit, with the figures", async () => {
  const small = await latchkey.createStore(100);
  await put(small.key.id, { type: "application_key", name: "first", reserved_rate_limit: 70 }, small);
  const { body } = await small.call(createApplicationKey, {
    json: { data: { type: "application_key", name: "second" } },
  });
  const answer = await put(
    body.data.id,
    { type: "application_key", name: "x", reserved_rate_limit: 31 },
    small,
  );
  expect(answer.status).toBe(409);
  expect(answer.body.errors[0]).toMatchObject({
    code: "reservation_exceeds_store_limit",
    source: { pointer: "/data/reserved_rate_limit" },
    meta: { rate_limit: 100, reserved_by_others: 70, most_reservable: 30 },
  });
  expect((await read(body.data.id, small)).name).toBe("second");
  const most = await put(
    body.data.id,
    { type: "application_key", name: "x", reserved_rate_limit: 30 },
    small,
  );
  expect(most.status).toBe(200);
});
