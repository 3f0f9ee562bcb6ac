import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "../../src/application-keys/administer.ts";
import { updateApplicationKey as putKey } from "../../src/contract/application-keys.ts";
import { createStore } from "../../src/create-store.ts";
import { deleteStore } from "../../src/delete-store.ts";
import { byOperator } from "../../src/events/event.ts";
import { newId } from "../../src/lib/ids.ts";
import { migrate, migrations } from "../../src/storage/migrate.ts";
import { runningTotals } from "../../src/storage/migrations/0009-running-totals.ts";
import { connectStorage, openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Tables } from "../../src/storage/tables.ts";
import { findStore } from "../../src/stores/store.ts";
import { createTestApp } from "../support/app.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { watchStatements } from "../support/statements.ts";

const clock = handClock();
const RATE_LIMIT = 100;

const REST = { last_used_at: null, created_at: 0, updated_at: 0 };

/** The write of the previous release: the key's row, and nothing else. */
const byReleaseBefore = {
  async create({ db }: Storage, storeId: string, reserved: number) {
    const id = newId();
    const texts = { id, store_id: storeId, name: "n", client_id: `c-${id}` };
    await db
      .insertInto("application_keys")
      .values({ ...texts, reserved_rate_limit: reserved, ...REST } as Tables["application_keys"])
      .execute();
    return id;
  },
  update: ({ db }: Storage, storeId: string, id: string, reserved: number) =>
    db
      .updateTable("application_keys")
      .set({ name: "n", reserved_rate_limit: reserved })
      .where("store_id", "=", storeId)
      .where("id", "=", id)
      .execute(),
  delete: ({ db }: Storage, storeId: string, id: string) =>
    db.deleteFrom("application_keys").where("store_id", "=", storeId).where("id", "=", id).execute(),
};

async function sumOf({ db }: Storage, storeId: string): Promise<number> {
  const rows = await db
    .selectFrom("application_keys")
    .select("reserved_rate_limit")
    .where("store_id", "=", storeId)
    .execute();
  return rows.reduce((sum, row) => sum + row.reserved_rate_limit, 0);
}

describe.each(engines)("the total of reservations on $name", (engine) => {
  let database: TestDatabase;
  let storage: Storage;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    storage = await connectStorage(database.url, { ...UNHURRIED, patient: true });
  });
  afterEach(async () => {
    await storage?.close();
    await database?.drop();
  });

  const ready = () => migrate({ storage, clock });
  const newStore = async () =>
    (await createStore({ storage, clock }, { name: "Shop", rate_limit: RATE_LIMIT })).store.id;
  const totalOf = async (storeId: string) => (await findStore(storage, storeId))?.total_reserved_rate_limit;

  test("of a store older than the migration is the sum of its keys", async () => {
    await migrate(
      { storage, clock },
      migrations.filter(({ version }) => version < runningTotals.version),
    );
    const stores = [];
    for (const reservations of [[], [0], [3, 4, 0]]) {
      const id = newId();
      const row = { id, name: "n", rate_limit: 10, revision: 0, created_at: 0, updated_at: 0 };
      await storage.db
        .insertInto("stores")
        .values(row as never)
        .execute();
      for (const reserved of reservations) await byReleaseBefore.create(storage, id, reserved);
      stores.push(id);
    }
    await ready();
    expect(await Promise.all(stores.map(totalOf))).toEqual([0, 0, 7]);
  });

  test("is the sum of the keys after any history, whichever release wrote it", async () => {
    await ready();
    const step = fc.record({
      what: fc.constantFrom("create", "update", "rename", "delete"),
      byBefore: fc.boolean(),
      place: fc.nat(9),
      reserved: fc.oneof(fc.constant(0), fc.nat(RATE_LIMIT)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const storeId = await newStore();
        const other = await newStore();
        const deps = { storage, clock, publicUrl: "" };
        const keys: string[] = [];
        for (const { what, byBefore, place, reserved } of steps) {
          const keyId = keys[place % keys.length] ?? "";
          const before = await sumOf(storage, storeId);
          // The previous release computes the sum itself, with the same result.
          const own = (await reservedOf(storage, keyId)) ?? 0;
          const fits = before - (what === "update" ? own : 0) + reserved <= RATE_LIMIT;
          if (what === "create" && byBefore) {
            if (fits) keys.push(await byReleaseBefore.create(storage, storeId, reserved));
          } else if (what === "create") {
            const made = createApplicationKey(deps, byOperator(storeId), {
              name: "n",
              reserved_rate_limit: reserved,
            });
            await made.then(
              ({ data }) => expect(keys.push(data.id) > 0 && fits).toBe(true),
              ({ code }) => expect([code, fits]).toEqual(["reservation_exceeds_store_limit", false]),
            );
          } else if (keys.length === 0) continue;
          else if (what === "delete") {
            await (byBefore ? byReleaseBefore.delete : deleteKey(deps))(storage, storeId, keyId);
            keys.splice(keys.indexOf(keyId), 1);
          } else if (what === "rename") {
            await updateApplicationKey(deps, byOperator(storeId), keyId, { name: "m" });
          } else if (byBefore) {
            if (fits) await byReleaseBefore.update(storage, storeId, keyId, reserved);
          } else {
            const put = updateApplicationKey(deps, byOperator(storeId), keyId, {
              name: "n",
              reserved_rate_limit: reserved,
            });
            await put.then(
              ({ data }) => expect([data.reserved_rate_limit, fits]).toEqual([reserved, true]),
              ({ code }) => expect([code, fits]).toEqual(["reservation_exceeds_store_limit", false]),
            );
          }
          expect(await totalOf(storeId)).toBe(await sumOf(storage, storeId));
        }
        expect(await totalOf(other)).toBe(0);
      }),
      { numRuns: engine.name === "sqlite" ? 30 : 10 },
    );
  });

  test("is deleted with its store, however many keys are part of it", async () => {
    await ready();
    const storeId = await newStore();
    for (let made = 0; made < 5; made++) await byReleaseBefore.create(storage, storeId, 2);
    expect(await deleteStore({ storage, clock }, storeId)).toEqual({ rows: 6 });
    expect(await totalOf(storeId)).toBeUndefined();
  });

  test("is read from the store's row: a PUT reads and writes one key, whatever others exist", async () => {
    const opened = await openStorage({ clock }, database.url, UNHURRIED);
    const seen: string[] = [];
    const latchkey = await createTestApp({
      clock,
      storage: watchStatements(opened, ({ sql }) => seen.push(sql.replaceAll('"', ""))),
    });
    const store = await latchkey.createStore();
    const json = { data: { type: "application_key", name: "n", reserved_rate_limit: 7 } };
    seen.length = 0;
    expect((await store.call(putKey, { ids: { id: store.key.id }, json })).status).toBe(200);
    const shapes = seen.map((text) => /^(select|update|insert into|delete from)|from \w+/.exec(text));
    expect(shapes.map((found) => found?.[0])).toEqual([
      "select",
      "update",
      "select",
      "update",
      "insert into",
    ]);
    expect(seen.join()).not.toContain("sum(");
    await latchkey.close();
  });
});

const deleteKey =
  (deps: { storage: Storage; clock: typeof clock }) => (_: Storage, storeId: string, keyId: string) =>
    deleteApplicationKey(deps, byOperator(storeId), keyId);

async function reservedOf({ db }: Storage, keyId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom("application_keys")
    .select("reserved_rate_limit")
    .where("id", "=", keyId)
    .executeTakeFirst();
  return row?.reserved_rate_limit;
}
