import { type CompiledQuery, sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { handClock } from "../support/clock.ts";
import { sqliteEngine, type TestDatabase } from "../support/engines.ts";
import { planOf } from "../support/statements.ts";

/** SQLite's planner uses the statistics of sqlite_stat1. PostgreSQL collects statistics by itself. */
let database: TestDatabase;
let storage: Storage;
const clock = handClock();

beforeEach(async () => {
  database = await sqliteEngine.create();
  storage = await openStorage({ clock }, database.url);
});
afterEach(async () => {
  await storage.close();
  await database.drop();
});

/** These tables have no rowid, so their primary key has the table's name. */
const WITHOUT_ROWID = ["events", "sign_on_statistics", "sign_on_statistics_parts"];

const readAll = async ({ db }: Storage) =>
  (await sql<{ tbl: string; idx: string; stat: string }>`select * from sqlite_stat1`.execute(db)).rows;

test("an opened database has statistics for every index, of one row for each value", async () => {
  const statistics = await readAll(storage);
  const { rows: indexes } = await sql<{ name: string }>`
    select name from sqlite_master where type = 'index'`.execute(storage.db);
  const named = [...indexes.map(({ name }) => name), ...WITHOUT_ROWID];
  expect(statistics.map(({ idx }) => idx).sort()).toEqual(named.sort());
  expect(statistics.find(({ idx }) => idx === "events")?.stat).toBe("1000000 100000 1");
  const of = (index: string) => statistics.find(({ idx }) => idx === index)?.stat;
  expect(of("customers_in_email_order")).toBe("1000000 100000 1 1 1");
  expect(of("customer_tokens_by_subject")).toBe("1000000 100000 50000 1");
  expect(of("customers_by_password")).toBe("100000 10000 1");
});

test("an ANALYZE by hand lasts until the next start, and existing statistics are not rewritten", async () => {
  const before = await readAll(storage);
  await sql`delete from sqlite_stat1`.execute(storage.db);
  const second = await openStorage({ clock }, database.url);
  expect(await readAll(second)).toEqual(before);
  const version = async () => (await sql`pragma data_version`.execute(second.db)).rows;
  const seen = await version();
  await (await openStorage({ clock }, database.url)).close();
  expect(await version()).toEqual(seen);
  await second.close();
});

test("the planner chooses, of several indexes that begin with the store, the one that leaves few rows", async () => {
  const { db } = storage;
  const chosen = async (statement: { compile(): CompiledQuery }) => planOf(storage, statement.compile());
  const customers = db.selectFrom("customers").selectAll().where("store_id", "=", "s");
  expect(await chosen(customers.where("email_key", "=", "e").orderBy("created_at").limit(25))).toContain(
    "customers_in_email_order",
  );
  const signOns = db.selectFrom("sign_ons").selectAll().where("store_id", "=", "s");
  expect(await chosen(signOns.where("reference", "=", "R").where("profile_id", "=", "p"))).toContain(
    "sign_ons_of_reference",
  );
});
