import type { Tables } from "../../packages/server/src/storage/tables.ts";

/**
 * Tables that stay small, whatever a store does. Any plan is good for them.
 */
const SMALL = {
  schema_migrations: "a row a migration",
  sealed_keys: "one, for digests of e-mail addresses",
  signing_keys: "one in use, the next, and those of the last month",
  id_token_keys: "one in use, the next, and those of the last month",
  event_outbox: "what was noted a moment ago: the sequencer takes it out",
  sign_on_tallies: "what was noted in the last second: it is added up and taken out",
} as const satisfies Partial<Record<keyof Tables, string>>;

/**
 * For every other table: the columns of which one value leaves few rows. A read by one of them may be filtered and
 * sorted. A read by anything else, such as the store, a profile or a time, needs a limit, in the order of its index.
 */
export const NARROW: Record<Exclude<keyof Tables, keyof typeof SMALL>, readonly string[]> = {
  stores: ["id"],
  application_keys: ["id", "client_id"],
  // A key has a few that work and ten that did.
  application_key_secrets: ["id", "application_key_id"],
  // Administrators make these by hand, so that a store has few of them.
  authentication_realms: ["id", "store_id"],
  customer_authentication_settings: ["store_id"],
  oidc_profiles: ["id", "store_id"],
  deleted_profiles: ["id", "store_id"],
  members: ["id", "email_key", "subject"],
  access_token_revocations: ["token_id"],
  idempotent_answers: ["key_hash"],
  // Of one person.
  customers: ["id", "email_key"],
  customer_identities: ["id", "customer_id", "subject"],
  customer_tokens: ["id", "customer_id", "subject", "idp_session"],
  sign_on_attempts: ["id", "code_hash", "subject", "idp_session"],
  ended_idp_sessions: ["subject"],
  sign_ons: ["id", "reference", "email_digest", "request_id"],
  // Of one store and step.
  sign_on_statistics: ["starts_at"],
  events: ["sequence"],
  event_heads: ["store_id"],
  event_erasures: ["person_id"],
  erased_digests: ["person_id", "digest"],
  // A store has at most a hundred.
  integrations: ["id", "store_id"],
  deleted_integrations: ["id"],
  integration_deliveries: ["id", "sequence"],
};

export type Exception = { from: string; sql: RegExp; reason: string };

/** Statements that may do it all the same. One that no statement needs any more fails the check. */
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
      "goes along the index of administrators to the first who could sign in; people make these by hand",
  },
  {
    from: "src/integrations/lease.ts",
    sql: /^update "integrations" set "lease"/,
    reason:
      "passes over those that others hold, which are no more than there are places for, and those of stores that hold their share, at most a hundred each",
  },
  {
    from: "src/storage/statement.ts",
    sql: /^select "due_at" as "at" from "integrations" where "is_slow"/,
    reason: "passes over those that are held, which are no more than there are places for",
  },
  {
    from: "src/storage/statement.ts",
    sql: /^update integration_deliveries set next_attempt_at = 0/,
    reason: "reads and sorts what waits for one receiver about one subject",
  },
  {
    from: "src/events/forget.ts",
    sql: /from "(events|integration_deliveries)" where "store_id" = .+ and "sequence" >= \S+ and "sequence" <= \S+$/,
    reason: "both ends are of a batch that was read with a limit",
  },
  {
    from: "src/delete-store.ts",
    sql: /^select count\(\*\)/,
    reason: "`latchkey store delete` counts for its progress, and does without where that takes too long",
  },
  {
    from: "src/delete-store.ts",
    sql: /^delete from "stores"/,
    reason: "the foreign keys look for what is left of the store, whose rows went before in batches",
  },
  {
    from: "src/restore/after-restore.ts",
    sql: /^update "(stores|application_key_secrets|integrations)"/,
    reason: "after a restore every store and secret is ended, before the service starts",
  },
  {
    from: "src/restore/carry-over.ts",
    sql: /max\("tokens_from"\)/,
    reason: "a restore looks once at all stores",
  },
  {
    from: "src/storage/delete-along.ts",
    sql: /created_at < /,
    reason: "where signing keys are replaced, all customer tokens go but those of the last moment",
  },
  {
    from: "src/customers/tokens/customer-token.ts",
    sql: /^select count\(\*\) as "tokens"/,
    reason: "`latchkey rotate-keys` says how many customers would be signed out, before it asks",
  },
  {
    from: "src/restore/replaced.ts",
    sql: /^select "id" from "stores" order by "id"$/,
    reason: "a restore goes through all stores",
  },
  {
    from: "src/cli/operator/restored.ts",
    sql: /^select (count\(\*\) as "rows"|"id", "store_id", "name", "url") from/,
    reason: "a restore counts what may be back, before the service starts",
  },
  {
    from: "src/cli/operator/after-restore.ts",
    sql: /^select "id", "store_id" from "application_keys"/,
    reason: "`latchkey after-restore --rotate-secrets` gives every key a new secret",
  },
  {
    from: "src/events/blanks.ts",
    sql: /and "subject" = \S+ order by "sequence"/,
    reason: "`latchkey events verify` passes over the later events of one person until it finds the erasure",
  },
];
