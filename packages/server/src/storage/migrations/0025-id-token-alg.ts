import type { Migration } from "../migration.ts";

/** The algorithm of the latest accepted ID token: logout tokens must have the same. */
export const idTokenAlg: Migration = {
  version: 25,
  name: "id-token-alg",
  async up(trx) {
    // Null: no ID token was accepted since the column exists, or since the profile's address or client changed.
    await trx.schema.alterTable("oidc_profiles").addColumn("id_token_alg", "text").execute();
  },
};
