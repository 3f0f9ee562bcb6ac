import type { Migration } from "../migration.ts";

/**
 * Digests of each address and identity of erased people. They find records of sign-ons, and refuse a sign-on that was
 * under way at the erasure.
 */
export const erasedPeople: Migration = {
  version: 23,
  name: "erased-people",
  async up(trx) {
    await trx.schema
      .createTable("erased_digests")
      .addColumn("store_id", "text", (column) => column.notNull().references("stores.id").onDelete("cascade"))
      .addColumn("person_id", "text", (column) => column.notNull())
      .addColumn("digest", "text", (column) => column.notNull())
      .addColumn("erased_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("erased_digests_of_person", ["store_id", "person_id", "digest"])
      .execute();
    await trx.schema
      .createIndex("erased_digests_by_digest")
      .on("erased_digests")
      .columns(["store_id", "digest"])
      .execute();
    await trx.schema.createIndex("erased_digests_by_age").on("erased_digests").column("erased_at").execute();
    // Members could not be erased before, so their events did not say whose data they hold.
    await trx
      .updateTable("events")
      .set(({ ref }) => ({ person_id: ref("subject") }))
      .where("store_id", "in", (of) => of.selectFrom("stores").select("id"))
      .where("type", "in", ["member.created", "member.updated"])
      .execute();
  },
};
