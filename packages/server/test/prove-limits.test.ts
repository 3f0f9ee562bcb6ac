import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApplicationKey } from "../src/application-keys/administer.ts";
import { listApplicationKeys } from "../src/application-keys/resource.ts";
import { deleteKeys, deleteLeftKeys } from "../src/cli/remote/proof-keys.ts";
import { agentFor, runProvers } from "../src/cli/remote/provers.ts";
import { byOperator } from "../src/events/event.ts";
import type { Storage } from "../src/storage/storage.ts";
import { createTestApp, type TestApp } from "./support/app.ts";
import { until } from "./support/until.ts";

/** A proof of the limits deletes the keys that it has created. The proof itself is in e2e/process/process.test.ts. */

let latchkey: TestApp;
let storeId: string;
beforeAll(async () => {
  latchkey = await createTestApp();
  storeId = (await latchkey.createStore()).store.id;
});
afterAll(() => latchkey.close());

const make = async (name: string) =>
  (await createApplicationKey(latchkey, byOperator(storeId), { name, reserved_rate_limit: 1 })).data.id;
const names = async () =>
  (await listApplicationKeys(latchkey, storeId, { limit: 100, offset: 0 })).data.map(({ name }) => name);

test("a key that was deleted meanwhile does not stop the deletion of the others", async () => {
  const keys = [await make("one"), await make("two"), await make("three")];
  expect(await deleteKeys(latchkey, storeId, keys.slice(0, 1))).toEqual([]);
  expect(await deleteKeys(latchkey, storeId, keys)).toEqual([]);
  expect(await names()).toEqual(["First key"]);
});

test("a key that cannot be deleted is named, and the others are deleted", async () => {
  const keys = [await make("one"), await make("two"), await make("three")];
  let times = 0;
  const storage: Storage = {
    ...latchkey.storage,
    transact: (work) =>
      ++times === 1 ? Promise.reject(new Error("database is locked")) : latchkey.storage.transact(work),
  };
  const { clock } = latchkey;
  expect(await deleteKeys({ storage, clock, publicUrl: "" }, storeId, keys)).toEqual([keys[0]]);
  expect(await names()).toEqual(["First key", "one"]);
});

test("keys of a killed proof are deleted by the next one; keys of a running proof, and other keys, stay", async () => {
  await make("prove-limits flood");
  const inUse = await make("prove-limits steady 1");
  await make("prove-limits of our own");
  latchkey.clock.advance(61_000);
  await make("prove-limits public");
  const { db } = latchkey.storage;
  const used = db.updateTable("application_keys").set({ last_used_at: latchkey.clock.now() });
  await used.where("id", "=", inUse).execute();
  await deleteLeftKeys(latchkey, storeId);
  expect(await names()).toEqual([
    "First key",
    "one",
    "prove-limits steady 1",
    "prove-limits of our own",
    "prove-limits public",
  ]);
});

describe("a service that stops answering", () => {
  let silent: Server;
  let url: string;
  beforeEach(async () => {
    silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  });
  afterEach(() => silent.close());

  const told = { key: "flood", from: "its program", reserved: 0, token: "x" };
  const provers = (...paces: (number | undefined)[]) =>
    paces.map((pace) => {
      // More keys than connections, so that some wait for a connection.
      return { ...told, pace, atOnce: 200, agent: agentFor(url), asked: 0, served: 0, refused: 0 };
    });

  test("does not delay an interrupted proof", async () => {
    const asking = provers(undefined, 1e6);
    const interrupted = new AbortController();
    const over = runProvers(url, asking, 600, interrupted.signal);
    await until(() => asking[1]?.asked === 200);
    interrupted.abort();
    await over;
    expect(asking.map(({ served }) => served)).toEqual([0, 0]);
  });

  test("ends the proof, with an explanation", async () => {
    const over = runProvers(url, provers(undefined, 1e6), 600, new AbortController().signal, 50);
    await expect(over).rejects.toThrow(`the service at ${url} stopped answering (silent for 0.05 s)`);
  });
});
