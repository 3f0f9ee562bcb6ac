import type { Migration } from "../migration.ts";

/** With which algorithm a provider signed the latest ID token that was accepted: logout tokens must have the same. */
export const idTokenAlg: Migration = {
  version: 25,
  name: "id-token-alg",
  async up(trx) {
    // Null: no ID token was accepted since there is this column, or since the profile was given another address or
    // client.
    await trx.schema.alterTable("oidc_profiles").addColumn("id_token_alg", "text").execute();
  },
};
