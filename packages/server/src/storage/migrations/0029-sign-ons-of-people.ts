import { sql } from "kysely";
import type { Migration } from "../migration.ts";

/**
 * Lists of test sign-ons and of members' sign-ons. Both are few among many shoppers', and the indexes have no others,
 * so a shopper's sign-on costs no more than before.
 */
export const signOnsOfPeople: Migration = {
  version: 29,
  name: "sign-ons-of-people",
  async up(trx) {
    for (const [name, column] of [
      ["sign_ons_of_tests", "test"],
      ["sign_ons_of_members", "of_members"],
    ] as const)
      await trx.schema
        .createIndex(name)
        .on("sign_ons")
        .columns(["store_id", column, "started_at", "id"])
        .where(sql.ref(column), "is not", null)
        .execute();
  },
};
