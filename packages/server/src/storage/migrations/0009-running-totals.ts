import { type RawBuilder, sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Storage, Trx } from "../storage.ts";

/** Totals instead of sums over all rows of a store, and indexes instead of scans. */
export const runningTotals: Migration = {
  version: 9,
  name: "running totals",
  async up(trx, engine) {
    await keepTotals(trx, engine);
    await makeIndexes(trx);
  },
};

/**
 * The sum of a store's reservations, kept in the store's row by triggers, because the previous release changes keys
 * without knowing the column. The triggers exist before the sum is computed, so no change falls between.
 */
async function keepTotals(trx: Trx, engine: Storage["engine"]): Promise<void> {
  await trx.schema
    .alterTable("stores")
    .addColumn("total_reserved_rate_limit", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  const triggers = engine === "postgres" ? [postgresTriggers] : sqliteTriggers;
  for (const trigger of triggers) await trigger.execute(trx);
  await trx
    .updateTable("stores")
    .set(({ selectFrom }) => ({
      total_reserved_rate_limit: selectFrom("application_keys")
        .whereRef("application_keys.store_id", "=", "stores.id")
        .select(({ fn }) => fn.sum<number>("reserved_rate_limit").as("total")),
    }))
    .where("id", "in", (eb) =>
      eb.selectFrom("application_keys").select("store_id").where("reserved_rate_limit", ">", 0),
    )
    .execute();
}

async function makeIndexes(trx: Trx): Promise<void> {
  // Helps the planner, to which the many keys without a reservation look the same.
  await trx.schema
    .createIndex("application_keys_reserving")
    .on("application_keys")
    .columns(["store_id", "id"])
    .where(sql.ref("reserved_rate_limit"), ">", sql.lit(0))
    .execute();
  // For providers that end a session by its name only.
  for (const table of ["customer_tokens", "sign_on_attempts"]) {
    await trx.schema
      .createIndex(`${table}_by_session`)
      .on(table)
      .columns(["store_id", "profile_id", "idp_session"])
      .where(sql.ref("idp_session"), "is not", null)
      .execute();
  }
}

/**
 * Each change of a reservation adds its difference. A store that is being deleted is left out: its row would be written
 * again for every deleted key, and PostgreSQL keeps each version until the transaction ends.
 */
const sqliteTrigger = (name: string, when: string, difference: string, row: string): RawBuilder<unknown> =>
  sql.raw(`
    create trigger application_keys_total_${name} after ${when} begin
      update stores set total_reserved_rate_limit = total_reserved_rate_limit + ${difference}
        where id = ${row}.store_id and deleted_at is null;
    end`);

const sqliteTriggers = [
  sqliteTrigger(
    "insert",
    "insert on application_keys when new.reserved_rate_limit <> 0",
    "new.reserved_rate_limit",
    "new",
  ),
  sqliteTrigger(
    "update",
    "update of reserved_rate_limit on application_keys when new.reserved_rate_limit <> old.reserved_rate_limit",
    "new.reserved_rate_limit - old.reserved_rate_limit",
    "new",
  ),
  sqliteTrigger(
    "delete",
    "delete on application_keys when old.reserved_rate_limit <> 0",
    "-old.reserved_rate_limit",
    "old",
  ),
];

const postgresTriggers = sql`
  create function latchkey_total_reserved() returns trigger language plpgsql as $$
  begin
    update stores set total_reserved_rate_limit = total_reserved_rate_limit
        + coalesce(new.reserved_rate_limit, 0) - coalesce(old.reserved_rate_limit, 0)
      where id = coalesce(new.store_id, old.store_id) and deleted_at is null;
    return null;
  end $$;
  create trigger application_keys_total_insert after insert on application_keys
    for each row when (new.reserved_rate_limit <> 0) execute function latchkey_total_reserved();
  create trigger application_keys_total_update after update of reserved_rate_limit on application_keys
    for each row when (new.reserved_rate_limit <> old.reserved_rate_limit) execute function latchkey_total_reserved();
  create trigger application_keys_total_delete after delete on application_keys
    for each row when (old.reserved_rate_limit <> 0) execute function latchkey_total_reserved();
`;
