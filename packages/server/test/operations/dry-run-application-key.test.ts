import { afterAll, beforeEach, expect, test } from "vitest";
import { findPlannedKeys } from "../../src/application-keys/application-key.ts";
import { dryRun as playHour } from "../../src/application-keys/dry-run.ts";
import {
  createApplicationKey,
  dryRunApplicationKey,
  getApplicationKey,
  updateApplicationKey,
} from "../../src/contract/application-keys.ts";
import { getStore } from "../../src/contract/store.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLimiter } from "../../src/rate-limit/limiter.ts";
import { createUseLog } from "../../src/rate-limit/use-log.ts";
import { createTestApp, getToken, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { mostInOneTurn } from "../support/statements.ts";

const latchkey: TestApp = await createTestApp();
let store: TestStore;

beforeEach(async () => {
  store = await latchkey.createStore(100);
});
afterAll(() => latchkey.close());

const dryRun = (keyId: string, reserved?: number) =>
  store.call(dryRunApplicationKey, {
    ids: { id: keyId },
    json: {
      data: {
        type: "application_key",
        name: "n",
        ...(reserved !== undefined && { reserved_rate_limit: reserved }),
      },
    },
  });

test("a dry run › 200 with the requests of the last hour that each key would have been refused", async () => {
  const busy = (
    await store.call(createApplicationKey, { json: { data: { type: "application_key", name: "Busy" } } })
  ).body;
  const key = { id: busy.data.id, clientId: busy.data.client_id, clientSecret: busy.data.client_secret };
  const token = await getToken(latchkey.app, { store: store.store, key }, "client_credentials");
  for (let second = 0; second < 3; second++) {
    latchkey.clock.advance(1000);
    for (let i = 0; i < 60; i++) await call(latchkey.app, getStore, { token });
  }
  latchkey.clock.advance(5000);
  const { body } = await dryRun(store.key.id, 80);
  expect(body.data.shared_rate_limit).toEqual({ before: 100, after: 20 });
  expect(body.data.observed.seconds).toBeGreaterThanOrEqual(3);
  const verdict = body.data.keys.find((candidate: { id: string }) => candidate.id === key.id);
  expect(verdict).toMatchObject({ name: "Busy", asked: 180, refused: { before: 0, after: 120 } });
});

test("a dry run › 200 changes nothing", async () => {
  const before = (await store.call(getApplicationKey, { ids: { id: store.key.id } })).body.data;
  const { body } = await dryRun(store.key.id, 80);
  expect(body.data.keys[0].reserved_rate_limit).toEqual({ before: 0, after: 80 });
  expect((await store.call(getApplicationKey, { ids: { id: store.key.id } })).body.data).toEqual(before);
});

test("a dry run › 200 without a reservation compares the limits with themselves", async () => {
  const { body } = await dryRun(store.key.id);
  expect(body.data.shared_rate_limit).toEqual({ before: 100, after: 100 });
});

test("a dry run › requests older than an hour are not counted", async () => {
  for (let i = 0; i < 10; i++) await store.call(getStore);
  latchkey.clock.advance(3_601_000);
  const fresh = await store.token();
  const { body } = await call(latchkey.app, dryRunApplicationKey, {
    token: fresh,
    ids: { id: store.key.id },
    json: { data: { type: "application_key", name: "n" } },
  });
  expect(body.data.keys[0].asked).toBe(1);
});

test("a dry run › 409 for a reservation that the update would refuse", async () => {
  expect((await dryRun(store.key.id, 101)).code).toBe("reservation_exceeds_store_limit");
});

test("a dry run › 409 for another key's id in the body", async () => {
  const json = { data: { id: "x", type: "application_key", name: "n" } };
  expect((await store.call(dryRunApplicationKey, { ids: { id: store.key.id }, json })).code).toBe(
    "id_mismatch",
  );
});

test("a dry run › 404 for another store's key", async () => {
  const other = await latchkey.createStore();
  expect((await dryRun(other.key.id, 1)).code).toBe("application_key_not_found");
});

test("a dry run › 200 when the store's limit and a reservation rise during the dry run", async () => {
  const { storage, clock } = latchkey;
  const reserve = (id: string, name: string, reserved_rate_limit: number) =>
    store.call(updateApplicationKey, {
      ids: { id },
      json: { data: { type: "application_key", name, reserved_rate_limit } },
    });
  await reserve(store.key.id, "Tried", 40);
  const data = { type: "application_key", name: "Busy" };
  const busy = (await store.call(createApplicationKey, { json: { data } })).body.data.id;
  let reads = 0;
  const db = storage.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (++reads !== 1) return result;
      const of = storage.db.updateTable("stores").where("id", "=", store.store.id);
      await of.set({ rate_limit: 200, max_rate_limit: 200 }).execute();
      await reserve(busy, "Busy", 150);
      return result;
    },
  });
  const useLog = createUseLog();
  const { publicUrl } = latchkey;
  const deps = {
    publicUrl,
    storage: { ...storage, db },
    clock,
    useLog,
    limiter: createLimiter({ clock, useLog }),
  };
  const change = { name: "Tried", reserved_rate_limit: 1 };
  const { data: played } = await playHour(deps, store.store.id, store.key.id, change);
  expect(played.shared_rate_limit).toEqual({ before: 60, after: 99 });
});

test("a dry run › keys are looked up in batches, and other requests run in between", async () => {
  const ids = Array.from({ length: 2000 }, newId);
  const most = await mostInOneTurn(latchkey.storage, (watched) =>
    findPlannedKeys(watched, store.store.id, ids),
  );
  expect(most).toBe(1);
});

test("a busy hour is played in batches, and other requests run in between", async () => {
  const { storage, clock, publicUrl } = latchkey;
  const useLog = createUseLog();
  const deps = { publicUrl, storage, clock, useLog, limiter: createLimiter({ clock, useLog }) };
  const second = Math.floor(clock.monotonicMs() / 1000);
  for (let ago = 1; ago <= 40; ago++)
    for (let at = 0; at < 1000; at++) useLog.add(store.store.id, `key ${at}`, second - ago, 1);
  let turns = 0;
  const onTurn = () => {
    turns++;
    turning = setImmediate(onTurn);
  };
  let turning = setImmediate(onTurn);
  await playHour(deps, store.store.id, store.key.id, { name: "Tried", reserved_rate_limit: 1 });
  clearImmediate(turning);
  // 40,000 entries are read, then played, in batches of 2,000.
  expect(turns).toBeGreaterThanOrEqual(38);
});
