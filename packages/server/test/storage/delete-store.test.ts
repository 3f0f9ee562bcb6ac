import { type CompiledQuery, sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import { createApplicationKey, listApplicationKeys } from "../../src/contract/application-keys.ts";
import { createCustomer, listCustomers } from "../../src/contract/customers.ts";
import { getStore } from "../../src/contract/store.ts";
import { createStore } from "../../src/create-store.ts";
import { deleteStore } from "../../src/delete-store.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { isBeingDeleted, listStores } from "../../src/stores/store.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { insertCrowd } from "../support/many-rows.ts";
import { planOf, watchStatements } from "../support/statements.ts";

const CROWD = 5000;
const TABLES_OF_A_CUSTOMER = 5;
const FIRST_KEY = 1;
const ITS_SECRET = 1;

describe.each(engines)("deleting a store on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let doomed: TestStore;
  let other: TestStore;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
    doomed = await latchkey.createStore();
    other = await latchkey.createStore();
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const crowd = async (store: TestStore, count: number) => {
    const { storage, clock } = latchkey;
    await insertCrowd(storage, { storeId: store.store.id, count, overAt: clock.now() + 1_000_000 });
  };
  const rowsOf = async ({ store: { id } }: TestStore) => {
    let rows = 0;
    for (const table of await tablesOfStores(latchkey.storage)) {
      const found = await sql<{ rows: number }>`
        select count(*) as rows from ${sql.table(table)} where store_id = ${id}`.execute(latchkey.storage.db);
      rows += Number(found.rows[0]?.rows);
    }
    return rows;
  };
  const insertProfile = async ({ store: { id } }: TestStore) => {
    const { db } = latchkey.storage;
    const realms = db.selectFrom("authentication_realms").select("id").where("store_id", "=", id);
    const realm = await realms.executeTakeFirstOrThrow();
    const texts = { name: "n", discovery_url: "u", client_id: "c", sealed_client_secret: "s" };
    const settings = { enabled: 1, flow: "brokered", provisioning: "p", former_profile_ids: "[]" };
    const purpose = "customers";
    const times = { created_at: 0, updated_at: 0 };
    await db
      .insertInto("oidc_profiles")
      .values({ id: `${id}-p`, store_id: id, realm_id: realm.id, purpose, ...texts, ...settings, ...times })
      .execute();
  };

  test("with profiles, customers and all their rows leaves no row of the store, and every row of others", async () => {
    for (const store of [doomed, other]) {
      await insertProfile(store);
      await crowd(store, CROWD);
    }
    const before = await rowsOf(other);
    const seen: [number, number | undefined][] = [];
    const deleted = await deleteStore(latchkey, doomed.store.id, (...progress) => seen.push(progress));
    const all = CROWD * TABLES_OF_A_CUSTOMER + FIRST_KEY;
    expect(deleted).toEqual({ rows: all });
    expect(seen.at(0)).toEqual([0, all]);
    expect(seen.at(-1)).toEqual([all, all]);
    expect(seen.length).toBeGreaterThan(10);
    expect([await rowsOf(doomed), await rowsOf(other)]).toEqual([0, before]);
    expect((await listStores(latchkey.storage, { limit: 100 })).map(({ id }) => id)).toEqual([
      other.store.id,
    ]);
    expect((await other.call(listCustomers)).status).toBe(200);
  });

  test("401: its tokens and keys are void before its first row is deleted, and nothing can be created in it", async () => {
    await crowd(doomed, 300);
    const implicit = await doomed.token("implicit");
    const { clientId: client_id, clientSecret: client_secret } = doomed.key;
    const interrupted = deleteStore(latchkey, doomed.store.id, () => {
      throw new Error("interrupted");
    });
    await expect(interrupted).rejects.toThrow("interrupted");
    const customer = { type: "customer", name: "Too late", email: "late@shop.example" };
    for (const answer of [
      await doomed.call(getStore),
      await doomed.call(listApplicationKeys),
      await doomed.call(createApplicationKey, { json: { data: { type: "application_key", name: "x" } } }),
      await call(latchkey.app, createCustomer, { token: implicit, json: { data: customer } }),
      await call(latchkey.app, issueAccessToken, { form: { grant_type: "implicit", client_id } }),
      await call(latchkey.app, issueAccessToken, {
        form: { grant_type: "client_credentials", client_id, client_secret },
      }),
    ])
      expect(answer.status).toBe(401);
    expect(await rowsOf(doomed)).toBe(300 * TABLES_OF_A_CUSTOMER + FIRST_KEY + ITS_SECRET);
  });

  test("that was interrupted continues when it is requested again, and is visible until then", async () => {
    await crowd(doomed, 1000);
    const interrupted = deleteStore(latchkey, doomed.store.id, (done) => {
      if (done >= 500) throw new Error("interrupted");
    });
    await expect(interrupted).rejects.toThrow("interrupted");
    const left = await rowsOf(doomed);
    expect(left).toBeLessThan(1000 * TABLES_OF_A_CUSTOMER);
    const shown = (await listStores(latchkey.storage, { limit: 100 })).map((store) => [
      store.id,
      isBeingDeleted(store),
    ]);
    expect(shown).toEqual([
      [doomed.store.id, true],
      [other.store.id, false],
    ]);
    expect(await deleteStore(latchkey, doomed.store.id)).toEqual({ rows: left });
    expect(await deleteStore(latchkey, doomed.store.id)).toBeUndefined();
  });

  test("does not delay other stores' reads and writes", async () => {
    await crowd(doomed, 2000);
    const answers: Promise<{ status: number }>[] = [];
    await deleteStore(latchkey, doomed.store.id, (done) => {
      const data = { type: "customer", name: "New", email: `new${done}@shop.example` };
      answers.push(other.call(createCustomer, { json: { data } }));
    });
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201]));
  });
});

