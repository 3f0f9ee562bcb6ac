import type { Migration } from "../migration.ts";

/**
 * What an application key owes as a client of its store's realms. The release before makes keys without naming it: they
 * get the default, PKCE and the scope `email`, which is what that release demands of every key.
 */
export const openidClient: Migration = {
  version: 24,
  name: "openid-client",
  async up(trx) {
    await trx.schema
      .alterTable("application_keys")
      .addColumn("openid_client", "text", (c) => c.notNull().defaultTo("pkce"))
      .execute();
  },
};
