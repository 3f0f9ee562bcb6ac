import type { Customer, Session } from "../types.ts";

/** Resources as they come over the wire. A type test holds each equal to the service's contract. */

export type * from "./application-key-types.ts";
export type * from "./event-types.ts";
export type * from "./integration-types.ts";
export type * from "./report-types.ts";

export type SelfLink = { self: string };
export type Timestamps = { created_at: string; updated_at: string };

/** An answer with one resource. */
export type Answer<T, Links = SelfLink> = { data: T; links: Links };

/** What a change of limits is answered with beside it: by then every instance goes by the new figures. */
export type InForce = { meta: { effective_by: string } };

/** In rising order: a role may do what those before it may. */
export type Role = "viewer" | "support" | "administrator";

export type ApplicationKeyListMeta = { total_reserved_rate_limit: number; rate_limit: number };

/** Somebody of the store. */
export type Member = {
  id: string;
  type: "member";
  name: string;
  email: string;
  role: Role;
  meta: {
    /** `active` from the first sign-on on. */
    status: "invited" | "active";
    last_signed_in_at: string | null;
    timestamps: Timestamps;
  };
};
export type MemberChange = { name?: string | undefined; email?: string | undefined; role?: Role | undefined };
export type NewMember = MemberChange & { email: string; role: Role };

/** Who is calling. */
export type Me = {
  id: string;
  type: "caller";
  kind: "application_key" | "member";
  name: string;
  /** Of a member. */
  email?: string | undefined;
  role: Role;
  store: { id: string; name: string };
};

type BeforeAfter = { before: number; after: number };
export type ApplicationKeyDryRun = {
  type: "application_key_dry_run";
  observed: { from: string; to: string; seconds: number };
  shared_rate_limit: BeforeAfter;
  keys: {
    id: string;
    name: string;
    reserved_rate_limit: BeforeAfter;
    asked: number;
    refused: BeforeAfter;
  }[];
};

export type Settings = {
  id: string;
  type: "customer-authentication-settings";
  client_id: string;
  realm_id: string;
  meta: { client_id: string };
  relationships: {
    "authentication-realm": { data: { id: string; type: "authentication-realm"; links: SelfLink } };
  };
};
export type SettingsChange = { client_id?: string | undefined; realm_id?: string | undefined };

type Purpose = "customers" | "members";
type DuplicateEmailPolicy = "allowed" | "api_only" | "disallowed";
export type Realm = {
  id: string;
  type: "authentication-realm";
  name: string;
  /** Who signs in there; it stays. */
  purpose: Purpose;
  redirect_uris: string[];
  duplicate_email_policy: DuplicateEmailPolicy;
  /** How ID tokens are signed. */
  id_token_signed_response_alg: "RS256" | "ES256";
  /** Whether name and e-mail of a customer follow the identity provider. */
  profile_updates: "always" | "first";
  /** What the service's own pages show of the shop, beside the name: a way back, a logo, a colour (`#rrggbb`). */
  home_url: string | null;
  logo_url: string | null;
  accent_color: string | null;
  relationships: { origin: { data: { id: string; type: "customer-authentication-settings" } } };
  meta: Timestamps;
};
export type RealmChange = {
  name?: string | undefined;
  purpose?: Purpose | undefined;
  redirect_uris?: string[] | undefined;
  duplicate_email_policy?: DuplicateEmailPolicy | undefined;
  id_token_signed_response_alg?: Realm["id_token_signed_response_alg"] | undefined;
  profile_updates?: Realm["profile_updates"] | undefined;
  home_url?: string | null | undefined;
  logo_url?: string | null | undefined;
  accent_color?: string | null | undefined;
};
export type NewRealm = RealmChange & { name: string };

