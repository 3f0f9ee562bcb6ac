import type { Migration } from "../migration.ts";

/** What our pages show of the shop that a shopper came from, and what customers know their sessions by. Null, as the release before writes it: nothing. */
export const pages: Migration = {
  version: 17,
  name: "pages",
  async up(trx) {
    for (const column of ["home_url", "logo_url", "accent_color"])
      await trx.schema.alterTable("authentication_realms").addColumn(column, "text").execute();
    for (const column of ["browser", "operating_system", "network"])
      await trx.schema.alterTable("customer_tokens").addColumn(column, "text").execute();
  },
};
