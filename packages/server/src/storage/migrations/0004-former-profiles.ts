import type { Migration } from "../migration.ts";

export const formerProfiles: Migration = {
  version: 4,
  name: "former profiles",
  async up(trx) {
    // The ids of deleted profiles whose identities count as this one's: an adoption writes one row, not a hundred
    // thousand.
    await trx.schema
      .alterTable("oidc_profiles")
      .addColumn("former_profile_ids", "text", (c) => c.notNull().defaultTo("[]"))
      .execute();
    // The profiles that a deleted profile had taken over, for the profile that takes over the deleted one.
    await trx.schema
      .createTable("deleted_profiles")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
      .addColumn("former_profile_ids", "text", (c) => c.notNull())
      .execute();
    await trx.schema
      .createIndex("deleted_profiles_by_store")
      .on("deleted_profiles")
      .columns(["store_id", "id"])
      .execute();
  },
};
