import type { Migration } from "../migration.ts";

/** What our pages show of the shop that a shopper came from. Null, as the release before writes it: nothing. */
export const pages: Migration = {
  version: 17,
  name: "pages",
  async up(trx) {
    for (const column of ["home_url", "logo_url", "accent_color"])
      await trx.schema.alterTable("authentication_realms").addColumn(column, "text").execute();
  },
};
