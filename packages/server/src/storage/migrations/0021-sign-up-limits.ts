import type { Migration } from "../migration.ts";

/**
 * How many customers may be created with public tokens in an hour. Null, as the release before writes it: the default.
 */
export const signUpLimits: Migration = {
  version: 21,
  name: "sign-up limits",
  async up(trx) {
    for (const column of ["sign_ups_per_network", "sign_ups_per_hour"])
      await trx.schema.alterTable("stores").addColumn(column, "integer").execute();
  },
};
