import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Storage, Trx } from "../storage.ts";

/**
 * The event log: rows wait in `event_outbox` until the sequencer numbers and chains them into `events`; `event_heads`
 * has both ends of each store's log. The previous release writes no events, and ignores the tables.
 */
export const events: Migration = {
  version: 10,
  name: "events",
  async up(trx, engine) {
    await makeOutbox(trx, engine);
    await makeEvents(trx, engine);
    await makeHeads(trx);
    await makeErasures(trx);
    // The health of an identity provider that was last reported, by any instance.
    await trx.schema.alterTable("oidc_profiles").addColumn("told_health", "text").execute();
  },
};

/** No foreign key and one index only: every sign-on writes here, and a row stays for a moment. */
async function makeOutbox(trx: Trx, engine: Storage["engine"]): Promise<void> {
  await trx.schema
    .createTable("event_outbox")
    .addColumn("position", engine === "postgres" ? "bigserial" : "integer", (c) => c.primaryKey())
    .addColumn("id", "text", (c) => c.notNull())
    .addColumn("store_id", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("actor_id", "text")
    .addColumn("person_id", "text")
    .addColumn("time", "bigint", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .execute();
  // Rows arrive and leave at one end, so autovacuum counts dead rows and not their share of a nearly empty table.
  if (engine === "postgres")
    await sql`alter table event_outbox set
      (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`.execute(trx);
}

/** On SQLite the log is stored in its primary key, and every index ends with that key, so no column is stored twice. */
async function makeEvents(trx: Trx, engine: Storage["engine"]): Promise<void> {
  await trx.schema
    .createTable("events")
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("sequence", "bigint", (c) => c.notNull())
    .addColumn("id", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("actor_id", "text")
    .addColumn("person_id", "text")
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("time", "bigint", (c) => c.notNull())
    // The maximum time of this and all earlier events. It never falls, so a binary search finds a time, whatever the
    // clocks did.
    .addColumn("latest_time", "bigint", (c) => c.notNull())
    .addColumn("salt", "text")
    .addColumn("digest", "text", (c) => c.notNull())
    .addColumn("previous_hash", "text", (c) => c.notNull())
    .addColumn("hash", "text", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("events_in_order", ["store_id", "sequence"])
    .$call((table) => (engine === "sqlite" ? table.modifyEnd(sql`without rowid`) : table))
    .execute();
  const index = (name: string, column: string) =>
    trx.schema.createIndex(name).on("events").columns(["store_id", column, "sequence"]);
  await index("events_of_type", "type").execute();
  await index("events_of_subject", "subject").execute();
  await index("events_of_actor", "actor_id").where(sql.ref("actor_id"), "is not", null).execute();
  await index("events_of_person", "person_id").where(sql.ref("person_id"), "is not", null).execute();
}

async function makeHeads(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("event_heads")
    .addColumn("store_id", "text", (c) => c.primaryKey().references("stores.id").onDelete("cascade"))
    .addColumn("last_sequence", "bigint", (c) => c.notNull())
    .addColumn("last_hash", "text", (c) => c.notNull())
    .addColumn("latest_time", "bigint", (c) => c.notNull())
    .addColumn("first_sequence", "bigint", (c) => c.notNull())
    .addColumn("forgotten_hash", "text", (c) => c.notNull())
    .addColumn("oldest_time", "bigint")
    .execute();
  await trx.schema
    .createIndex("event_heads_by_age")
    .on("event_heads")
    .column("oldest_time")
    .where(sql.ref("oldest_time"), "is not", null)
    .execute();
}

/** Erasures that have begun and are not finished. After an interruption the next run continues them. */
async function makeErasures(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("event_erasures")
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("person_id", "text", (c) => c.notNull())
    .addColumn("asked_at", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("event_erasures_by_person", ["store_id", "person_id"])
    .execute();
}
