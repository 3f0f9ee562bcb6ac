import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createApplicationKey,
  deleteApplicationKey,
  getApplicationKey,
  listApplicationKeys,
  updateApplicationKey,
} from "../../src/contract/application-keys.ts";
import { getStore, updateStore } from "../../src/contract/store.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { bothEngines, type TestDatabase } from "../support/engines.ts";
import { pooledEngine } from "../support/pgbouncer-server.ts";
import { quickest, until, untilServed } from "../support/until.ts";

/**
 * Two instances on one database. A SQLite file is served by a single process, so there the two share its connection;
 * further processes are tested in e2e/.
 */
describe.each([
  ...bothEngines.map((engine) => ({ way: engine.name as string, engine })),
  { way: "postgres behind PgBouncer", engine: pooledEngine },
])("two instances on $way", ({ engine }) => {
  let database: TestDatabase;
  let instances: TestApp[];
  let store: TestStore;
  let token: string;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    const first = await createTestApp({ databaseUrl: database.url });
    const { storage, clock } = first;
    const shared = engine.name === "sqlite" ? { storage, clock } : { databaseUrl: database.url };
    instances = [first, await createTestApp(shared)];
    store = await at(0).createStore(10_000);
    token = await store.token();
  });
  afterEach(async () => {
    for (const storage of new Set(instances?.map((instance) => instance.storage))) await storage.close();
    await database?.drop();
  });

  const at = (index: number) => instances[index % 2] as TestApp;
  const newKey = async (reserved = 0) => {
    const json = { data: { type: "application_key", name: "Racing", reserved_rate_limit: reserved } };
    return (await store.call(createApplicationKey, { json })).body.data.id as string;
  };
  const put = (index: number, keyId: string, data: object) =>
    untilServed(() =>
      call(at(index).app, updateApplicationKey, {
        token,
        ids: { id: keyId },
        json: { data: { type: "application_key", ...data } },
      }),
    );

  test("two reservations that together exceed the limit: exactly one 200 and one 409 (T44, I7)", async () => {
    const keys = [await newKey(), await newKey()];
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        keys.map((keyId, index) => put(index, keyId, { name: "n", reserved_rate_limit: 6000 })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const { body } = await store.call(listApplicationKeys);
      expect(body.meta.total_reserved_rate_limit).toBe(6000);
      await Promise.all(keys.map((keyId, index) => put(index, keyId, { name: "n", reserved_rate_limit: 0 })));
    }
  });

  test("a lower store limit against a higher reservation: one of the two is refused", async () => {
    const keyId = await newKey();
    for (let round = 0; round < 10; round++) {
      const json = { data: { type: "store", rate_limit: 5000 } };
      const [reserve, lower] = await Promise.all([
        put(0, keyId, { name: "n", reserved_rate_limit: 6000 }),
        call(at(1).app, updateStore, { token, json }),
      ]);
      expect([reserve.status, lower.status].sort()).toEqual([200, 409]);
      await put(0, keyId, { name: "n", reserved_rate_limit: 0 });
      await call(at(1).app, updateStore, { token, json: { data: { type: "store", rate_limit: 10_000 } } });
    }
  });

  test("fifty updates of one key: all answer 200 and the last state is one of them, whole (T45)", async () => {
    const keyId = await newKey();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        put(index, keyId, { name: `name ${index}`, reserved_rate_limit: index }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const [index, { body }] of answers.entries()) {
      expect(body.data).toMatchObject({ name: `name ${index}`, reserved_rate_limit: index });
    }
    const reads = await Promise.all(
      [0, 1].map((index) => call(at(index).app, getApplicationKey, { token, ids: { id: keyId } })),
    );
    const [first, second] = reads.map(({ body }) => body.data);
    expect(first).toEqual(second);
    expect(first.name).toBe(`name ${first.reserved_rate_limit}`);
    const updates = answers.map(({ body }) => body.data.meta.timestamps.updated_at);
    expect(first.meta.timestamps.updated_at).toBe(updates.sort().at(-1));
  });

  test("a deleted key's tokens are refused on the other instance within a second (I4)", async () => {
    const json = { data: { type: "application_key", name: "Doomed" } };
    const round = async () => {
      const { data } = (await store.call(createApplicationKey, { json })).body;
      const form = { grant_type: "implicit", client_id: data.client_id };
      const answer = await at(1).app.fetch(
        new Request("http://internal/oauth/access_token", {
          method: "POST",
          body: new URLSearchParams(form),
        }),
      );
      const doomed = ((await answer.json()) as { access_token: string }).access_token;
      const status = async () => (await call(at(1).app, getStore, { token: doomed })).status;
      expect(await status()).toBe(403);
      await store.call(deleteApplicationKey, { ids: { id: data.id } });
      return until(async () => (await status()) === 401);
    };
    expect(await quickest(1000, round)).toBeLessThanOrEqual(1000);
  });

  test("a new reservation applies on the other instance within a second", async () => {
    const policy = async () => (await call(at(1).app, getStore, { token })).headers.get("ratelimit-policy");
    expect(await policy()).toBe('"shared";q=10000;w=1');
    let reserved = 0;
    const round = async () => {
      reserved += 10;
      await put(0, store.key.id, { name: "n", reserved_rate_limit: reserved });
      const expected = `"reserved";q=${reserved};w=1, "shared";q=${10_000 - reserved};w=1`;
      return until(async () => (await policy()) === expected);
    };
    expect(await quickest(1000, round)).toBeLessThanOrEqual(1000);
  });
});
