import type { Migration } from "../migration.ts";

/**
 * The duties of an application key as a client of its store's realms. The previous release creates keys without the
 * column: they get the default, PKCE and the scope `email`, which that release demands of every key.
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
