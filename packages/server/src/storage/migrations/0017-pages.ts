import type { Migration } from "../migration.ts";

/**
 * The shop's data that the pages show, and the data by which customers recognise their sessions. Null means none; the
 * previous release writes null.
 */
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
