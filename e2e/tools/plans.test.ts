import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { steadyClock } from "../../packages/server/src/lib/clock.ts";
import type { Storage } from "../../packages/server/src/storage/storage.ts";
import { engines, type TestDatabase } from "../../packages/server/test/support/engines.ts";
import { explainOnPostgres, explainOnSqlite } from "../../scripts/plans/explain.ts";
import { fill, openToFill } from "../../scripts/plans/fill.ts";
import { faultsOf } from "../../scripts/plans/judge.ts";

/** The statements that scripts/check-plans.ts accepts after a test run, and those it reports. */
describe.each(engines)("a statement on $name", (engine) => {
  let database: TestDatabase;
  let storage: Storage;

  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    const clock = steadyClock();
    storage = await openToFill({ clock }, database.url);
    await fill({ storage, clock });
  });
  afterAll(async () => {
    await storage?.close();
    await database?.drop();
  });

  async function faults(statement: string): Promise<string> {
    let values = 0;
    const sent = engine.name === "sqlite" ? statement : statement.replaceAll("?", () => `$${++values}`);
    const plans = await (engine.name === "sqlite" ? explainOnSqlite : explainOnPostgres)(storage, sent);
    const found = plans.map((plan) => faultsOf(sent, plan).join("; "));
    return found.find((said) => said === "") ?? found[0] ?? "no plan";
  }

  test.skipIf(!engine.isHere).each([
    ["reads one row", "select * from customers where store_id = ? and id = ?"],
    [
      "reads and sorts the few of one person",
      "select * from customer_tokens where store_id = ? and customer_id = ? order by expires_at",
    ],
    [
      "reads a page along an index",
      "select * from customers where store_id = ? order by created_at, id limit ?",
    ],
    [
      "deletes some of what is over",
      "delete from sign_on_attempts where id in (select id from sign_on_attempts where forget_at <= ? order by forget_at limit ?)",
    ],
    ["reads all of a table that stays small", "select * from signing_keys order by signs_from"],
    ["writes a row", "insert into deleted_profiles (id, store_id, former_profile_ids) values (?, ?, ?)"],
  ])("that %s passes: it costs the same with a million rows", async (_, statement) => {
    expect(await faults(statement)).toBe("");
  });

  test.skipIf(!engine.isHere).each([
    ["reads a whole table", "select * from customers where name = ?", /reads all of customers/],
    ["counts a whole table", "select count(*) from sign_ons", /reads all of sign_ons/],
    [
      "counts a store's rows",
      "select count(*) from customers where store_id = ?",
      /reads customers by store_id without a limit/,
    ],
    ["sorts a store's rows", "select * from customers where store_id = ? order by name limit ?", /customers/],
    [
      "joins by what has no index",
      'select * from stores as "s" join sign_ons as "r" on r.checks = s.name where s.id = ?',
      /reads all of sign_ons/,
    ],
  ])("that %s does not pass", async (_, statement, fault) => {
    expect(await faults(statement)).toMatch(fault);
  });

  // SQLite does not report how many rows it discards.
  if (engine.name === "sqlite") return;

  test.skipIf(!engine.isHere)("that discards most of its rows does not pass, limit or not", async () => {
    const statement =
      "select * from customers where store_id = ? and external_ref = ? order by created_at, id limit ?";
    expect(await faults(statement)).toMatch(/customers/);
  });
});
