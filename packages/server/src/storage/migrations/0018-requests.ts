import { sql } from "kysely";
import type { Migration } from "../migration.ts";

/** The request of a failed sign-on, so that the id on a shopper's screen or in a storefront's log finds the record. */
export const requests: Migration = {
  version: 18,
  name: "requests",
  async up(trx) {
    await trx.schema.alterTable("sign_ons").addColumn("request_id", "text").execute();
    // Contains failures only, so a successful sign-on costs no more than before.
    await trx.schema
      .createIndex("sign_ons_of_request")
      .on("sign_ons")
      .columns(["store_id", "request_id", "started_at", "id"])
      .where(sql.ref("request_id"), "is not", null)
      .execute();
  },
};
