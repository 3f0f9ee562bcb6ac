import type { Migration } from "../migration.ts";

export const formerProfiles: Migration = {
  version: 4,
  name: "former profiles",
  async up(trx) {
    // The ids of deleted profiles whose identities count as this one's: an adoption writes one row, not a hundred thousand.
    await trx.schema
      .alterTable("oidc_profiles")
      .addColumn("former_profile_ids", "text", (c) => c.notNull().defaultTo("[]"))
      .execute();
  },
};
