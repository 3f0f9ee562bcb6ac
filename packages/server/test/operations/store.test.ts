import { afterAll, beforeAll, expect, test } from "vitest";
import { updateApplicationKey } from "../../src/contract/application-keys.ts";
import { getStoreSettings } from "../../src/contract/realms.ts";
import { getStore, getStoreById, updateStore } from "../../src/contract/store.ts";
import { byOperator } from "../../src/events/event.ts";
import { newId } from "../../src/lib/ids.ts";
import { updateStoreAsOperator } from "../../src/stores/administer.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore(100);
});
afterAll(() => latchkey.close());

const put = (data: object) => store.call(updateStore, { json: { data: { type: "store", ...data } } });

test("a store › 200 with the caller's own store", async () => {
  const { body } = await store.call(getStore);
  expect(body.data).toMatchObject({ id: store.store.id, name: "Test store", rate_limit: 100 });
});

test("a store › 200 by the id in the settings; 404 for another store's, as for an unknown id", async () => {
  const settings = (await store.call(getStoreSettings)).body.data;
  const byId = (id: string) => store.call(getStoreById, { ids: { id } });
  expect((await byId(settings.id)).body).toEqual((await store.call(getStore)).body);
  const another = await latchkey.createStore(100);
  for (const id of [another.store.id, newId(), "not-an-id"])
    expect((await byId(id)).code).toBe("store_not_found");
});

test("a store › 200 changes name or limit, and keeps the other", async () => {
  expect((await put({ name: "Renamed" })).body.data).toMatchObject({ name: "Renamed", rate_limit: 100 });
  const { body } = await put({ rate_limit: 80 });
  expect(body.data).toMatchObject({ name: "Renamed", rate_limit: 80, meta: { max_rate_limit: 100 } });
  expect(Date.parse(body.meta.effective_by) - latchkey.clock.now()).toBe(1000);
});

test("a store › 409 for another store's id in the body; the own id or an empty one is fine", async () => {
  const staging = await latchkey.createStore(100);
  const { data } = (await staging.call(getStore)).body;
  const { data: before } = (await store.call(getStore)).body;
  expect((await put({ ...data, name: "Staging" })).code).toBe("id_mismatch");
  expect((await store.call(getStore)).body.data).toEqual(before);
  for (const id of [before.id, "", null]) expect((await put({ id })).status).toBe(200);
});

test("a store › 422 for a limit above the operator's ceiling, by default the limit at creation", async () => {
  const made = await latchkey.createStore(100);
  const change = (data: object) => made.call(updateStore, { json: { data: { type: "store", ...data } } });
  const answer = await change({ name: "Too large", rate_limit: 101 });
  expect([answer.status, answer.code]).toEqual([422, "store_limit_above_ceiling"]);
  expect(answer.body.errors[0]).toMatchObject({
    source: { pointer: "/data/rate_limit" },
    meta: { max_rate_limit: 100 },
  });
  expect((await change({ rate_limit: 40 })).status).toBe(200);
  expect((await change({ rate_limit: 100 })).status).toBe(200);
  expect((await made.call(getStore)).body.data).toMatchObject({ name: "Test store", rate_limit: 100 });
});

test.each([
  ["a ceiling of its own", { max_rate_limit: 300 }, [100, 300]],
  ["a limit above the ceiling raises it, too", { rate_limit: 400 }, [400, 400]],
  ["a lower limit leaves the ceiling", { rate_limit: 50 }, [50, 100]],
  ["a ceiling and a limit below it", { rate_limit: 20, max_rate_limit: 30 }, [20, 30]],
  ["a name alone", { name: "Shop" }, [100, 100]],
])("the operator sets the ceiling: %s", async (_, change, [rateLimit, maxRateLimit]) => {
  const made = await latchkey.createStore(100);
  await updateStoreAsOperator(latchkey, byOperator(made.store.id), change);
  const { body } = await made.call(getStore);
  expect(body.data).toMatchObject({ rate_limit: rateLimit, meta: { max_rate_limit: maxRateLimit } });
});

test("the operator cannot set the ceiling below the limit", async () => {
  const made = await latchkey.createStore(100);
  for (const change of [{ max_rate_limit: 99 }, { rate_limit: 50, max_rate_limit: 49 }])
    await expect(updateStoreAsOperator(latchkey, byOperator(made.store.id), change)).rejects.toThrow(
      expect.objectContaining({ code: "store_limit_above_ceiling" }),
    );
});

test("a store of the release before keeps its limit as ceiling when the limit is lowered", async () => {
  const made = await latchkey.createStore(100);
  await latchkey.storage.db
    .updateTable("stores")
    .set({ max_rate_limit: null })
    .where("id", "=", made.store.id)
    .execute();
  const { body } = await made.call(updateStore, { json: { data: { type: "store", rate_limit: 10 } } });
  expect(body.data).toMatchObject({ rate_limit: 10, meta: { max_rate_limit: 100 } });
});

test("a store › 409 for a limit below the reservations, with their sum", async () => {
  const data = { type: "application_key", name: "Reserving", reserved_rate_limit: 50 };
  await store.call(updateApplicationKey, { ids: { id: store.key.id }, json: { data } });
  const answer = await put({ name: "Too small", rate_limit: 49 });
  expect([answer.status, answer.code]).toEqual([409, "store_limit_below_reservations"]);
  expect(answer.body.errors[0].meta).toEqual({ total_reserved_rate_limit: 50 });
  expect((await store.call(getStore)).body.data.name).toBe("Renamed");
  expect((await put({ rate_limit: 50 })).status).toBe(200);
});

test.each([0, -1, 1.5, "100", null, 1_000_001])("a store › 400 for rate_limit %j", async (rateLimit) => {
  expect((await put({ rate_limit: rateLimit })).status).toBe(400);
});
