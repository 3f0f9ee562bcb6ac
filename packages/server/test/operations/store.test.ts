import { afterAll, beforeAll, expect, test } from "vitest";
import { updateApplicationKey } from "../../src/contract/application-keys.ts";
import { getStore, updateStore } from "../../src/contract/store.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore(100);
});
afterAll(() => latchkey.close());

const put = (data: object) => store.call(updateStore, { json: { data: { type: "store", ...data } } });

test("200 gets the caller's own store", async () => {
  const { body } = await store.call(getStore);
  expect(body.data).toMatchObject({ id: store.store.id, name: "Test store", rate_limit: 100 });
});

test("200 changes the name or the limit and keeps the other", async () => {
  expect((await put({ name: "Renamed" })).body.data).toMatchObject({ name: "Renamed", rate_limit: 100 });
  const { body } = await put({ rate_limit: 120 });
  expect(body.data).toMatchObject({ name: "Renamed", rate_limit: 120 });
  expect(Date.parse(body.meta.effective_by) - latchkey.clock.now()).toBe(1000);
});

test("409 for a limit below what is reserved, with the figure, and nothing changes", async () => {
  const data = { type: "application_key", name: "Reserving", reserved_rate_limit: 50 };
  await store.call(updateApplicationKey, { ids: { id: store.key.id }, json: { data } });
  const answer = await put({ name: "Too small", rate_limit: 49 });
  expect([answer.status, answer.code]).toEqual([409, "store_limit_below_reservations"]);
  expect(answer.body.errors[0].meta).toEqual({ total_reserved_rate_limit: 50 });
  expect((await store.call(getStore)).body.data.name).toBe("Renamed");
  expect((await put({ rate_limit: 50 })).status).toBe(200);
});

test.each([0, -1, 1.5, "100", null, 1_000_001])("400 for rate_limit %j", async (rateLimit) => {
  expect((await put({ rate_limit: rateLimit })).status).toBe(400);
});
