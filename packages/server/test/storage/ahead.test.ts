import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestApp, type TestApp } from "../support/app.ts";
import { engines, type TestDatabase } from "../support/engines.ts";

describe.each(engines)("a write without a disk sync, on $name", (engine) => {
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

  const rename = async (name: string) => {
    const { store } = await latchkey.createStore(1);
    const update = latchkey.storage.ahead((db) =>
      db.updateTable("stores").set({ name }).where("id", "=", store.id).returning("name").executeTakeFirst(),
    );
    return { id: store.id, told: await update };
  };

  test("is seen by the next one", async () => {
    const { id, told } = await rename("Ahead");
    expect(told).toEqual({ name: "Ahead" });
    const { db } = latchkey.storage;
    const stored = await db.selectFrom("stores").select("name").where("id", "=", id).executeTakeFirst();
    expect(stored).toEqual(told);
  });

  // On PostgreSQL the setting belongs to each connection.
  if (engine.name !== "sqlite") return;

  test("waits for a transaction under way, which waits for the disk", async () => {
    const held = Promise.withResolvers<void>();
    const order: string[] = [];
    const transaction = latchkey.storage.transact(async (trx) => {
      await held.promise;
      order.push(`transaction, synchronous ${await synchronous(trx)}`);
    });
    const ahead = latchkey.storage.ahead(async (db) => {
      order.push(`ahead, synchronous ${await synchronous(db)}`);
    });
    held.resolve();
    await Promise.all([transaction, ahead]);
    expect(order).toEqual(["transaction, synchronous 2", "ahead, synchronous 1"]);
  });

  test("does not change that others wait for the disk, also when it fails", async () => {
    const { storage } = latchkey;
    const failing = storage.ahead((db) => sql`select * from no_such_table`.execute(db));
    await expect(failing).rejects.toThrow("no_such_table");
    expect(await synchronous(storage.db)).toBe(2);
  });
});

/** 1 is NORMAL, 2 is FULL. */
async function synchronous(db: TestApp["storage"]["db"]): Promise<number | undefined> {
  const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(db);
  return rows[0]?.synchronous;
}
