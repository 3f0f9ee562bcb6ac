import type { Caller, Holder } from "../contract/caller.ts";
import { toIso } from "../lib/clock.ts";
import type { Tables } from "../storage/tables.ts";

/**
 * One log of the changes in a store, which is also its audit log: who did what to which resource. The transaction of
 * the change writes the event into the outbox (note.ts), the sequencer numbers and chains it, and readers read by
 * number.
 *
 *     change + outbox row, one commit  ->  sequencer: number, digest, hash  ->  list, stream, verify
 */
export const EVENT_TYPES = [
  "customer.created",
  "customer.updated",
  "customer.deleted",
  "customer.identity_linked",
  "customer.identity_unlinked",
  "customer.erased",
  "customer.exported",
  "customer_token.created",
  "customer_token.revoked",
  "sign_on.failed",
  "sign_on.code_replayed",
  "oidc_profile.created",
  "oidc_profile.updated",
  "oidc_profile.deleted",
  "oidc_profile.health_changed",
  "oidc_profile.drift_detected",
  "oidc_profile.drift_approved",
  "setup_link.created",
  "setup_link.deleted",
  "authentication_realm.created",
  "authentication_realm.updated",
  "authentication_realm.deleted",
  "customer_authentication_settings.updated",
  "application_key.created",
  "application_key.updated",
  "application_key.rotated",
  "application_key.deleted",
  "member.created",
  "member.updated",
  "member.deleted",
  "member.erased",
  "store.updated",
  "integration.created",
  "integration.updated",
  "integration.deleted",
  "integration.disabled",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Event types that can hold personal data, which an erasure removes. `person` says where the event names the person: as
 * its subject, or only in its data. `events verify` reports an erased event of any other type as blanked by hand.
 */
export const PERSONAL_TYPES = {
  "customer.created": { person: "subject", erasedBy: "customer.erased" },
  "customer.updated": { person: "subject", erasedBy: "customer.erased" },
  "customer.identity_linked": { person: "subject", erasedBy: "customer.erased" },
  "customer.identity_unlinked": { person: "subject", erasedBy: "customer.erased" },
  "customer_token.created": { person: "data", erasedBy: "customer.erased" },
  "customer_token.revoked": { person: "data", erasedBy: "customer.erased" },
  "sign_on.code_replayed": { person: "data", erasedBy: "customer.erased" },
  "member.created": { person: "subject", erasedBy: "member.erased" },
  "member.updated": { person: "subject", erasedBy: "member.erased" },
} as const;

export type PersonalType = keyof typeof PERSONAL_TYPES;

export const isPersonal = (type: string): type is PersonalType => Object.hasOwn(PERSONAL_TYPES, type);

/** The person whose data an event holds, read from the event itself; undefined if it names no person. */
export function personOf(
  { type, subject }: { type: string; subject: string },
  resource: { customer_id?: unknown } | undefined,
): unknown {
  if (!isPersonal(type)) return undefined;
  return PERSONAL_TYPES[type].person === "subject" ? subject : resource?.customer_id;
}

type Actor = {
  type: "application_key" | "member" | "customer" | "identity_provider" | "operator" | "service";
  id: string | null;
  name: string | null;
};

/** The store, the actor and the request of a change. */
export type By = { storeId: string; actor: Actor; requestId: string | null };

type KnownCaller = Pick<Caller, "storeId" | "grant" | "customer" | "requestId"> & {
  holder: Pick<Holder, "type" | "id" | "name">;
};

const by = (
  storeId: string,
  requestId: string | null,
  type: Actor["type"],
  actor: Partial<Actor> = {},
): By => ({
  storeId,
  actor: { type, id: null, name: null, ...actor },
  requestId,
});

/**
 * With an implicit token the customer is the actor. A program or a member is the actor even if the request carries a
 * customer token as well. People appear by id only: an erasure cannot remove a name from events about other things, and
 * the log must keep what an erased member did.
 */
export function byCaller({ storeId, holder, grant, customer, requestId }: KnownCaller): By {
  if (customer && grant === "implicit") return byCustomer(storeId, customer.customerId, requestId);
  const name = holder.type === "member" ? null : holder.name;
  return by(storeId, requestId, holder.type, { id: holder.id, name });
}

/** A program that authenticated with its client secret, without an access token. */
export const byKey = (
  storeId: string,
  key: { keyId: string; keyName: string },
  requestId: string | null,
): By => by(storeId, requestId, "application_key", { id: key.keyId, name: key.keyName });

export const byCustomer = (storeId: string, customerId: string, requestId: string | null): By =>
  by(storeId, requestId, "customer", { id: customerId });

export const byProvider = (
  { store_id, id, name }: { store_id: string; id: string; name: string },
  requestId: string | null,
): By => by(store_id, requestId, "identity_provider", { id, name });

/** The operator, through the command line. */
export const byOperator = (storeId: string): By => by(storeId, null, "operator");

/** The service itself, without a request. */
export const byService = (storeId: string, requestId: string | null = null): By =>
  by(storeId, requestId, "service");

/** Replaces a person's data when it is erased. Stored as JSON, like all data. */
export const ERASED = '"(erased)"';

export type EventRow = Tables["events"];

/** CloudEvents 1.0 as JSON. A missing attribute is left out: only `data` may be other than a plain value. */
export const presentEvent = (row: EventRow) => ({
  specversion: "1.0" as const,
  id: row.id,
  source: row.source,
  type: row.type,
  subject: row.subject,
  time: toIso(row.time),
  datacontenttype: "application/json" as const,
  storeid: row.store_id,
  sequence: String(row.sequence),
  ...(row.salt !== null && { salt: row.salt }),
  digest: row.digest,
  previoushash: row.previous_hash,
  hash: row.hash,
  data: JSON.parse(row.data),
});
