import { type RawBuilder, sql } from "kysely";
import type { Migration } from "../migration.ts";

/**
 * What a store's keys have reserved together, kept in the store's row by the database itself: the release before changes
 * keys without knowing the column. The triggers are there before the sum is taken, so that no change falls between.
 */
export const runningTotals: Migration = {
  version: 9,
  name: "running totals",
  async up(trx, engine) {
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
  },
};

/**
 * Each change of a reservation adds its difference. A store whose deletion has begun is left out: its row would be written
 * again for every key that goes, and PostgreSQL keeps each of those versions until the end of the transaction.
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
