import { sql } from "kysely";
import type { Migration } from "../migration.ts";
import type { Trx } from "../storage.ts";

export const customersAndSignOn: Migration = {
  version: 3,
  name: "customers and sign-on",
  async up(trx) {
    await makeCustomers(trx);
    await makeTokens(trx);
    await makeSignOns(trx);
  },
};

async function makeCustomers(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("customers")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("email", "text", (c) => c.notNull())
    .addColumn("email_key", "text", (c) => c.notNull())
    .addColumn("email_verified", "integer", (c) => c.notNull())
    .addColumn("password_hash", "text")
    .addColumn("external_ref", "text")
    .addColumn("authentication_mechanism", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("customers_in_store", ["store_id", "id"])
    .execute();
  await trx.schema
    .createIndex("customers_by_email")
    .on("customers")
    .columns(["store_id", "email_key"])
    .execute();
  // An e-mail and a password name one customer. Customers without a password may share an address.
  await trx.schema
    .createIndex("customers_by_password")
    .on("customers")
    .columns(["store_id", "email_key"])
    .unique()
    .where(sql.ref("password_hash"), "is not", null)
    .execute();
  await trx.schema
    .createIndex("customers_by_age")
    .on("customers")
    .columns(["store_id", "created_at", "id"])
    .execute();

  // A profile's identities outlive the profile; a new profile for the same client may take them over.
  await trx.schema
    .createTable("customer_identities")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull())
    .addColumn("realm_id", "text", (c) => c.notNull())
    .addColumn("profile_id", "text", (c) => c.notNull())
    .addColumn("issuer", "text", (c) => c.notNull())
    .addColumn("client_id", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("customer_id", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addUniqueConstraint("customer_identities_subject", ["store_id", "profile_id", "issuer", "subject"])
    .addForeignKeyConstraint(
      "customer_identities_customer",
      ["store_id", "customer_id"],
      "customers",
      ["store_id", "id"],
      (constraint) => constraint.onDelete("cascade"),
    )
    .execute();
  await trx.schema
    .createIndex("customer_identities_by_customer")
    .on("customer_identities")
    .columns(["store_id", "customer_id"])
    .execute();
  await trx.schema
    .createIndex("customer_identities_by_client")
    .on("customer_identities")
    .columns(["store_id", "realm_id", "issuer", "client_id", "profile_id"])
    .execute();
}

async function makeTokens(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("customer_tokens")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull())
    .addColumn("customer_id", "text", (c) => c.notNull())
    .addColumn("mechanism", "text", (c) => c.notNull())
    .addColumn("profile_id", "text")
    .addColumn("profile_name", "text")
    .addColumn("subject", "text")
    .addColumn("idp_session", "text")
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("expires_at", "bigint", (c) => c.notNull())
    .addForeignKeyConstraint(
      "customer_tokens_customer",
      ["store_id", "customer_id"],
      "customers",
      ["store_id", "id"],
      (constraint) => constraint.onDelete("cascade"),
    )
    .execute();
  await trx.schema
    .createIndex("customer_tokens_by_customer")
    .on("customer_tokens")
    .columns(["store_id", "customer_id"])
    .execute();
  await trx.schema
    .createIndex("customer_tokens_by_subject")
    .on("customer_tokens")
    .columns(["store_id", "profile_id", "subject"])
    .execute();
  await trx.schema
    .createIndex("customer_tokens_by_expiry")
    .on("customer_tokens")
    .column("expires_at")
    .execute();

  await trx.schema
    .createTable("signing_keys")
    .addColumn("kid", "text", (c) => c.primaryKey())
    .addColumn("public_jwk", "text", (c) => c.notNull())
    .addColumn("sealed_private_key", "text", (c) => c.notNull())
    .addColumn("created_at", "bigint", (c) => c.notNull())
    .addColumn("signs_from", "bigint", (c) => c.notNull())
    .execute();

  await trx.schema
    .createTable("idempotent_answers")
    .addColumn("key_hash", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("sealed_answer", "text", (c) => c.notNull())
    .addColumn("expires_at", "bigint", (c) => c.notNull())
    .execute();
}

async function makeSignOns(trx: Trx): Promise<void> {
  await trx.schema
    .createTable("sign_on_attempts")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("realm_id", "text", (c) => c.notNull())
    .addColumn("profile_id", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) =>
      c.notNull().check(sql`state in ('returned', 'code_issued', 'exchanged', 'failed')`),
    )
    .addColumn("client_id", "text", (c) => c.notNull())
    .addColumn("client_redirect_uri", "text", (c) => c.notNull())
    .addColumn("code_challenge", "text")
    .addColumn("client_nonce", "text")
    .addColumn("code_hash", "text", (c) => c.unique())
    .addColumn("code_expires_at", "bigint")
    .addColumn("identity", "text")
    .addColumn("subject", "text")
    .addColumn("idp_session", "text")
    .addColumn("exchanged_at", "bigint")
    .addColumn("token_id", "text")
    .addColumn("forget_at", "bigint", (c) => c.notNull())
    .execute();
  await trx.schema
    .createIndex("sign_on_attempts_by_age")
    .on("sign_on_attempts")
    .column("forget_at")
    .execute();

  await trx.schema
    .createTable("sign_ons")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("store_id", "text", (c) => c.notNull().references("stores.id").onDelete("cascade"))
    .addColumn("realm_id", "text", (c) => c.notNull())
    .addColumn("profile_id", "text")
    .addColumn("profile_name", "text")
    .addColumn("reference", "text", (c) => c.notNull())
    .addColumn("outcome", "text", (c) => c.notNull())
    .addColumn("reason", "text")
    .addColumn("error", "text")
    .addColumn("checks", "text", (c) => c.notNull())
    .addColumn("timings", "text", (c) => c.notNull())
    .addColumn("customer_id", "text")
    .addColumn("started_at", "bigint", (c) => c.notNull())
    .addColumn("updated_at", "bigint", (c) => c.notNull())
    .execute();
  await trx.schema
    .createIndex("sign_ons_by_age")
    .on("sign_ons")
    .columns(["store_id", "started_at", "id"])
    .execute();
  await trx.schema.createIndex("sign_ons_by_start").on("sign_ons").column("started_at").execute();
  await trx.schema
    .createIndex("sign_on_attempts_by_subject")
    .on("sign_on_attempts")
    .columns(["store_id", "profile_id", "subject"])
    .execute();
  await trx.schema
    .createIndex("sign_ons_by_profile")
    .on("sign_ons")
    .columns(["store_id", "profile_id", "started_at"])
    .execute();
  await trx.schema
    .createIndex("sign_ons_by_reference")
    .on("sign_ons")
    .columns(["store_id", "reference"])
    .execute();
  await trx.schema
    .createIndex("sign_ons_by_outcome")
    .on("sign_ons")
    .columns(["outcome", "updated_at"])
    .execute();
}