describe.each(engines)("the tables on $name", (engine) => {
  let database: TestDatabase;
  let storage: Storage;
  const clock = handClock();

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    storage = await openStorage({ clock }, database.url, UNHURRIED);
  });
  afterEach(async () => {
    await storage?.close();
    await database?.drop();
  });

  test("of a store are all emptied by the deletion, and not left to one cascading statement", async () => {
    const { store } = await createStore({ storage, clock }, { name: "Doomed", rate_limit: 1 });
    const emptied = new Set<string>();
    const watched = watchStatements(storage, (statement) => {
      const table = /^delete from "(\w+)"/.exec(statement.sql)?.[1];
      if (table) emptied.add(table);
    });
    await deleteStore({ storage: watched, clock }, store.id);
    // Secrets are deleted with their keys: a key has few.
    expect([...emptied, "application_key_secrets"].sort()).toEqual(
      [...(await tablesOfStores(storage)), "stores"].sort(),
    );
  });

  test("are emptied by an index that begins with the store: rows of others are not read", async () => {
    const doomed = await createStore({ storage, clock }, { name: "Large", rate_limit: 1 });
    await createStore({ storage, clock }, { name: "Other", rate_limit: 1 });
    await insertCrowd(storage, { storeId: doomed.store.id, count: 3000, overAt: clock.now() });
    // PostgreSQL's statistics now count nearly every row for this store.
    if (engine.name === "postgres") await sql`analyze`.execute(storage.db);
    const statements: CompiledQuery[] = [];
    const watched = watchStatements(storage, (statement) => {
      if (/^delete from .* limit/.test(statement.sql)) statements.push(statement);
    });
    await deleteStore({ storage: watched, clock }, doomed.store.id);
    expect(statements.length).toBeGreaterThan(20);
    for (const statement of statements) {
      const plan = await planOf(storage, statement);
      expect(plan, statement.sql).toMatch(/(INDEX \w+|PRIMARY KEY) \(.*store_id|Index Cond: .*store_id/);
      expect(plan, statement.sql).not.toMatch(/SCAN|TEMP B-TREE|Seq Scan|Sort/);
    }
  });

  test("have an index on every foreign key: deleting a parent finds its children without a scan", async () => {
    const keys = engine.name === "sqlite" ? await sqliteKeys(storage) : await postgresKeys(storage);
    expect(keys.foreign.length).toBeGreaterThan(10);
    const missing = keys.foreign.filter(
      ({ table, columns }) =>
        !keys.indexes.some(
          (index) =>
            index.table === table &&
            // SQLite finds a row by the primary key, and then compares the other columns.
            (covers(index.columns, columns) || (index.isUnique && covers(columns, index.columns))),
        ),
    );
    expect(missing).toEqual([]);
  });
});

async function tablesOfStores({ db }: Storage): Promise<string[]> {
  const tables = await db.introspection.getTables();
  return tables
    .filter(({ columns }) => columns.some(({ name }) => name === "store_id"))
    .map(({ name }) => name);
}

type Keys = {
  foreign: { table: string; columns: string[] }[];
  indexes: { table: string; columns: string[]; isUnique: boolean }[];
};

/** The first columns of an index are those of the key, in any order. */
const covers = (index: string[], columns: string[]): boolean =>
  columns.length <= index.length &&
  new Set([...index.slice(0, columns.length), ...columns]).size === columns.length;

async function sqliteKeys({ db }: Storage): Promise<Keys> {
  const foreign = await sql<{ table: string; columns: string }>`
    select t.name as "table", group_concat(f."from") as columns
    from sqlite_master t join pragma_foreign_key_list(t.name) f where t.type = 'table' group by t.name, f.id`.execute(
    db,
  );
  const indexes = await sql<{ table: string; columns: string; isUnique: number }>`
    select t.name as "table", l."unique" as "isUnique",
      (select group_concat(name) from (select name from pragma_index_info(l.name) order by seqno)) as columns
    from sqlite_master t join pragma_index_list(t.name) l where t.type = 'table' and l.partial = 0`.execute(
    db,
  );
  return toKeys(foreign.rows, indexes.rows);
}

async function postgresKeys({ db }: Storage): Promise<Keys> {
  const names = (relation: string, numbers: string) => sql`
    (select string_agg(attname, ',' order by place) from unnest(${sql.raw(numbers)}) with ordinality as k (number, place)
      join pg_attribute on attrelid = ${sql.raw(relation)} and attnum = k.number)`;
  const foreign = await sql<{ table: string; columns: string }>`
    select conrelid::regclass::text as "table", ${names("conrelid", "conkey")} as columns
    from pg_constraint where contype = 'f'`.execute(db);
  const indexes = await sql<{ table: string; columns: string; isUnique: number }>`
    select indrelid::regclass::text as "table", indisunique::int as "isUnique",
      ${names("indrelid", "indkey::smallint[]")} as columns
    from pg_index where indpred is null and indrelid::regclass::text not like 'pg_%'`.execute(db);
  return toKeys(foreign.rows, indexes.rows);
}

const toKeys = (
  foreign: readonly { table: string; columns: string }[],
  indexes: readonly { table: string; columns: string; isUnique: number }[],
): Keys => ({
  foreign: foreign.map(({ table, columns }) => ({ table, columns: columns.split(",") })),
  indexes: indexes.map(({ table, columns, isUnique }) => ({
    table,
    columns: (columns ?? "").split(","),
    isUnique: isUnique === 1,
  })),
});
