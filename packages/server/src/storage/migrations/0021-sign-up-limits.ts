import type { Migration } from "../migration.ts";

/**
 * The limits of customers created with public tokens per hour. Null, as the previous release writes it: the default.
 */
export const signUpLimits: Migration = {
  version: 21,
  name: "sign-up limits",
  async up(trx) {
    for (const column of ["sign_ups_per_network", "sign_ups_per_hour"])
      await trx.schema.alterTable("stores").addColumn(column, "integer").execute();
  },
};
