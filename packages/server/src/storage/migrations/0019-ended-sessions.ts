import type { Migration } from "../migration.ts";

/** Sessions that identity providers have ended lately. An empty text means that the provider did not name it. */
export const endedSessions: Migration = {
  version: 19,
  name: "ended-sessions",
  async up(trx) {
    await trx.schema
      .createTable("ended_idp_sessions")
      .addColumn("store_id", "text", (column) => column.notNull().references("stores.id").onDelete("cascade"))
      .addColumn("profile_id", "text", (column) => column.notNull())
      .addColumn("subject", "text", (column) => column.notNull())
      .addColumn("idp_session", "text", (column) => column.notNull())
      .addColumn("ended_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("ended_idp_sessions_of_profile", [
        "store_id",
        "profile_id",
        "subject",
        "idp_session",
      ])
      .execute();
    await trx.schema
      .createIndex("ended_idp_sessions_by_age")
      .on("ended_idp_sessions")
      .column("ended_at")
      .execute();
  },
};
