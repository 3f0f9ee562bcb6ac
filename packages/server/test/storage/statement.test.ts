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

const insertHead = statement((db, of: { storeId: string; hash: string }) =>
  db.insertInto("event_heads").values({
    store_id: of.storeId,
    last_sequence: 0,
    last_hash: of.hash,
    latest_time: 0,
    first_sequence: 1,
    forgotten_hash: "",
    oldest_time: null,
  }),
);
const findHead = statement((db, of: { storeId: string }) =>
  db.selectFrom("event_heads").select("last_hash").where("store_id", "=", of.storeId),
);

const moveHead = statement((db, of: { storeId: string; sequence: number }) =>
  db
    .updateTable("event_heads")
    .set({ last_sequence: of.sequence })
    .where("store_id", "=", of.storeId)
    .returning("last_sequence"),
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

  /** A store without a head of its log. */
  const newStore = async () => {
    const { store } = await latchkey.createStore(100);
    await latchkey.storage.db.deleteFrom("event_heads").where("store_id", "=", store.id).execute();
    return store.id;
  };

  describe("several of one turn in a transaction", () => {
    test.each([1, 2])(
      "are carried out in the order of the calls, each with its own answer (run %i)",
      async () => {
        const { storage } = latchkey;
        const storeId = await newStore();
        const seen = await storage.transact((trx) =>
          Promise.all([
            moveHead.first(trx, { storeId, sequence: 1 }),
            findHead.first(trx, { storeId }),
            insertHead.later(trx, { storeId, hash: "one" }),
            moveHead.first(trx, { storeId, sequence: 7 }),
            trx.selectFrom("event_heads").select("last_sequence").where("store_id", "=", storeId).execute(),
            findHead.first(trx, { storeId }),
          ]),
        );
        const moved = { last_sequence: 7 };
        expect(seen).toEqual([undefined, undefined, undefined, moved, [moved], { last_hash: "one" }]);
      },
    );

    test("are all undone when one fails, whose error the transaction throws", async () => {
      const { storage } = latchkey;
      const [storeId, other] = [await newStore(), await newStore()];
      await insertHead.all(storage.db, { storeId, hash: "one" });
      const none = { storeId, sequence: null as unknown as number };
      const ends: PromiseSettledResult<unknown>[] = [];
      await expect(
        storage.transact(async (trx) => {
          const sent = [
            insertHead.later(trx, { storeId: other, hash: "" }),
            findHead.first(trx, { storeId }),
            moveHead.first(trx, none),
            findHead.first(trx, { storeId }),
          ];
          ends.push(...(await Promise.allSettled(sent)));
          await Promise.all(sent);
        }),
      ).rejects.toThrow(/not.null/i);
      const isPostgres = engine.name === "postgres";
      const last = isPostgres ? "rejected" : "fulfilled";
      expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", last]);
      // The server has skipped it (in_failed_sql_transaction).
      if (isPostgres) expect(ends[3]).toMatchObject({ reason: { code: "25P02" } });
      const heads = await storage.db.selectFrom("event_heads").select("last_hash").execute();
      expect(heads).toEqual([{ last_hash: "one" }]);
    });

    test("are refused when the transaction has ended, and are in no other", async () => {
      const { storage } = latchkey;
      const [storeId, other] = [await newStore(), await newStore()];
      let late: Promise<unknown> = Promise.resolve();
      const failed = storage.transact(async (trx) => {
        late = new Promise(setImmediate).then(() => insertHead.all(trx, { storeId, hash: "late" }));
        late.catch(() => {});
        throw new Error("changed my mind");
      });
      // On SQLite both share a commit.
      const beside = storage.transact((trx) => insertHead.later(trx, { storeId: other, hash: "one" }));
      await expect(failed).rejects.toThrow("changed my mind");
      await expect(late).rejects.toThrow(/transaction (has ended|is already rolled back)/i);
      await beside;
      expect(await findHead.first(storage.db, { storeId })).toBeUndefined();
    });
  });

  describe("that goes later", () => {
    test("runs before the next statement, and is committed with the transaction", async () => {
      const { storage } = latchkey;
      const storeId = await newStore();
      const seen = await storage.transact(async (trx) => {
        await insertHead.later(trx, { storeId, hash: "one" });
        return findHead.first(trx, { storeId });
      });
      expect(seen).toEqual({ last_hash: "one" });
      const other = await newStore();
      await storage.transact((trx) => insertHead.later(trx, { storeId: other, hash: "two" }));
      expect(await findHead.first(storage.db, { storeId: other })).toEqual({ last_hash: "two" });
    });

    test("fails the transaction, with its own error, when it fails, and all is undone", async () => {
      const { storage } = latchkey;
      const storeId = await newStore();
      const nowhere = { storeId: "no such store", hash: "" };
      const foreignKey = /foreign key/i;
      await expect(
        storage.transact(async (trx) => {
          await insertHead.later(trx, { storeId, hash: "one" });
          await insertHead.later(trx, nowhere);
        }),
      ).rejects.toThrow(foreignKey);
      await expect(
        storage.transact(async (trx) => {
          await insertHead.later(trx, nowhere);
          await findHead.first(trx, { storeId });
        }),
      ).rejects.toThrow(foreignKey);
      expect(await findHead.first(storage.db, { storeId })).toBeUndefined();
    });

    test("is rolled back with a transaction that throws, which gets its own error", async () => {
      const { storage } = latchkey;
      const storeId = await newStore();
      for (const of of [storeId, "no such store"])
        await expect(
          storage.transact(async (trx) => {
            await insertHead.later(trx, { storeId: of, hash: "" }).catch(() => {});
            throw new Error("changed my mind");
          }),
        ).rejects.toThrow("changed my mind");
      expect(await findHead.first(storage.db, { storeId })).toBeUndefined();
      await storage.transact((trx) => insertHead.later(trx, { storeId, hash: "one" }));
      expect(await findHead.first(storage.db, { storeId })).toEqual({ last_hash: "one" });
    });

    // SQLite has one transaction at a time, so no other can come in between.
    if (engine.name === "postgres")
      test("whose row another transaction inserted first makes the transaction run again", async () => {
        const { storage } = latchkey;
        const storeId = await newStore();
        let tries = 0;
        const made = await storage.transact(async (trx) => {
          const known = ++tries === 1 ? undefined : await findHead.first(trx, { storeId });
          if (known) return known.last_hash;
          // Another instance does this in the moment after the read.
          await insertHead.all(storage.db, { storeId, hash: "the first" });
          await insertHead.later(trx, { storeId, hash: "the second" });
          return "the second";
        });
        expect([made, tries]).toEqual(["the first", 2]);
      });
  });

  test("with ids finds any number of them, each once, in batches", async () => {
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

  test("is passed to a plugin at each run", async () => {
    const { storage } = latchkey;
    let seen = 0;
    const { db } = watchStatements(storage, () => seen++);
    const of = { storeId: "a", clientId: "b", least: 0 };
    for (const through of [storage.db, db, db, storage.db]) await findByClientId.first(through, of);
    expect(seen).toBe(2);
  });

  test("throws for a missing value, and does not compare with nothing", async () => {
    const given = { storeId: "a", clientId: "b" } as { storeId: string; clientId: string; least: number };
    await expect(findByClientId.all(latchkey.storage.db, given)).rejects.toThrow("no value for least");
  });
});
