import type {
  ApplicationKey,
  Customer,
  Event,
  EventData,
  Integration,
  Member,
  Realm,
  SetupLink,
} from "../contract.ts";

type Deleted = { type: string; id: string };
type Other = EventData["resource"];
type ShownIntegration = Omit<Integration, "configuration"> & {
  configuration: Omit<Integration["configuration"], "secret_key">;
};

/** The resource of each type of event. */
type Resources = {
  "customer.created": Customer;
  "customer.updated": Customer;
  "customer.deleted": Deleted;
  "customer.erased": Deleted;
  "customer.exported": Deleted;
  "customer.identity_linked": Other;
  "customer.identity_unlinked": Other;
  "customer_token.created": Other;
  "customer_token.revoked": Other;
  "sign_on.failed": Other;
  "sign_on.code_replayed": Other;
  "oidc_profile.created": Other;
  "oidc_profile.updated": Other;
  "oidc_profile.deleted": Deleted;
  "oidc_profile.health_changed": Other;
  "oidc_profile.drift_detected": Other;
  "oidc_profile.drift_approved": Other;
  "setup_link.created": SetupLink;
  "setup_link.deleted": Deleted;
  "authentication_realm.created": Realm;
  "authentication_realm.updated": Realm;
  "authentication_realm.deleted": Deleted;
  "customer_authentication_settings.updated": Other;
  "application_key.created": ApplicationKey;
  "application_key.updated": ApplicationKey;
  "application_key.rotated": ApplicationKey;
  "application_key.deleted": Deleted;
  "member.created": Member;
  "member.updated": Member;
  "member.deleted": Deleted;
  "member.erased": Deleted;
  "store.updated": Other;
  "integration.created": ShownIntegration;
  "integration.updated": ShownIntegration;
  "integration.deleted": Deleted;
  "integration.disabled": ShownIntegration;
};

export type EventType = keyof Resources;

type Data<Resource> = Omit<EventData, "resource"> & { resource: Resource };
type Typed<T extends EventType> = Omit<Event, "type" | "data"> & {
  type: T;
  /** `"(erased)"` if the customer or member of the event was erased. */
  data: Data<Resources[T]> | "(erased)";
};

/** A test message is not in the event log, so it has no number and no hashes. */
type TestEvent = Omit<Event, "type" | "data" | "sequence" | "salt" | "digest" | "previoushash" | "hash"> & {
  type: "integration.test";
  data: Data<ShownIntegration>;
};

/** An event of a webhook. `type` determines the type of its resource. */
export type WebhookEvent = { [T in EventType]: Typed<T> }[EventType] | TestEvent;
