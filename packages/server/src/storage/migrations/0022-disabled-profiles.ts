import type { Migration } from "../migration.ts";

/**
 * Access tokens of members who signed in through a profile are valid from this time on: earlier ones ended when the
 * profile was disabled.
 */
export const disabledProfiles: Migration = {
  version: 22,
  name: "disabled-profiles",
  async up(trx) {
    await trx.schema.alterTable("oidc_profiles").addColumn("tokens_from", "bigint").execute();
  },
};
