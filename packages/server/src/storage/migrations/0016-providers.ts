import type { Migration } from "../migration.ts";

/** Facts about identity providers beyond their documents. The release before ignores these columns. */
export const providers: Migration = {
  version: 16,
  name: "providers",
  async up(trx) {
    // Former issuers of the provider whose identities were carried over: one row is written, not a million.
    for (const table of ["oidc_profiles", "deleted_profiles"])
      await trx.schema.alterTable(table).addColumn("former_issuers", "text").execute();
    // The unexpected issuer in the provider's document, and since when.
    await trx.schema.alterTable("oidc_profiles").addColumn("issuer_found", "text").execute();
    await trx.schema.alterTable("oidc_profiles").addColumn("issuer_found_at", "bigint").execute();
    // When its document was last read, noted every few hours: it only tells known from unknown health.
    await trx.schema.alterTable("oidc_profiles").addColumn("read_at", "bigint").execute();
    // The latest logout token that it has signed and that was refused: when, and why.
    await trx.schema.alterTable("oidc_profiles").addColumn("refused_logout", "text").execute();
    // Null means `always`; the previous release writes null.
    await trx.schema.alterTable("authentication_realms").addColumn("profile_updates", "text").execute();
    // The identity provider's error answer to a failed sign-on.
    await trx.schema.alterTable("sign_ons").addColumn("idp_answer", "text").execute();
  },
};
