import { randomBytes } from "node:crypto";
import { idFromBytes } from "../../packages/server/src/lib/ids.ts";
import { hashSecret, newCredential } from "../../packages/server/src/lib/secrets.ts";
import { referenceOf } from "../../packages/server/src/sign-on-records/reference.ts";
import type { Tables } from "../../packages/server/src/storage/tables.ts";

/** Rows of a store in service: many customers, repeated names, times over months, mostly successful sign-ons. */

const DAY_MS = 86_400_000;

export type SeededStore = {
  storeId: string;
  realmId: string;
  profileId: string;
  issuer: string;
  now: number;
};

/** Row `index` of `of` rows. */
export type Nth = { index: number; of: number };

/** A UUIDv7 of this time, so that rows have the same order in the tables as rows of a running service. */
export function idAt(ms: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.floor(ms), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  return idFromBytes(bytes);
}

const FIRST = "Ada Grace Alan Edsger Barbara Donald Frances Ken Margaret Dennis Radia Tim Hedy Linus".split(
  " ",
);
const LAST = "Lovelace Hopper Turing Dijkstra Liskov Knuth Allen Thompson Hamilton Müller Okafor Silva".split(
  " ",
);
const MAIL = ["mail.example", "post.example", "inbox.example", "shop.example"];
const pick = <T>(from: readonly T[], index: number): T => from[index % from.length] as T;

/** The time of a row, with all rows spread evenly over the last `days` days. */
const spread = (now: number, days: number, { index, of }: Nth): number =>
  Math.floor(now - days * DAY_MS + ((index + 0.5) / of) * days * DAY_MS);

/** No password has this hash. */
const PASSWORD_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;

/** Every tenth customer has a password, every third an external reference. */
export function customerRow({ storeId, now }: SeededStore, nth: Nth) {
  const { index } = nth;
  const first = pick(FIRST, index);
  const last = pick(LAST, Math.floor(index / FIRST.length));
  const email = `${first}.${last}.${index}@${pick(MAIL, index)}`;
  const at = spread(now, 180, nth);
  const hasPassword = index % 10 === 0;
  return {
    id: idAt(at),
    store_id: storeId,
    name: `${first} ${last}`,
    email,
    email_key: email.toLowerCase(),
    email_verified: 1,
    password_hash: hasPassword ? PASSWORD_HASH : null,
    external_ref: index % 3 === 0 ? `crm-${index}` : null,
    authentication_mechanism: hasPassword ? "password" : "oidc",
    created_at: at,
    updated_at: at + (index % 100) * 60_000,
  } satisfies Partial<Tables["customers"]>;
}

/** The subject that the benchmark's identity provider gives to the person `seeded-…`. */
const subjectOf = (customer: number): string => `subject-seeded-${customer}`;

export function identityRow(store: SeededStore, customerId: string, nth: Nth) {
  const at = spread(store.now, 180, nth);
  return {
    id: idAt(at),
    store_id: store.storeId,
    realm_id: store.realmId,
    profile_id: store.profileId,
    issuer: store.issuer,
    client_id: "the-store",
    subject: subjectOf(nth.index),
    customer_id: customerId,
    created_at: at,
  } satisfies Partial<Tables["customer_identities"]>;
}

/** Created within the last twelve hours, valid for at least twelve more. */
export function tokenRow(store: SeededStore, customer: { id: string; index: number }, nth: Nth) {
  const at = spread(store.now, 0.5, nth);
  return {
    id: idAt(at),
    store_id: store.storeId,
    customer_id: customer.id,
    mechanism: "oidc",
    profile_id: store.profileId,
    profile_name: "Bench",
    subject: subjectOf(customer.index),
    idp_session: null,
    created_at: at,
    expires_at: at + DAY_MS,
  } satisfies Partial<Tables["customer_tokens"]>;
}

const CHECKED = ["signature", "issuer", "audience", "expiry", "nonce"];
const CHECKS = JSON.stringify(
  CHECKED.map((what) => ({
    check: `id_token.${what}`,
    passed: true,
    expected: "the same",
    found: "the same",
  })),
);

/** In 25 sign-ons, one has failed and one has expired. */
function outcomeOf({ index }: Nth): [outcome: string, reason: string | null] {
  if (index % 25 === 0) return ["failed", "id_token.nonce"];
  return index % 25 === 1 ? ["expired", "code_expired"] : ["exchanged", null];
}

/** Within the last 29 days, because records live for 30. */
export function signOnRow(store: SeededStore, customerId: string, nth: Nth) {
  const at = spread(store.now, 29, nth);
  const id = idAt(at);
  const [outcome, reason] = outcomeOf(nth);
  return {
    id,
    store_id: store.storeId,
    realm_id: store.realmId,
    profile_id: store.profileId,
    profile_name: "Bench",
    reference: referenceOf(id),
    outcome,
    reason,
    error: null,
    checks: CHECKS,
    timings: JSON.stringify({ discovery: 0, token: 20 + (nth.index % 50), identify: 1, write: 1 }),
    customer_id: outcome === "exchanged" ? customerId : null,
    started_at: at,
    updated_at: at + 900,
  } satisfies Partial<Tables["sign_ons"]>;
}

/** A key without a reservation, and its secret. */
export function keyRows(storeId: string, now: number, nth: Nth) {
  const at = spread(now, 180, nth);
  const made = { id: idAt(at), client_id: newCredential("lkid"), client_secret: newCredential("lksk") };
  const key: Partial<Tables["application_keys"]> = {
    id: made.id,
    store_id: storeId,
    name: `Key ${nth.index}`,
    client_id: made.client_id,
    reserved_rate_limit: 0,
    last_used_at: now - (nth.index % 1000) * 60_000,
    created_at: at,
    updated_at: at,
  };
  const secret: Partial<Tables["application_key_secrets"]> = {
    id: idAt(at),
    store_id: storeId,
    application_key_id: made.id,
    secret_hash: hashSecret(made.client_secret),
    created_at: at,
  };
  return { key, secret, made };
}

export function storeRows(now: number, nth: Nth) {
  const at = spread(now, 180, nth);
  const [storeId, realmId] = [idAt(at), idAt(at)];
  const times = { created_at: at, updated_at: at };
  const store: Partial<Tables["stores"]> = {
    id: storeId,
    name: `Store ${nth.index}`,
    rate_limit: 1_000_000,
    ...times,
  };
  const realm: Partial<Tables["authentication_realms"]> = {
    id: realmId,
    store_id: storeId,
    name: "Customers",
    redirect_uris: "[]",
    duplicate_email_policy: "allowed",
    ...times,
  };
  const settings = { store_id: storeId, client_id: "customers", realm_id: realmId, updated_at: at };
  return { storeId, realmId, store, realm, settings };
}
