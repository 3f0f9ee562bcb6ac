import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { updateApplicationKey } from "../../src/application-keys/administer.ts";
import { limits } from "../../src/contract/limits.ts";
import { createStore, type NewStore } from "../../src/create-store.ts";
import { byOperator } from "../../src/events/event.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLastUsed } from "../../src/rate-limit/last-used.ts";
import { findRealm } from "../../src/realms/realm.ts";
import { getSettings } from "../../src/realms/settings.ts";
import { forgetStrangers } from "../../src/sign-on-records/forget-records.ts";
import { isUnavailable } from "../../src/storage/failures.ts";
import { hasTables, migrate, migrations } from "../../src/storage/migrate.ts";
import type { Migration } from "../../src/storage/migration.ts";
import { connectStorage, openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Tables } from "../../src/storage/tables.ts";
import { changeStore, findStore } from "../../src/stores/store.ts";
import { handClock } from "../support/clock.ts";
import { latchkey } from "../support/command.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { watchStatements } from "../support/statements.ts";
import { quickest, until } from "../support/until.ts";

const clock = handClock();

const namesOnly = (tables: unknown) =>
  (tables as [string, [string, boolean][]][]).map(([name, columns]) => [
    name,
    columns.map(([column]) => column),
  ]);

/** The same storage, on which every statement from this one on fails, as for a process that was killed. */
function interruptedAt(storage: Storage, statement: number): Storage {
  let left = statement;
  return watchStatements(storage, () => {
    if (--left <= 0) throw new Error("interrupted");
  });
}

/** The table of the first release. */
async function insertOldStore({ db }: Storage): Promise<string> {
  const row = { id: newId(), name: "Old", rate_limit: 10, revision: 0, created_at: 1, updated_at: 1 };
  await db
    .insertInto("stores")
    .values(row as Tables["stores"])
    .execute();
  return row.id;
}

async function namesApplied({ db }: Storage): Promise<string[]> {
  const query = db.selectFrom("schema_migrations").select("name").orderBy("version");
  const rows = await query.execute().catch(() => []);
  return rows.map(({ name }) => name);
}

