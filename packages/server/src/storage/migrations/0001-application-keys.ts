import { sql } from "kysely";
import type { Migration } from "../migration.ts";

export const applicationKeys: Migration = {
  version: 1,
  name: "application keys",
  async up(trx, engine) {
    await trx.schema
      .createTable("stores")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("name", "text", (c) => c.notNull())
      .addColumn("rate_limit", "integer", (c) => c.notNull().check(sql`rate_limit >= 1`))
      .addColumn("revision", "bigint", (c) => c.notNull().defaultTo(0))
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("updated_at", "bigint", (c) => c.notNull())
      .execute();

    await trx.schema
      .createTable("application_keys")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
      .addColumn("name", "text", (c) => c.notNull())
      .addColumn("client_id", "text", (c) => c.notNull().unique())
      .addColumn("reserved_rate_limit", "integer", (c) => c.notNull().check(sql`reserved_rate_limit >= 0`))
      .addColumn("last_used_at", "bigint")
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("updated_at", "bigint", (c) => c.notNull())
      .addUniqueConstraint("application_keys_in_store", ["store_id", "id"])
      .execute();

    await trx.schema
      .createTable("application_key_secrets")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("store_id", "text", (c) => c.notNull())
      .addColumn("application_key_id", "text", (c) => c.notNull())
      .addColumn("secret_hash", "text", (c) => c.notNull())
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("expires_at", "bigint")
      .addColumn("last_used_at", "bigint")
      .addForeignKeyConstraint(
        "application_key_secrets_key",
        ["store_id", "application_key_id"],
        "application_keys",
        ["store_id", "id"],
        (constraint) => constraint.onDelete("cascade"),
      )
      .execute();
    await trx.schema
      .createIndex("application_key_secrets_by_key")
      .on("application_key_secrets")
      .columns(["store_id", "application_key_id"])
      .execute();

    await trx.schema
      .createTable("access_token_revocations")
      .addColumn("token_id", "text", (c) => c.primaryKey())
      .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
      .addColumn("expires_at", "bigint", (c) => c.notNull())
      .execute();
    await trx.schema
      .createIndex("access_token_revocations_by_expiry")
      .on("access_token_revocations")
      .column("expires_at")
      .execute();

    if (engine === "postgres") await announceStoreChanges.execute(trx);
  },
};

/**
 * Cached data of a store depends on its row: a change that matters increments `stores.revision`, and a trigger notifies
 * every instance. On SQLite a process watches the file instead (sqlite.ts).
 */
const announceStoreChanges = sql`
  create function latchkey_announce_store() returns trigger language plpgsql as $$
  begin
    perform pg_notify('latchkey_changes', coalesce(new.id, old.id));
    return null;
  end $$;
  create trigger stores_announce after insert or update or delete on stores
    for each row execute function latchkey_announce_store();
`;
