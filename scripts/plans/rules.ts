import type { Tables } from "../../packages/server/src/storage/tables.ts";

/** Tables that are always small, so any plan is good. */
const SMALL = {
  schema_migrations: "a row a migration",
  sealed_keys: "one row, for digests of e-mail addresses",
  signing_keys: "the key in use, the next key, and the keys of the last month",
  id_token_keys: "the key in use, the next key, and the keys of the last month",
  event_outbox: "the events of the last moments: the sequencer deletes them",
  sign_on_tallies: "the tallies of the last second: the service adds them up and deletes them",
  sign_on_tallies_by_key:
    "as `sign_on_tallies`; once a minute also a row for each profile and key with redirects",
} as const satisfies Partial<Record<keyof Tables, string>>;

/**
 * The columns of every other table for which a value selects few rows. A read by such a column may be filtered and
 * sorted. A read by another column, such as the store, a profile or a time, needs a limit in the order of the index.
 */
export const NARROW: Record<Exclude<keyof Tables, keyof typeof SMALL>, readonly string[]> = {
  stores: ["id"],
  application_keys: ["id", "client_id"],
  // A key has a few valid secrets and ten expired ones.
  application_key_secrets: ["id", "application_key_id"],
  // Administrators create realms and profiles by hand, so a store has few.
  authentication_realms: ["id", "store_id"],
  customer_authentication_settings: ["store_id"],
  oidc_profiles: ["id", "store_id"],
  deleted_profiles: ["id", "store_id"],
  // A profile has at most five links, and a few expired ones.
  setup_links: ["id", "token_hash", "profile_id", "store_id"],
  members: ["id", "email_key", "subject"],
  access_token_revocations: ["token_id"],
  idempotent_answers: ["key_hash"],
  // A person has few of the rows below.
  customers: ["id", "email_key"],
  customer_identities: ["id", "customer_id", "subject"],
  customer_tokens: ["id", "customer_id", "subject", "idp_session"],
  sign_on_attempts: ["id", "code_hash", "subject", "idp_session"],
  ended_idp_sessions: ["subject"],
  sign_ons: ["id", "reference", "email_digest", "request_id"],
  // A store has few rows of one step for a time.
  sign_on_statistics: ["starts_at"],
  sign_on_statistics_parts: ["starts_at"],
  events: ["sequence"],
  event_heads: ["store_id"],
  event_erasures: ["person_id"],
  erased_digests: ["person_id", "digest"],
  // A store has at most a hundred integrations.
  integrations: ["id", "store_id"],
  deleted_integrations: ["id"],
  integration_deliveries: ["id", "sequence"],
};

export type Exception = { from: string; sql: RegExp; reason: string };

/** Statements with an accepted fault. The check fails if no statement needs an exception. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    from: "src/profiles/client-secret.ts",
    sql: /^select "id", "store_id", "sealed_client_secret", "sealed_client_secret_next" from "oidc_profiles"$/,
    reason: "`latchkey rotate-keys` seals every secret anew",
  },
  {
    from: "src/application-keys/application-key.ts",
    sql: /reserved_rate_limit > 0$/,
    reason: "the dry run's answer has every key with a reservation",
  },
  {
    from: "src/members/administer.ts",
    sql: /"other"\."role" = 'administrator'/,
    reason:
      "reads the index of administrators up to the first that could sign in; administrators are created by hand",
  },
  {
    from: "src/integrations/lease.ts",
    sql: /^update "integrations" set "lease"/,
    reason:
      "skips integrations that other instances hold, bounded by the number of places, and integrations of stores with their full share, at most a hundred each",
  },
  {
    from: "src/storage/statement.ts",
    sql: /^select "due_at" as "at" from "integrations" where "is_slow"/,
    reason: "skips held integrations, bounded by the number of places",
  },
  {
    from: "src/storage/statement.ts",
    sql: /^update integration_deliveries set next_attempt_at = 0/,
    reason: "reads and sorts the waiting deliveries for one receiver about one subject",
  },
  {
    from: "src/events/forget.ts",
    sql: /from "(events|integration_deliveries)" where "store_id" = .+ and "sequence" >= \S+ and "sequence" <= \S+$/,
    reason: "both ends belong to a batch that was read with a limit",
  },
  {
    from: "src/delete-store.ts",
    sql: /^select count\(\*\)/,
    reason:
      "`latchkey store delete` counts for its progress bar, and shows no progress if counting takes too long",
  },
  {
    from: "src/delete-store.ts",
    sql: /^delete from "stores"/,
    reason: "the foreign keys look for remaining rows of the store, which were deleted in batches before",
  },
  {
    from: "src/restore/end-rights.ts",
    sql: /^update "(stores|application_key_secrets|integrations)"/,
    reason: "a restore updates every store, secret and integration, before the service starts",
  },
  {
    from: "src/restore/carry-over.ts",
    sql: /max\("tokens_from"\)/,
    reason: "a restore reads all stores once",
  },
  {
    from: "src/storage/delete-along.ts",
    sql: /created_at < /,
    reason: "a replacement of signing keys deletes all customer tokens except the newest",
  },
  {
    from: "src/customers/tokens/revoke-tokens.ts",
    sql: /^select count\(\*\) as "tokens"/,
    reason:
      "`latchkey rotate-keys` prints how many customers would be signed out, before it asks for confirmation",
  },
  {
    from: "src/restore/replaced.ts",
    sql: /^select "id" from "stores" order by "id"$/,
    reason: "a restore reads all stores",
  },
  {
    from: "src/cli/operator/report-restore.ts",
    sql: /^select (count\(\*\) as "rows"|"id", "store_id", "name", "url") from/,
    reason: "a restore counts rows that may have returned, before the service starts",
  },
  {
    from: "src/cli/operator/after-restore.ts",
    sql: /^select "id", "store_id" from "application_keys"/,
    reason: "`latchkey after-restore --rotate-secrets` gives every key a new secret",
  },
  {
    from: "src/events/verify-erasures.ts",
    sql: /and "subject" = \S+ order by "sequence"/,
    reason: "`latchkey events verify` skips the later events of one person until the erasure",
  },
];
