import type { Migration } from "../migration.ts";

/**
 * Access tokens of members who signed in through a profile are good from then on: those of before ended when it was
 * disabled.
 */
export const disabledProfiles: Migration = {
  version: 22,
  name: "disabled-profiles",
  async up(trx) {
    await trx.schema.alterTable("oidc_profiles").addColumn("tokens_from", "bigint").execute();
  },
};
