import { sql } from "kysely";
import type { Migration } from "../migration.ts";

/** The data that the realm as an OpenID provider needs beyond a code and a customer token. */
export const openidProvider: Migration = {
  version: 15,
  name: "openid provider",
  async up(trx, engine) {
    // Null: made by a release that signed with ES256 only. Its storefronts were configured for ES256, so the realm
    // keeps it.
    await trx.schema
      .alterTable("authentication_realms")
      .addColumn("id_token_signed_response_alg", "text")
      .execute();
    await trx.schema.alterTable("oidc_profiles").addColumn("propagate_logout", "integer").execute();
    await trx.schema.alterTable("sign_on_attempts").addColumn("client_scope", "text").execute();
    await trx.schema.alterTable("sign_on_attempts").addColumn("is_confidential", "integer").execute();
    // A separate table, because the previous release takes every row of signing_keys for an ES256 key.
    await trx.schema
      .createTable("id_token_keys")
      .addColumn("kid", "text", (c) => c.primaryKey())
      .addColumn("public_jwk", "text", (c) => c.notNull())
      .addColumn("sealed_private_key", "text", (c) => c.notNull())
      .addColumn("created_at", "bigint", (c) => c.notNull())
      .addColumn("signs_from", "bigint", (c) => c.notNull())
      .execute();
    if (engine === "postgres")
      await sql`create trigger id_token_keys_announce after delete on id_token_keys
        for each row execute function latchkey_announce_all()`.execute(trx);
  },
};
