import { newId } from "../../lib/ids.ts";
import type { Migration } from "../migration.ts";
import type { Trx } from "../storage.ts";
import type { Tables } from "../tables.ts";

export const identityProviders: Migration = {
  version: 2,
  name: "identity providers",
  async up(trx) {
    await trx.schema
      .createTable("authentication_realms")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
      .addColumn("name", "text", (c) => c.notNull())
      .addColumn("redirect_uris", "text", (c) => c.notNull())
      .addColumn("duplicate_email_policy", "text", (c) => c.notNull())
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("updated_at", "bigint", (c) => c.notNull())
      .addUniqueConstraint("authentication_realms_in_store", ["store_id", "id"])
      .execute();

    // No cascade from the realm: a realm that is in use cannot be deleted.
    await trx.schema
      .createTable("customer_authentication_settings")
      .addColumn("store_id", "text", (c) => c.primaryKey().references("stores.id").onDelete("cascade"))
      .addColumn("client_id", "text", (c) => c.notNull())
      .addColumn("realm_id", "text", (c) => c.notNull())
      .addColumn("updated_at", "bigint", (c) => c.notNull())
      .addForeignKeyConstraint("settings_realm", ["store_id", "realm_id"], "authentication_realms", [
        "store_id",
        "id",
      ])
      .execute();

    await trx.schema
      .createTable("oidc_profiles")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("store_id", "text", (c) => c.notNull())
      .addColumn("realm_id", "text", (c) => c.notNull())
      .addColumn("name", "text", (c) => c.notNull())
      .addColumn("discovery_url", "text", (c) => c.notNull())
      .addColumn("client_id", "text", (c) => c.notNull())
      .addColumn("sealed_client_secret", "text", (c) => c.notNull())
      .addColumn("sealed_client_secret_next", "text")
      .addColumn("enabled", "integer", (c) => c.notNull())
      .addColumn("flow", "text", (c) => c.notNull())
      .addColumn("provisioning", "text", (c) => c.notNull())
      .addColumn("metadata", "text")
      .addColumn("pending_metadata", "text")
      .addColumn("pending_since", "bigint")
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("updated_at", "bigint", (c) => c.notNull())
      .addUniqueConstraint("oidc_profiles_in_store", ["store_id", "id"])
      .addForeignKeyConstraint("oidc_profiles_realm", ["store_id", "realm_id"], "authentication_realms", [
        "store_id",
        "id",
      ])
      .execute();
    await trx.schema
      .createIndex("oidc_profiles_by_realm")
      .on("oidc_profiles")
      .columns(["store_id", "realm_id"])
      .execute();

    await giveStoresTheirRealm(trx);
  },
};

/** Existing stores get the same rows as a new store. */
async function giveStoresTheirRealm(trx: Trx): Promise<void> {
  const stores = await trx.selectFrom("stores").select(["id", "created_at"]).execute();
  for (const { id: store_id, created_at } of stores) {
    const id = newId();
    const times = { created_at, updated_at: created_at };
    const texts = { name: "Customers", redirect_uris: "[]", duplicate_email_policy: "allowed" };
    // Without the columns of later migrations, which do not exist yet.
    await trx
      .insertInto("authentication_realms")
      .values({ id, store_id, ...texts, ...times } as Tables["authentication_realms"])
      .execute();
    await trx
      .insertInto("customer_authentication_settings")
      .values({ store_id, client_id: "customers", realm_id: id, updated_at: created_at })
      .execute();
  }
}
