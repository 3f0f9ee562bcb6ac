import { afterEach, beforeEach, expect, test } from "vitest";
import { dryRunApplicationKey } from "../../src/contract/application-keys.ts";
import { listCustomers } from "../../src/contract/customers.ts";
import { metrics } from "../../src/contract/service.ts";
import { openValkey } from "../../src/counters/valkey.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { postgresEngine, type TestDatabase } from "../support/engines.ts";
import { silentLog } from "../support/silent-log.ts";
import { until } from "../support/until.ts";
import { hasValkey, NO_VALKEY, startValkey, type ValkeyServer } from "../support/valkey-server.ts";

/** Two instances of the whole service, on one PostgreSQL and one Valkey. */

let database: TestDatabase;
let server: ValkeyServer;
let clock: ReturnType<typeof handClock>;
let here: TestApp;
let there: TestApp;
let store: TestStore;
let closing: (() => Promise<unknown>)[];

beforeEach(async ({ skip }) => {
  closing = [];
  if (!hasValkey) skip(NO_VALKEY);
  if (!postgresEngine.isHere) skip("PostgreSQL is not installed");
  database = await postgresEngine.create();
  server = await startValkey();
  closing.push(database.drop, server.remove);
  clock = handClock(Date.now());
  here = await start();
  there = await start();
  store = await here.createStore(10);
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

async function start(): Promise<TestApp> {
  const nowMs = () => clock.monotonicMs();
  const log = silentLog;
  const valkey = await openValkey({ urls: [server.url], log, answerWithinMs: 30_000, nowMs });
  const app = await createTestApp({ databaseUrl: database.url, clock, valkey });
  closing.push(valkey.close, app.close);
  return app;
}

/** Calls both instances in turn, with an operation that is not administration. */
async function countServed(apps: readonly TestApp[], asked: number): Promise<number> {
  const token = await store.token();
  const answers = Array.from({ length: asked }, (_, at) =>
    call((apps[at % apps.length] as TestApp).app, listCustomers, { token }),
  );
  return (await Promise.all(answers)).filter(({ status }) => status === 200).length;
}

test("a limit of 10 a second is 10 a second, however many instances serve it", async () => {
  expect(await countServed([here, there], 60)).toBe(11);
  clock.advance(1000);
  expect(await countServed([here, there], 60)).toBe(10);
  expect(await countServed([there], 60)).toBe(0);
});

test("the planner on one instance includes the requests of the other", async () => {
  for (let second = 0; second < 3; second++) {
    clock.advance(1000);
    await countServed([here, there], 12);
  }
  clock.advance(1000);
  await there.app.tidy();
  const json = { data: { type: "application_key", name: "n" } };
  const { body } = await store.call(dryRunApplicationKey, { ids: { id: store.key.id }, json });
  expect(body.data.keys[0]).toMatchObject({ id: store.key.id, asked: 3 * 12 + 1 });
  expect(body.data.observed.seconds).toBe(4);
});

test("the planner while Valkey is away has the requests of this instance", async () => {
  await countServed([here, there], 12);
  clock.advance(1000);
  await here.app.tidy();
  await server.stop();
  const json = { data: { type: "application_key", name: "n" } };
  const { body } = await store.call(dryRunApplicationKey, { ids: { id: store.key.id }, json });
  expect(body.data.keys[0]).toMatchObject({ asked: 6 + 1 });
});

test("metrics show whether Valkey is away, how often the connection was lost, and the number of instances (T47)", async () => {
  const read = async () => {
    clock.advance(1000);
    const { body } = await call(here.app, metrics, { peer: "192.0.2.1" });
    const names = ["valkey_up", "valkey_losses_total", "instances"];
    return names.map((name) => new RegExp(`^latchkey_${name} (\\d+)`, "m").exec(body)?.[1]).join();
  };
  await until(async () => (await read()) === "1,0,2");
  await server.stop();
  await until(async () => (await read()) === "0,1,2");
});
