import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Trx } from "../storage.ts";

/**
 * Webhooks: a store's receivers, and the result of each message. The previous release numbers events without marking
 * integrations as due, so while it runs beside this one, deliveries wait for the next event that this release numbers.
 */
export const integrations: Migration = {
  version: 11,
  name: "integrations",
  async up(trx) {
    await makeIntegrations(trx);
    await makeDeliveries(trx);
    await makeLeftovers(trx);
  },
};

async function makeIntegrations(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("integrations")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("description", "text", (c) => c.notNull())
    .addColumn("enabled", "integer", (c) => c.notNull())
    .addColumn("observes", "text", (c) => c.notNull())
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("format", "text", (c) => c.notNull())
    .addColumn("sealed_secret_key", "text")
    .addColumn("sealed_secret", "text", (c) => c.notNull())
    .addColumn("sealed_previous_secret", "text")
    .addColumn("previous_until", "bigint")
    // The state of the receiver.
    .addColumn("failing_since", "bigint")
    .addColumn("disabled_reason", "text")
    .addColumn("last_delivery", "text")
    // The last number turned into deliveries, and the rest of a replay.
    .addColumn("sequence", "bigint", (c) => c.notNull())
    .addColumn("replay_after", "bigint")
    .addColumn("replay_before", "bigint")
    // When the integration is due, and until when which instance serves it.
    .addColumn("due_at", "bigint")
    .addColumn("lease", "text")
    .addColumn("lease_until", "bigint", (c) => c.notNull())
    .addColumn("is_slow", "integer", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .execute();
  await trx.schema
    .createIndex("integrations_of_store")
    .on("integrations")
    .columns(["store_id", "created_at", "id"])
    .execute();
  await trx.schema
    .createIndex("integrations_due")
    .on("integrations")
    .columns(["is_slow", "due_at"])
    .where(sql.ref("due_at"), "is not", null)
    .execute();
  await trx.schema
    .createIndex("integrations_failing")
    .on("integrations")
    .column("failing_since")
    .where(sql.ref("failing_since"), "is not", null)
    .execute();
}

/** A row for each event and integration, without the event itself, which is read from the log when it is sent. */
async function makeDeliveries(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("integration_deliveries")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("integration_id", "text", (c) => c.notNull())
    .addColumn("sequence", "bigint", (c) => c.notNull())
    .addColumn("event_id", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("reason", "text")
    // The attempts of the schedule so far.
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("attempts", "text", (c) => c.notNull())
    // Null while an earlier delivery of the subject must go first, and after the end.
    .addColumn("next_attempt_at", "bigint")
    .addColumn("forget_at", "bigint")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .execute();
  const index = (name: string, columns: string[]) =>
    trx.schema
      .createIndex(name)
      .on("integration_deliveries")
      .columns(["store_id", "integration_id", ...columns]);
  await index("integration_deliveries_in_order", ["sequence"]).unique().execute();
  await index("integration_deliveries_of_status", ["status", "sequence"]).execute();
  await index("integration_deliveries_of_type", ["type", "sequence"]).execute();
  await index("integration_deliveries_due", ["next_attempt_at", "sequence"])
    .where(sql.ref("next_attempt_at"), "is not", null)
    .execute();
  await index("integration_deliveries_of_subject", ["subject", "next_attempt_at", "sequence"])
    .where(sql.ref("status"), "=", sql.lit("waiting"))
    .execute();
  await trx.schema
    .createIndex("integration_deliveries_to_forget")
    .on("integration_deliveries")
    .column("forget_at")
    .where(sql.ref("forget_at"), "is not", null)
    .execute();
}

/** Deleted integrations, until their deliveries are deleted too. */
async function makeLeftovers(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("deleted_integrations")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .execute();
  // For deleting the rows of a store.
  await trx.schema
    .createIndex("deleted_integrations_of_store")
    .on("deleted_integrations")
    .columns(["store_id", "id"])
    .execute();
}
