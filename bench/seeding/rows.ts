import { randomBytes } from "node:crypto";
import { idFromBytes } from "../../packages/server/src/lib/ids.ts";
import { hashSecret, newCredential } from "../../packages/server/src/lib/secrets.ts";
import { referenceOf } from "../../packages/server/src/sign-on-records/reference.ts";
import type { Tables } from "../../packages/server/src/storage/tables.ts";

/** Rows as a store in service has them: many people, names that repeat, times over months, most sign-ons good. */

const DAY_MS = 86_400_000;

export type Place = { storeId: string; realmId: string; profileId: string; issuer: string; now: number };

/** Which one of how many. */
export type Nth = { index: number; of: number };

/** A UUIDv7 of that moment, so that rows lie in the tables as they do when they are made one by one. */
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

/** Evenly over the days that have passed. */
const spread = (now: number, days: number, { index, of }: Nth): number =>
  Math.floor(now - days * DAY_MS + ((index + 0.5) / of) * days * DAY_MS);

/** Of nothing that anybody knows. */
const PASSWORD_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;

/** Every tenth has a password; every third is known to another system, too. */
export function customerRow({ storeId, now }: Place, nth: Nth) {
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

/** The person `seeded-…` of the benchmark's identity provider. */
const subjectOf = (customer: number): string => `subject-seeded-${customer}`;

export function identityRow(place: Place, customerId: string, nth: Nth) {
  const at = spread(place.now, 180, nth);
  return {
    id: idAt(at),
    store_id: place.storeId,
    realm_id: place.realmId,
    profile_id: place.profileId,
    issuer: place.issuer,
    client_id: "the-store",
    subject: subjectOf(nth.index),
    customer_id: customerId,
    created_at: at,
  } satisfies Partial<Tables["customer_identities"]>;
}

/** Made within the last twelve hours, good for the next twelve at least. */
export function tokenRow(place: Place, customer: { id: string; index: number }, nth: Nth) {
  const at = spread(place.now, 0.5, nth);
  return {
    id: idAt(at),
    store_id: place.storeId,
    customer_id: customer.id,
    mechanism: "oidc",
    profile_id: place.profileId,
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
    expected: "as it is",
    found: "as it is",
  })),
);

/** Of 25, one has failed and one expired. */
function outcomeOf({ index }: Nth): [outcome: string, reason: string | null] {
  if (index % 25 === 0) return ["failed", "id_token.nonce"];
  return index % 25 === 1 ? ["expired", "code_expired"] : ["exchanged", null];
}

/** Over the 29 days that records are kept. */
export function signOnRow(place: Place, customerId: string, nth: Nth) {
  const at = spread(place.now, 29, nth);
  const id = idAt(at);
  const [outcome, reason] = outcomeOf(nth);
  return {
    id,
    store_id: place.storeId,
    realm_id: place.realmId,
    profile_id: place.profileId,
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

/** Without a reservation, as most keys are, and with one secret. */
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
