import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Trx } from "../storage.ts";

export const bounds: Migration = {
  version: 6,
  name: "bounds",
  async up(trx) {
    await addCeiling(trx);
    await markStrangers(trx);
  },
};

/** Without a value the limit itself is the ceiling: the previous release writes none. */
async function addCeiling(trx: Trx): Promise<void> {
  await trx.schema.alterTable("stores").addColumn("max_rate_limit", "integer").execute();
  await trx
    .updateTable("stores")
    .set(({ ref }) => ({ max_rate_limit: ref("rate_limit") }))
    .execute();
}

/** Existing records, and those of the previous release, count as unsigned: they are deleted when they are old. */
async function markStrangers(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable("sign_ons")
    .addColumn("by_stranger", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  await trx.schema
    .createIndex("sign_ons_by_strangers")
    .on("sign_ons")
    .columns(["store_id", "started_at", "id"])
    .where(sql.ref("by_stranger"), "=", 1)
    .execute();
}