export type Profile = {
  id: string;
  type: "oidc-profile";
  name: string;
  discovery_url: string;
  client_id: string;
  enabled: boolean;
  flow: "brokered" | "direct";
  provisioning: "create" | "existing";
  /** Whether who signs out here is sent on to the identity provider. */
  propagate_logout: boolean;
  meta: Timestamps & {
    issuer: string | null;
    endpoint_hosts: string[];
    health: { status: "up" | "degraded" | "down" | "unknown"; since: string };
    /** This and all that follow only for `client_credentials`. */
    has_client_secret?: boolean | undefined;
    has_next_client_secret?: boolean | undefined;
    pending_change?:
      | {
          since: string;
          /** Names what waits; `approveDrift` takes it. */
          digest: string;
          changes: { member: string; before: string | null; after: string | null }[];
        }
      | null
      | undefined;
    /** Another issuer than the one in use, which its document names. */
    issuer_found?: { issuer: string; since: string } | null | undefined;
    /** The latest logout token that the provider has signed and that was refused. */
    refused_logout?: { at: string; reason: string; means: string; remedy: string } | null | undefined;
    /** What the provider was called before, where its people were carried over. */
    former_issuers?: string[] | undefined;
    adoptable?: { profile_id: string; identities: number }[] | undefined;
  };
};
export type ProfileLinks = SelfLink & {
  "authorization-endpoint": string | null;
  /** What to register at the identity provider. */
  "callback-endpoint": string;
  "backchannel-logout-endpoint": string;
  "signed-out-endpoint": string;
  "client-discovery-url": string;
};
export type ProfileChange = {
  name?: string | undefined;
  discovery_url?: string | undefined;
  client_id?: string | undefined;
  client_secret?: string | undefined;
  client_secret_next?: string | null | undefined;
  enabled?: boolean | undefined;
  flow?: Profile["flow"] | undefined;
  provisioning?: Profile["provisioning"] | undefined;
  propagate_logout?: boolean | undefined;
  /** A deleted profile's id. Where the issuer becomes another: the profile's own carries its people over, null leaves them behind. */
  adopt_identities_of?: string | null | undefined;
  /** The profile's name, where its people are carried over. */
  confirm?: string | undefined;
};
export type NewProfile = {
  name: string;
  discovery_url: string;
  client_id: string;
  /** May be left out where `enabled` is false. */
  client_secret?: string | undefined;
  client_secret_next?: string | null | undefined;
  enabled?: boolean | undefined;
  flow?: Profile["flow"] | undefined;
  provisioning?: Profile["provisioning"] | undefined;
  propagate_logout?: boolean | undefined;
  adopt_identities_of?: string | undefined;
};
/** What becomes of the people of a profile whose issuer is another from now on. */
export type MoveChoice = Pick<ProfileChange, "adopt_identities_of" | "confirm">;
/** `url` is for one browser, once, until `expires_at`. `reference` finds the record once the test has ended. */
export type TestSignOn = { type: "test-sign-on"; url: string; expires_at: string; reference: string };

export type { Customer };
export type CustomerFields = {
  password?: string | undefined;
  external_ref?: string | null | undefined;
  email_verified?: boolean | undefined;
};
export type NewCustomer = CustomerFields & { name: string; email: string };
export type CustomerChange = CustomerFields & { name?: string | undefined; email?: string | undefined };

/** One of a customer's sessions. */
export type CustomerTokenEntry = Session;

export type SignOn = {
  id: string;
  type: "sign-on";
  reference: string;
  realm_id: string;
  profile_id: string | null;
  profile_name: string | null;
  outcome: "code_issued" | "exchanged" | "failed" | "expired" | "tested" | "logout_refused";
  reason: string | null;
  error: string | null;
  means: string | null;
  remedy: string | null;
  customer_id: string | null;
  /** A test sign-on: it made no customer and no token. */
  test: boolean;
  /** As the storefront sent it. */
  redirect_uri: string | null;
  browser: string | null;
  operating_system: string | null;
  /** By /24 or /64. */
  network: string | null;
  /** The request that it failed in. */
  request_id: string | null;
  /** What the identity provider answered, where that is why it failed. */
  idp_answer: {
    call: "discovery" | "authorize" | "token" | "userinfo";
    status: number | null;
    fault: string | null;
    error: string | null;
    error_description: string | null;
  } | null;
  checks: { check: string; passed: boolean; expected?: string | undefined; found?: string | undefined }[];
  timings: Record<string, number>;
  meta: { timestamps: { started_at: string; updated_at: string } };
};

export type Store = {
  id: string;
  type: "store";
  name: string;
  rate_limit: number;
  meta: {
    max_rate_limit: number;
    total_reserved_rate_limit: number;
    /** How many customers public tokens may create in an hour, from one network and from all together. */
    sign_ups_per_network: number;
    sign_ups_per_hour: number;
    timestamps: Timestamps;
  };
};
export type StoreChange = { name?: string | undefined; rate_limit?: number | undefined };

/** Who comes back as this subject is signed in as the customer. */
export type CustomerIdentity = {
  type: "customer-identity";
  id: string;
  customer_id: string;
  realm_id: string;
  profile_id: string;
  /** Null: the profile was removed. */
  profile_name: string | null;
  issuer: string;
  subject: string;
  meta: { timestamps: { created_at: string } };
};

export type MemberErasure = { type: "member-erasure"; id: string; events: number; complete: boolean };
export type CustomerErasure = { type: "customer-erasure"; id: string; events: number; complete: boolean };
