import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Trx } from "../storage.ts";

/**
 * Roles of application keys, the purpose of realms, and members. The previous release creates keys and realms without a
 * role or a purpose: they get the default, which is their meaning there.
 */
export const members: Migration = {
  version: 14,
  name: "members",
  async up(trx) {
    await trx.schema
      .alterTable("application_keys")
      .addColumn("role", "text", (c) => c.notNull().defaultTo("administrator"))
      .execute();
    await trx.schema
      .alterTable("authentication_realms")
      .addColumn("purpose", "text", (c) => c.notNull().defaultTo("customers"))
      .execute();
    // Decides which of two realms for members, created at once, is the store's.
    await trx.schema
      .createIndex("authentication_realms_of_members")
      .unique()
      .on("authentication_realms")
      .column("store_id")
      .where(sql.ref("purpose"), "=", sql.lit("members"))
      .execute();
    // A copy of the realm's purpose, which never changes: the list for public tokens then reads one table.
    await trx.schema
      .alterTable("oidc_profiles")
      .addColumn("purpose", "text", (c) => c.notNull().defaultTo("customers"))
      .execute();
    await makeMembers(trx);
  },
};

/** No foreign key to the profile that binds a member: the binding outlives the profile, and then allows no sign-in. */
async function makeMembers(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("members")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("email", "text", (c) => c.notNull())
    .addColumn("email_key", "text", (c) => c.notNull())
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("profile_id", "text")
    .addColumn("issuer", "text")
    .addColumn("subject", "text")
    .addColumn("last_signed_in_at", "bigint")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("members_by_email", ["store_id", "email_key"])
    .execute();
  const index = (name: string, columns: string[]) =>
    trx.schema.createIndex(name).on("members").columns(columns);
  await index("members_by_age", ["store_id", "created_at", "id"]).execute();
  await index("members_by_subject", ["store_id", "profile_id", "issuer", "subject"])
    .unique()
    .where(sql.ref("subject"), "is not", null)
    .execute();
  // For the check that another administrator exists, however many members there are.
  await index("members_administering", ["store_id", "id"])
    .where(sql.ref("role"), "=", sql.lit("administrator"))
    .execute();
}
