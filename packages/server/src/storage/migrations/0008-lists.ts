import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Storage } from "../storage.ts";

/**
 * An index for every filter and order of the lists. Each ends with the tie-breaking columns, so a page is read from its
 * index without a sort. Indexes that are a prefix of a new one are dropped: the previous release uses the longer index.
 */
export const lists: Migration = {
  version: 8,
  name: "lists",
  async up(trx, engine) {
    // SQLite compares several columns at once only along an index of columns, so the lower-case text is a column here,
    // though a virtual one.
    if (engine === "sqlite")
      await sql`alter table customers add column name_key text generated always as (lower(name)) virtual`.execute(
        trx,
      );
    const indexes = indexesOf(engine);
    for (const { name, table, columns, where } of indexes) {
      const only = where ? ` where ${where}` : "";
      await sql.raw(`create index ${name} on ${table} (${columns})${only}`).execute(trx);
    }
    // On PostgreSQL this locks the table against reads until the migration ends, so it comes last.
    for (const { instead } of indexes) if (instead) await trx.schema.dropIndex(instead).execute();
  },
};

type Index = { name: string; table: string; columns: string; where?: string; instead?: string };

/**
 * PostgreSQL blocks writes to a table from its first new index until the migration ends. So the slow indexes on
 * records, which can wait in memory, come first, and the indexes on tables that a sign-on writes come last.
 */
function indexesOf(engine: Storage["engine"]): Index[] {
  // A prefix is a range only where text is compared byte by byte, which PostgreSQL does in this collation and SQLite
  // always.
  const nameKey = engine === "postgres" ? '(lower(name) collate "C")' : "name_key";
  const bytes = engine === "postgres" ? ' collate "C"' : "";
  return [
    {
      name: "sign_ons_of_profile",
      table: "sign_ons",
      columns: "store_id, profile_id, started_at, id",
      instead: "sign_ons_by_profile",
    },
    {
      name: "sign_ons_of_reference",
      table: "sign_ons",
      columns: "store_id, reference, started_at, id",
      instead: "sign_ons_by_reference",
    },
    { name: "sign_ons_of_outcome", table: "sign_ons", columns: "store_id, outcome, started_at, id" },
    {
      name: "sign_ons_of_reason",
      table: "sign_ons",
      columns: "store_id, reason, started_at, id",
      where: "reason is not null",
    },
    {
      name: "sign_ons_of_customer",
      table: "sign_ons",
      columns: "store_id, customer_id, started_at, id",
      where: "customer_id is not null",
    },
    {
      name: "authentication_realms_by_age",
      table: "authentication_realms",
      columns: "store_id, created_at, id",
    },
    {
      name: "oidc_profiles_by_age",
      table: "oidc_profiles",
      columns: "store_id, realm_id, created_at, id",
      instead: "oidc_profiles_by_realm",
    },
    { name: "application_keys_by_age", table: "application_keys", columns: "store_id, created_at, id" },
    {
      name: "customers_in_email_order",
      table: "customers",
      columns: `store_id, email_key${bytes}, created_at, id`,
      // PostgreSQL keeps the other index: it compares in the database's own collation, as the look-up at a sign-on
      // does.
      ...(engine === "sqlite" && { instead: "customers_by_email" }),
    },
    {
      name: "customers_in_name_order",
      table: "customers",
      columns: `store_id, ${nameKey}, name${bytes}, created_at, id`,
    },
    { name: "customers_in_update_order", table: "customers", columns: "store_id, updated_at, id" },
    {
      // References can be longer than PostgreSQL accepts in an index.
      name: "customers_by_reference",
      table: "customers",
      columns: "store_id, (substr(external_ref, 1, 255)), created_at, id",
      where: "external_ref is not null",
    },
    {
      name: "customer_tokens_by_age",
      table: "customer_tokens",
      columns: "store_id, customer_id, created_at, id",
      instead: "customer_tokens_by_customer",
    },
  ];
}
