import { sql } from "kysely";
import type { Migration } from "../migration.ts";

/**
 * Facts of a sign-on that support asks a caller for; tests of a provider among the records; and the sealed key of
 * e-mail digests, which outlives the master key.
 */
export const facts: Migration = {
  version: 13,
  name: "facts",
  async up(trx) {
    for (const column of ["redirect_uri", "browser", "operating_system", "network", "email_digest"])
      await trx.schema.alterTable("sign_ons").addColumn(column, "text").execute();
    await trx.schema.alterTable("sign_ons").addColumn("test", "integer").execute();
    await trx.schema
      .createIndex("sign_ons_of_email")
      .on("sign_ons")
      .columns(["store_id", "email_digest", "started_at", "id"])
      .where(sql.ref("email_digest"), "is not", null)
      .execute();
    await trx.schema
      .createTable("sealed_keys")
      .addColumn("name", "text", (c) => c.primaryKey())
      .addColumn("sealed_key", "text", (c) => c.notNull())
      .execute();
    // The address by which an erasure finds a person's records.
    await trx.schema.alterTable("event_erasures").addColumn("email_digest", "text").execute();
  },
};
