import type { Caller, Holder } from "../contract/caller.ts";
import { toIso } from "../lib/clock.ts";
import type { Tables } from "../storage/tables.ts";

/**
 * One log of what happened in a store, which is also its audit: who did what to which resource. It is written in the
 * transaction of the change (note.ts), numbered and chained afterwards (sequencer.ts), and read by its numbers.
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
 * Types whose events can hold a person's data, which an erasure takes out of the log. `person` says where an event names the person: as its
 * subject, or only in its data. `events verify` takes an erased event of any other type for one that somebody has blanked.
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

/** Whose data an event holds, as the event itself says; nothing where it names no person. */
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

/** In whose store, on whose behalf and in which request something is changed. */
export type By = { storeId: string; actor: Actor; requestId: string | null };

type KnownCaller = Pick<Caller, "storeId" | "grant" | "customer" | "requestId"> & {
  holder: Pick<Holder, "type" | "id" | "name">;
};

/**
 * A customer acts through an implicit token; a program or a person of the store is the actor whatever comes beside their token. People are
 * named by the id alone: an erasure cannot take a name out of events about something else, and what a member did must stay in the log when
 * the member is erased.
 */
export const byCaller = ({ storeId, holder, grant, customer, requestId }: KnownCaller): By => ({
  storeId,
  actor:
    customer && grant === "implicit"
      ? { type: "customer", id: customer.customerId, name: null }
      : { type: holder.type, id: holder.id, name: holder.type === "member" ? null : holder.name },
  requestId,
});

/** A program that has shown its secret, where there is no access token. */
export const byKey = (
  storeId: string,
  key: { keyId: string; keyName: string },
  requestId: string | null,
): By => ({
  storeId,
  actor: { type: "application_key", id: key.keyId, name: key.keyName },
  requestId,
});

export const byCustomer = (storeId: string, customerId: string, requestId: string | null): By => ({
  storeId,
  actor: { type: "customer", id: customerId, name: null },
  requestId,
});

export const byProvider = (
  profile: { store_id: string; id: string; name: string },
  requestId: string | null,
): By => ({
  storeId: profile.store_id,
  actor: { type: "identity_provider", id: profile.id, name: profile.name },
  requestId,
});

/** The command line. */
export const byOperator = (storeId: string): By => ({
  storeId,
  actor: { type: "operator", id: null, name: null },
  requestId: null,
});

/** What nobody asked for: something that the service has noticed by itself. */
export const byService = (storeId: string, requestId: string | null = null): By => ({
  storeId,
  actor: { type: "service", id: null, name: null },
  requestId,
});

/** What stands in the place of a person's data, once they were erased. Kept as JSON, as all data is. */
export const ERASED = '"(erased)"';

export type EventRow = Tables["events"];

/** CloudEvents 1.0 JSON: every attribute but `data` is a plain value, so one that is missing is left out. */
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
