import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { dryRun } from "../../src/application-keys/dry-run.ts";
import { readUsage } from "../../src/application-keys/store-usage.ts";
import { createApplicationKey, deleteApplicationKey } from "../../src/contract/application-keys.ts";
import { getAuthenticationSettings } from "../../src/contract/realms.ts";
import { getStoreUsage } from "../../src/contract/store.ts";
import { createLimiter } from "../../src/rate-limit/limiter.ts";
import { createUseLog } from "../../src/rate-limit/use-log.ts";
import { isUnavailable } from "../../src/storage/failures.ts";
import { createTestApp, getToken, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";

/** Requests by key, second by second (wire 19). */

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
});
beforeEach(async () => {
  latchkey.clock.advance(4_000_000);
  store = await latchkey.createStore(10);
});
afterAll(() => latchkey.close());

type Reading = Parameters<typeof readUsage>[0];
type Key = { id: string; name: string; reserved_rate_limit: number; asked: number[]; refused: number[] };
const usage = async (query = "") =>
  (await store.call(getStoreUsage, { query })).body.data as {
    from: string;
    to: string;
    keys: Key[];
  } & Record<string, unknown>;
const sum = (figures: number[] = []) => figures.reduce((total, figure) => total + figure, 0);

async function ask(times: number, token?: string): Promise<number> {
  const by = token ?? (await store.token("implicit"));
  let refused = 0;
  for (let i = 0; i < times; i++)
    if ((await call(latchkey.app, getAuthenticationSettings, { token: by })).status === 429) refused++;
  return refused;
}

test("the usage of a store › 200 with the requests and refusals of each second", async () => {
  const first = await ask(30);
  latchkey.clock.advance(3000);
  await ask(2);
  latchkey.clock.advance(3000);
  const { keys, ...head } = await usage("seconds=60");
  const [key] = keys as [Key];
  expect(head).toMatchObject({ type: "store-usage", rate_limit: 10, shared_pool: 10 });
  expect(Date.parse(head.to) - Date.parse(head.from)).toBe(60_000);
  expect(latchkey.clock.now() - Date.parse(head.to)).toBeLessThanOrEqual(2000);
  expect([key.id, key.name, key.reserved_rate_limit]).toEqual([store.key.id, "First key", 0]);
  expect([key.asked.length, key.refused.length]).toEqual([60, 60]);
  // The request for the figures itself is too new to be in them.
  expect(key.asked.filter((figure) => figure > 0)).toEqual([30, 2]);
  expect(key.refused.filter((figure) => figure > 0)).toEqual([first]);
  expect(first).toBeGreaterThan(10);
});

test.each([
  ["the log of use", (deps: Reading) => readUsage(deps, store.store.id, 60)],
  ["a dry run", (deps: Reading) => dryRun(deps, store.store.id, store.key.id, { name: "First key" })],
])("the usage of a store › %s is read once at a time per store; at most twenty wait", async (_, read) => {
  const { storage, clock, publicUrl } = latchkey;
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let [reading, most] = [0, 0];
  const useLog = {
    ...createUseLog(),
    async *read() {
      most = Math.max(most, ++reading);
      await gate;
      yield { keyIds: [store.key.id], seconds: [0], asked: [1], refused: [0] };
      reading--;
    },
  };
  const deps = { publicUrl, storage, clock, useLog, limiter: createLimiter({ clock, useLog }) };
  const all = Promise.allSettled(Array.from({ length: 30 }, () => read(deps)));
  // The refusal comes at once, before the waiting reads are done.
  const refused = await read(deps).catch((error) => error);
  expect(isUnavailable(refused)).toBe(true);
  open();
  const endings = Map.groupBy(await all, ({ status }) => status);
  expect([endings.get("fulfilled")?.length, endings.get("rejected")?.length]).toEqual([20, 10]);
  expect(most).toBe(1);
});

test("the usage of a store › 200 for a minute by default, an hour at most", async () => {
  await ask(3);
  latchkey.clock.advance(100_000);
  expect((await usage()).keys).toEqual([]);
  expect(sum((await usage("seconds=200")).keys[0]?.asked)).toBe(3);
  latchkey.clock.advance(3_000_000);
  expect(sum((await usage("seconds=3600")).keys[0]?.asked)).toBe(5);
});

test.each([
  "seconds=0",
  "seconds=3601",
  "seconds=1.5",
  "seconds=x",
  "seconds=0x10",
  "seconds=1e1",
  "seconds=",
])("the usage of a store › 400 for %s", async (query) => {
  expect((await store.call(getStoreUsage, { query })).code).toBe("parameter_invalid");
});

test("the usage of a store › a quiet key with a reservation is listed; a deleted key is not", async () => {
  const make = async (name: string, reserved: number) =>
    (
      await store.call(createApplicationKey, {
        json: { data: { type: "application_key", name, reserved_rate_limit: reserved } },
      })
    ).body.data;
  const quiet = await make("Quiet", 4);
  const gone = await make("Gone", 0);
  const key = { id: gone.id, clientId: gone.client_id, clientSecret: gone.client_secret };
  await ask(2, await getToken(latchkey.app, { ...store, key }, "implicit"));
  await store.call(deleteApplicationKey, { ids: { id: gone.id } });
  latchkey.clock.advance(3000);
  const { keys, ...head } = await usage();
  expect(head.shared_pool).toBe(6);
  expect(keys.map(({ name }) => name)).toEqual(["First key", "Quiet"]);
  expect(keys[1]).toMatchObject({ id: quiet.id, reserved_rate_limit: 4 });
  expect(sum(keys[1]?.asked)).toBe(0);
});

test("the usage of a store › another store's keys are not listed", async () => {
  const other = await latchkey.createStore(10);
  await ask(5, await other.token("implicit"));
  latchkey.clock.advance(3000);
  expect((await usage()).keys.map(({ id }) => id)).not.toContain(other.key.id);
});

test("the usage of a store › keys beyond the limit of the answer are summed up", async () => {
  const many = await latchkey.createStore(100_000);
  for (let i = 0; i < 30; i++) {
    const json = { data: { type: "application_key", name: `Key ${i}`, reserved_rate_limit: 1 } };
    await many.call(createApplicationKey, { json });
  }
  latchkey.clock.advance(3000);
  const { body } = await many.call(getStoreUsage, { query: "seconds=3600" });
  expect(body.data.keys).toHaveLength(27);
  expect(body.data.other_keys.count).toBe(4);
  expect(body.data.other_keys.asked).toHaveLength(3600);
});