describe.each(engines)("storage on $name", (engine) => {
  let database: TestDatabase;
  let opened: Storage[];

  const open = async () => {
    const storage = await openStorage({ clock }, database.url, UNHURRIED);
    opened.push(storage);
    return storage;
  };
  const connect = async () => {
    const storage = await connectStorage(database.url, { ...UNHURRIED, patient: true });
    opened.push(storage);
    return storage;
  };
  const newStore = (storage: Storage) => createStore({ storage, clock }, { name: "Shop", rate_limit: 100 });

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    opened = [];
  });
  afterEach(async () => {
    for (const storage of opened ?? []) await storage.close();
    await database?.drop();
  });

  describe("migrations", () => {
    test("run once, in order; a second run does nothing", async () => {
      const storage = await connect();
      expect(await migrate({ storage, clock })).toEqual(migrations.map(({ name }) => name));
      expect(await migrate({ storage, clock })).toEqual([]);
    });

    test("run once each when two processes start together", async () => {
      const answers = await Promise.all(
        [0, 1].map(() => latchkey(["migrate"], { LATCHKEY_DATABASE_URL: database.url })),
      );
      const applied = answers.flatMap(({ stdout }) => /^applied: (.*)/.exec(stdout)?.[1]?.split(", ") ?? []);
      expect(applied.sort()).toEqual(migrations.map(({ name }) => name).sort());
      expect(answers.map(({ code }) => code)).toEqual([0, 0]);
    });

    test("give existing stores a realm and settings, as a new store has", async () => {
      const storage = await connect();
      await migrate({ storage, clock }, migrations.slice(0, 1));
      const id = await insertOldStore(storage);
      await migrate({ storage, clock });
      const settings = await getSettings({ storage }, id);
      expect(settings.client_id).toBe("customers");
      expect(await findRealm(storage.db, id, settings.realm_id)).toMatchObject({ name: "Customers" });
    });

    test("give existing stores their limit as its ceiling", async () => {
      const storage = await connect();
      await migrate({ storage, clock }, migrations.slice(0, 1));
      const id = await insertOldStore(storage);
      await migrate({ storage, clock });
      expect(await findStore(storage, id)).toMatchObject({ rate_limit: 10, max_rate_limit: 10 });
    });

    test("create the tables of the types, with the same columns on either engine", async () => {
      const storage = await open();
      const found = (await storage.db.introspection.getTables())
        .filter(({ name }) => !name.startsWith("sqlite_"))
        .map(({ name, columns }) => [name, columns.map((column) => [column.name, column.isNullable]).sort()]);
      const made = await readFile(new URL("../../src/storage/tables.ts", import.meta.url), "utf8");
      const described = [...made.matchAll(/^ {2}(\w+): \{\n([\s\S]*?)^ {2}\};/gm)].map(
        ([, name, members = ""]) => [
          name,
          [...members.matchAll(/(\w+): (.+);/g)]
            .map(([, column, type]) => [column, type?.includes("null")])
            .sort(),
        ],
      );
      // SQLite reports a primary key as nullable unless it is declared otherwise; the types do not.
      const nullable = (tables: unknown) => (engine.name === "sqlite" ? namesOnly(tables) : tables);
      expect(nullable(found.sort())).toEqual(nullable(described.sort()));
    });

    test("interrupted at any statement leave nothing half-done, and are resumed by the next start (T52)", async () => {
      const storage = await connect();
      await migrate({ storage, clock }, migrations.slice(0, 1));
      let interruptions = 0;
      for (let done = 1, at = 1; done < migrations.length; interruptions++) {
        await migrate({ storage: interruptedAt(storage, at), clock }).catch(({ message }) =>
          expect(message).toBe("interrupted"),
        );
        const applied = await namesApplied(storage);
        expect(applied).toEqual(migrations.slice(0, applied.length).map(({ name }) => name));
        at = applied.length > done ? 1 : at + 1;
        done = applied.length;
      }
      expect(interruptions).toBeGreaterThan(40);
      expect(await migrate({ storage, clock })).toEqual([]);
    });

    test("of a new database are all applied or none is, wherever they are interrupted (T52)", async () => {
      const storage = await connect();
      for (const at of [1, 2, 30, 80]) {
        const interrupted = migrate({ storage: interruptedAt(storage, at), clock });
        await expect(interrupted).rejects.toThrow("interrupted");
        expect(await hasTables(storage)).toBe(false);
      }
      expect(await migrate({ storage, clock })).toEqual(migrations.map(({ name }) => name));
    });

    describe("of the next release", () => {
      const next: Migration = {
        version: 9001,
        name: "of the next release",
        async up(trx) {
          await trx.schema.alterTable("stores").addColumn("motto", "text").execute();
          await trx.schema.createTable("mottos").addColumn("id", "text").execute();
        },
      };

      test("that only add are accepted: this release opens, reads and writes", async () => {
        const storage = await open();
        await migrate({ storage, clock }, [...migrations, next]);
        const restarted = await open();
        const { store } = await newStore(restarted);
        expect(await findStore(restarted, store.id)).toMatchObject(store);
        expect(await migrate({ storage: restarted, clock })).toEqual([]);
      });

      test("that remove used columns are refused, with an explanation for the operator", async () => {
        const storage = await open();
        const contract: Migration = {
          ...next,
          version: 9002,
          name: "no more rate limits",
          needsVersion: 9001,
        };
        await migrate({ storage, clock }, [...migrations, next, { ...contract, up: async () => {} }]);
        await expect(open()).rejects.toThrow(
          "too old for the database: migration 9002 (no more rate limits) of a newer release",
        );
        // A release that knows the previous step may start.
        expect(await migrate({ storage, clock }, [...migrations, next])).toEqual([]);
      });

      test("that were skipped are run, whatever came after them", async () => {
        const storage = await connect();
        const [first, ...others] = migrations as [Migration, ...Migration[]];
        const late: Migration = { version: 9000, name: "late", up: async () => {} };
        await migrate({ storage, clock });
        expect(await migrate({ storage, clock }, [first, late, ...others])).toEqual(["late"]);
      });
    });
  });

  describe("rows", () => {
    test("of a failed transaction are gone", async () => {
      const storage = await open();
      const { store } = await newStore(storage);
      const failing = changeStore({ storage }, store.id, async (trx) => {
        await trx.deleteFrom("application_keys").where("store_id", "=", store.id).execute();
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      const rows = await storage.db
        .selectFrom("application_keys")
        .selectAll()
        .where("store_id", "=", store.id)
        .execute();
      expect(rows).toHaveLength(1);
    });

    test("are read as plain numbers and texts, large ones included", async () => {
      const storage = await open();
      const { store } = await newStore(storage);
      const row = await storage.db
        .selectFrom("stores")
        .selectAll()
        .where("id", "=", store.id)
        .executeTakeFirstOrThrow();
      expect(row).toEqual({
        id: store.id,
        name: "Shop",
        rate_limit: 100,
        max_rate_limit: 100,
        revision: 0,
        created_at: clock.now(),
        updated_at: clock.now(),
        deleted_at: null,
        tokens_from: null,
        total_reserved_rate_limit: 0,
        sign_ups_per_network: null,
        sign_ups_per_hour: null,
      });
    });

    test("of refusals that strangers may have caused are limited to the newest ten thousand a store", async () => {
      const storage = await open();
      const [{ store }, { store: other }] = [await newStore(storage), await newStore(storage)];
      const row = (storeId: string, at: number, byStranger: number) => ({
        id: newId(),
        store_id: storeId,
        realm_id: "r",
        profile_id: null,
        profile_name: null,
        reference: "AAAA-BBBB",
        outcome: "failed",
        reason: "scope_incomplete",
        error: null,
        checks: "[]",
        timings: "{}",
        customer_id: null,
        by_stranger: byStranger,
        started_at: clock.now() + at,
        updated_at: clock.now(),
      });
      const strangers = Array.from({ length: limits.strangerRecordsKept + 1500 }, (_, at) =>
        row(store.id, at, 1),
      );
      const rows = [...strangers, row(store.id, -5, 0), row(other.id, -5, 1)];
      for (let at = 0; at < rows.length; at += 500)
        await storage.db
          .insertInto("sign_ons")
          .values(rows.slice(at, at + 500))
          .execute();
      await forgetStrangers({ storage, clock }, [store.id, other.id]);
      const left = await storage.db.selectFrom("sign_ons").select("id").execute();
      const kept = [...strangers.slice(1500), ...rows.slice(-2)];
      expect(left.map(({ id }) => id).sort()).toEqual(kept.map(({ id }) => id).sort());
    });

    test("of a store are deleted with it: keys, secrets, revocations", async () => {
      const storage = await open();
      const { store } = await newStore(storage);
      const revocation = { token_id: "t", store_id: store.id, expires_at: clock.now() };
      await storage.db.insertInto("access_token_revocations").values(revocation).execute();
      await storage.db.deleteFrom("stores").where("id", "=", store.id).execute();
      for (const table of [
        "application_keys",
        "application_key_secrets",
        "access_token_revocations",
      ] as const) {
        expect(await storage.db.selectFrom(table).selectAll().execute()).toEqual([]);
      }
    });

    test("cannot belong to a missing store", async () => {
      const storage = await open();
      const revocation = { token_id: "t", store_id: "nobody", expires_at: 0 };
      await expect(
        storage.db.insertInto("access_token_revocations").values(revocation).execute(),
      ).rejects.toThrow();
    });

    test("survive closing and opening again", async () => {
      const first = await openStorage({ clock }, database.url, UNHURRIED);
      const { store } = await newStore(first);
      await first.close();
      expect(await findStore(await open(), store.id)).toEqual(store);
    });
  });

  describe("last used", () => {
    const lastUsedAt = async (storage: Storage, keyId: string) => {
      const query = storage.db
        .selectFrom("application_keys")
        .select(["last_used_at", "updated_at"])
        .where("id", "=", keyId);
      return query.executeTakeFirstOrThrow();
    };

    test("is written by the flush, for the key's store alone, and does not change updated_at", async () => {
      const storage = await open();
      const { store, key } = await newStore(storage);
      const updatedAt = clock.now();
      const lastUsed = createLastUsed({ storage, clock });
      clock.advance(10);
      lastUsed.noteKey("another store", key.id);
      await lastUsed.flush();
      expect((await lastUsedAt(storage, key.id)).last_used_at).toBeNull();
      lastUsed.noteKey(store.id, key.id);
      expect((await lastUsedAt(storage, key.id)).last_used_at).toBeNull();
      await lastUsed.flush();
      expect(await lastUsedAt(storage, key.id)).toEqual({ last_used_at: clock.now(), updated_at: updatedAt });
    });

    test("does not move backward, whichever instance is late (I8)", async () => {
      const storage = await open();
      const { store, key } = await newStore(storage);
      const [late, early] = [createLastUsed({ storage, clock }), createLastUsed({ storage, clock })];
      late.noteKey(store.id, key.id);
      clock.advance(1000);
      early.noteKey(store.id, key.id);
      await early.flush();
      await late.flush();
      expect((await lastUsedAt(storage, key.id)).last_used_at).toBe(clock.now());
    });

    test("is kept when a write fails: the next write includes it", async () => {
      const storage = await open();
      const { store, key } = await newStore(storage);
      const lastUsed = createLastUsed({ storage, clock });
      lastUsed.noteKey(store.id, key.id);
      const { db } = storage;
      storage.db = undefined as never;
      await expect(lastUsed.flush()).rejects.toThrow();
      storage.db = db;
      await lastUsed.flush();
      expect((await lastUsedAt(storage, key.id)).last_used_at).toBe(clock.now());
    });

    test("is written for hundreds of keys in few statements", async () => {
      const storage = await open();
      const made: NewStore[] = [];
      for (let i = 0; i < 450; i++) made.push(await newStore(storage));
      const lastUsed = createLastUsed({ storage, clock });
      for (const { store, key } of made) lastUsed.noteKey(store.id, key.id);
      await lastUsed.flush();
      const unused = await storage.db
        .selectFrom("application_keys")
        .select("id")
        .where("last_used_at", "is", null)
        .execute();
      expect(unused).toEqual([]);
    });
  });

  describe("changes", () => {
    test("of this process are applied here at once", async () => {
      const storage = await open();
      const { store, key } = await newStore(storage);
      const heard: (string | undefined)[] = [];
      storage.changes.listen((storeId) => heard.push(storeId));
      await updateApplicationKey({ storage, clock, publicUrl: "" }, byOperator(store.id), key.id, {
        name: "x",
      });
      expect(heard).toContain(store.id);
    });

    test("of another process are applied here within a second", async () => {
      const [here, there] = [await open(), await open()];
      const { store, key } = await newStore(there);
      const change = () =>
        updateApplicationKey({ storage: there, clock, publicUrl: "" }, byOperator(store.id), key.id, {
          name: "x",
        });
      let heard = 0;
      here.changes.listen(() => heard++);
      // After the first notice the connection is listening.
      await until(async () => {
        await change();
        return heard > 0;
      });
      const round = async () => {
        heard = 0;
        await change();
        return until(() => heard > 0);
      };
      expect(await quickest(1000, round)).toBeLessThanOrEqual(1000);
    });
  });

  test("a server that is down is distinguished from an error", async () => {
    const storage = await open();
    const wrong = await sql`select * from no_such_table`.execute(storage.db).catch((error: unknown) => error);
    expect(isUnavailable(wrong)).toBe(false);
    expect(isUnavailable(Object.assign(new Error(), { code: "ECONNREFUSED" }))).toBe(true);
    expect(isUnavailable(Object.assign(new Error(), { errcode: 5 }))).toBe(true);
    expect(isUnavailable(Object.assign(new Error(), { errcode: 19 }))).toBe(false);
    expect(isUnavailable("x")).toBe(false);
  });
});
