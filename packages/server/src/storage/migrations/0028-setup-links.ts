import type { Migration } from "../migration.ts";

/** Links to the page for the administrator of an identity provider. Only the hash of a link's token is stored. */
export const setupLinks: Migration = {
  version: 28,
  name: "setup-links",
  async up(trx) {
    await trx.schema
      .createTable("setup_links")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("store_id", "text", (column) => column.notNull().references("stores.id").onDelete("cascade"))
      .addColumn("realm_id", "text", (column) => column.notNull())
      // The release before deletes profiles without knowing their links.
      .addColumn("profile_id", "text", (column) =>
        column.notNull().references("oidc_profiles.id").onDelete("cascade"),
      )
      .addColumn("token_hash", "text", (column) => column.notNull().unique())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      // The latest check that was asked for on the page, and what it found. Null: there was none.
      .addColumn("checked_at", "bigint")
      .addColumn("report", "text")
      .execute();
    const index = (name: string, columns: string[]) =>
      trx.schema.createIndex(name).on("setup_links").columns(columns).execute();
    await index("setup_links_of_store", ["store_id", "profile_id", "expires_at"]);
    // For the foreign key.
    await index("setup_links_of_profile", ["profile_id"]);
    await index("setup_links_by_expiry", ["expires_at"]);
  },
};
