import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { forIds } from "../../src/storage/insert-rows.ts";
import { statement } from "../../src/storage/statement.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { watchStatements } from "../support/statements.ts";

const findByClientId = statement((db, of: { storeId: string; clientId: string; least: number }) =>
  db
    .selectFrom("application_keys")
    .select(["id", "client_id"])
    .where("store_id", "=", of.storeId)
    .where("client_id", "=", of.clientId)
    .where("reserved_rate_limit", ">=", of.least)
    .where("created_at", ">", 0),
);

const findStores = forIds(2, (db, ids) =>
  db.selectFrom("stores").select("id").where("id", "in", ids).where("id", "in", ids),
);

describe.each(engines)("a statement on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  test("runs with the values of each run", async () => {
    const { store, key } = await latchkey.createStore(100);
    const { db } = latchkey.storage;
    const of = { storeId: store.id, clientId: key.clientId, least: 0 };
    expect(await findByClientId.all(db, of)).toEqual([{ id: key.id, client_id: key.clientId }]);
    expect(await findByClientId.first(db, { ...of, clientId: "another" })).toBeUndefined();
    expect(await findByClientId.first(db, { ...of, least: 101 })).toBeUndefined();
    expect(await findByClientId.first(db, of)).toEqual({ id: key.id, client_id: key.clientId });
  });

  test("is part of the transaction that runs it", async () => {
    const { store, key } = await latchkey.createStore(100);
    const of = { storeId: store.id, clientId: "another", least: 0 };
    const seen = await latchkey.storage.transact(async (trx) => {
      await trx
        .updateTable("application_keys")
        .set({ client_id: "another" })
        .where("id", "=", key.id)
        .execute();
      return findByClientId.first(trx, of);
    });
    expect(seen?.id).toBe(key.id);
  });

  test("about ids finds those of any number of them, each once, so many at once", async () => {
    const made = [];
    for (let count = 0; count < 5; count++) made.push((await latchkey.createStore()).store.id);
    const { storage } = latchkey;
    const texts: string[] = [];
    const { db } = watchStatements(storage, ({ sql }) => texts.push(sql));
    const find = async (ids: string[]) => (await findStores(db, ids)).map(({ id }) => id).sort();
    expect(await find([])).toEqual([]);
    expect(await find([...made, "nobody"])).toEqual(made.toSorted());
    expect(await find(made.slice(0, 1))).toEqual(made.slice(0, 1));
    expect([texts.length, new Set(texts).size]).toEqual([4, 1]);
  });

  test("is seen by a plugin each time", async () => {
    const { storage } = latchkey;
    let seen = 0;
    const { db } = watchStatements(storage, () => seen++);
    const of = { storeId: "a", clientId: "b", least: 0 };
    for (const through of [storage.db, db, db, storage.db]) await findByClientId.first(through, of);
    expect(seen).toBe(2);
  });

  test("throws, rather than comparing with nothing, when a value is missing", async () => {
    const given = { storeId: "a", clientId: "b" } as { storeId: string; clientId: string; least: number };
    await expect(findByClientId.all(latchkey.storage.db, given)).rejects.toThrow("no value for least");
  });
});
