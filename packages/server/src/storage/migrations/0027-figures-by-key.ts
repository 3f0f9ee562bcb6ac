import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Storage, Trx } from "../storage.ts";

/**
 * Figures of sign-ons by application key, and those of members apart. `sign_on_tallies_by_key` takes the place of
 * `sign_on_tallies`: the previous release still writes the old table, and cannot take rows out of the new one and add
 * them without their key. `sign_on_statistics` stays the sum of all sign-ons; `sign_on_statistics_parts` has parts of
 * that sum, so the previous release reads and adds the whole as before.
 */
export const figuresByKey: Migration = {
  version: 27,
  name: "figures-by-key",
  async up(trx, engine) {
    // Null: no key was known, or a previous release has written the record.
    await trx.schema.alterTable("sign_ons").addColumn("key_id", "text").execute();
    await trx.schema.alterTable("sign_ons").addColumn("of_members", "integer").execute();
    await makeTallies(trx, engine);
    await makeParts(trx, engine);
  },
};

/** As `sign_on_tallies`: no foreign key and one index only, because a row stays for a second. */
async function makeTallies(trx: Trx, engine: Storage["engine"]): Promise<void> {
  await trx.schema
    .createTable("sign_on_tallies_by_key")
    .addColumn("position", engine === "postgres" ? "bigserial" : "integer", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull())
    .addColumn("profile_id", "text", (c) => c.notNull())
    .addColumn("key_id", "text", (c) => c.notNull())
    .addColumn("of_members", "integer", (c) => c.notNull())
    .addColumn("minute", "bigint", (c) => c.notNull())
    .addColumn("figures", "text", (c) => c.notNull())
    .execute();
  if (engine === "postgres")
    await sql`alter table sign_on_tallies_by_key set
      (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`.execute(trx);
}

/** In the order of reading. `part_id`: the key; or the members' profile, empty when no profile was known. */
async function makeParts(trx: Trx, engine: Storage["engine"]): Promise<void> {
  await trx.schema
    .createTable("sign_on_statistics_parts")
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("step", "text", (c) => c.notNull())
    .addColumn("starts_at", "bigint", (c) => c.notNull())
    .addColumn("part_id", "text", (c) => c.notNull())
    .addColumn("figures", "text", (c) => c.notNull())
    .addColumn("forget_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("sign_on_statistics_parts_in_order", [
      "store_id",
      "kind",
      "step",
      "starts_at",
      "part_id",
    ])
    .$call((table) => (engine === "sqlite" ? table.modifyEnd(sql`without rowid`) : table))
    .execute();
  await trx.schema
    .createIndex("sign_on_statistics_parts_by_age")
    .on("sign_on_statistics_parts")
    .column("forget_at")
    .execute();
}
