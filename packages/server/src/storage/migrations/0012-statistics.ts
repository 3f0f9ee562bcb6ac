import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Storage, Trx } from "../storage.ts";

/**
 * Statistics of sign-ons. Writing records also writes their differences into `sign_on_tallies`, in the same
 * transaction; one instance at a time adds these up into `sign_on_statistics`. `counted` marks records that were
 * counted: the previous release leaves it empty, and such records are counted later.
 */
export const statistics: Migration = {
  version: 12,
  name: "statistics",
  async up(trx, engine) {
    await makeTallies(trx, engine);
    await makeStatistics(trx, engine);
    await trx.schema.alterTable("sign_ons").addColumn("counted", "integer").execute();
    await trx.schema
      .createIndex("sign_ons_uncounted")
      .on("sign_ons")
      .column("id")
      .where(sql.ref("counted"), "is", null)
      .execute();
  },
};

/** As the outbox of events: no foreign key and one index only, because a row stays for a second. */
async function makeTallies(trx: Trx, engine: Storage["engine"]): Promise<void> {
  await trx.schema
    .createTable("sign_on_tallies")
    .addColumn("position", engine === "postgres" ? "bigserial" : "integer", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull())
    .addColumn("profile_id", "text", (c) => c.notNull())
    .addColumn("minute", "bigint", (c) => c.notNull())
    .addColumn("figures", "text", (c) => c.notNull())
    .execute();
  if (engine === "postgres")
    await sql`alter table sign_on_tallies set
      (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`.execute(trx);
}

/** In the order of reading. `profile_id` is empty when no profile was known. */
async function makeStatistics(trx: Trx, engine: Storage["engine"]): Promise<void> {
  await trx.schema
    .createTable("sign_on_statistics")
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("step", "text", (c) => c.notNull())
    .addColumn("starts_at", "bigint", (c) => c.notNull())
    .addColumn("profile_id", "text", (c) => c.notNull())
    .addColumn("figures", "text", (c) => c.notNull())
    .addColumn("forget_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("sign_on_statistics_in_order", ["store_id", "step", "starts_at", "profile_id"])
    .$call((table) => (engine === "sqlite" ? table.modifyEnd(sql`without rowid`) : table))
    .execute();
  await trx.schema
    .createIndex("sign_on_statistics_by_age")
    .on("sign_on_statistics")
    .column("forget_at")
    .execute();
}
