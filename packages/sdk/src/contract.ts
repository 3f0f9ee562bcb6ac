// Made by `npm run generate` from packages/server/src/contract. Do not edit.

/** `links` of the answer of `GET /v2/members/{id}`. */
export type SelfLink = { self: string };

/** `data.meta.timestamps` of the answer of `GET /v2/members/{id}`. */
export type Timestamps = { created_at: string; updated_at: string };

/** In rising order: a role has the rights of all roles before it. */
export type Role = "viewer" | "support" | "administrator";

/**
 * What the store's realms require of the key as a confidential client. `pkce`: a PKCE challenge and the scope
 * `email`. `standard`: a challenge or a `nonce`, and no scope but `openid`, for client libraries that know
 * OpenID Connect Core 1.0 alone.
 */
export type OpenidClient = "pkce" | "standard";

/** In the answer of a change of limits. */
export type InForce = { meta: { effective_by: string } };

/** `data` of the answer of `GET /v2/application-keys/{id}`. */
export type ApplicationKey = {
  id: string;
  type: "application_key";
  name: string;
  client_id: string;
  /** Requests per second that no other key can take from this key. */
  reserved_rate_limit: number;
  /**
   * Determines the rights of the key's `client_credentials` tokens, including existing tokens. Implicit
   * tokens have no role.
   */
  role: Role;
  openid_client: OpenidClient;
  meta: {
    timestamps: {
      /** null: never used. */
      last_used_at: string | null;
      created_at: string;
      updated_at: string;
    };
    /** The secrets that work now, newest first; never the secrets themselves. */
    secrets: {
      created_at: string;
      last_used_at: string | null;
      /** null: does not expire. */
      expires_at: string | null;
    }[];
  };
};

/** `data` of the answer of `POST /v2/application-keys`. */
export type ApplicationKeyWithSecret = ApplicationKey & {
  /** The API shows the secret only in this answer. */
  client_secret: string;
};

/** Body of `PUT /v2/application-keys/{id}`. */
export type ApplicationKeyFields = {
  name: string;
  /** Requests per second that no other key can take from this key. */
  reserved_rate_limit?: number | undefined;
  /**
   * Determines the rights of the key's `client_credentials` tokens, including existing tokens. Implicit
   * tokens have no role.
   */
  role?: Role | undefined;
  openid_client?: OpenidClient | undefined;
};

/** `meta` of the answer of `GET /v2/application-keys`, without the page. */
export type ApplicationKeyListMeta = {
  /** Over all keys of the store. */
  total_reserved_rate_limit: number;
  /** The store's, in requests per second. */
  rate_limit: number;
};

/** `data` of the answer of `POST /v2/application-keys/{id}/dry-run`. */
export type ApplicationKeyDryRun = {
  type: "application_key_dry_run";
  observed: {
    from: string;
    to: string;
    /** Seconds in which there was any use. */
    seconds: number;
  };
  /** The rate that no key has reserved. */
  shared_rate_limit: { before: number; after: number };
  keys: {
    id: string;
    name: string;
    reserved_rate_limit: { before: number; after: number };
    /** Requests in the observed time. */
    asked: number;
    /** How many of these requests are refused before and after the change, evaluated second by second. */
    refused: { before: number; after: number };
  }[];
};

/** `data` of the answer of `GET /v2/members/{id}`. */
export type Member = {
  id: string;
  type: "member";
  name: string;
  email: string;
  role: Role;
  meta: {
    /** `active` from the first sign-on on: then only the subject of that sign-on counts, not the e-mail. */
    status: "invited" | "active";
    /** null: never. */
    last_signed_in_at: string | null;
    timestamps: Timestamps;
  };
};

/** Body of `PUT /v2/members/{id}`. */
export type MemberChange = { name?: string | undefined; email?: string | undefined; role?: Role | undefined };

/** Body of `POST /v2/members`. */
export type NewMember = { name?: string | undefined; email: string; role: Role };

/** `data` of the answer of `POST /v2/members/{id}/erase`. */
export type MemberErasure = {
  type: "member-erasure";
  id: string;
  /** How many events were erased by this request. */
  events: number;
  /** False: there are more, and the service goes on with them by itself, a round a second. */
  complete: boolean;
};

/** `data` of the answer of `GET /v2/me`. */
export type Me = {
  /** The application key's or the member's. */
  id: string;
  type: "caller";
  kind: "application_key" | "member";
  name: string;
  /** The member's address; absent for an application key. */
  email?: string | undefined;
  role: Role;
  store: { id: string; name: string };
};

/** `data` of the answer of `GET /v2/customer-authentication-settings`. */
export type Settings = {
  /** The store's. */
  id: string;
  type: "customer-authentication-settings";
  client_id: string;
  realm_id: string;
  meta: {
    /** The same, where older clients look. */
    client_id: string;
  };
  relationships: {
    "authentication-realm": { data: { id: string; type: "authentication-realm"; links: SelfLink } };
  };
};

/** Body of `PUT /v2/customer-authentication-settings`. */
export type SettingsChange = { client_id?: string | undefined; realm_id?: string | undefined };

/** `data` of the answer of `GET /v2/authentication-realms/{id}`. */
export type Realm = {
  id: string;
  type: "authentication-realm";
  /** Our pages show it as the shop's name, unless it is `Customers`, as in a new store. */
  name: string;
  /** Who signs in there: the shop's customers, or the people of the store, at the console. */
  purpose: "customers" | "members";
  redirect_uris: string[];
  duplicate_email_policy: "allowed" | "api_only" | "disallowed";
  /** How its ID tokens are signed. */
  id_token_signed_response_alg: "RS256" | "ES256";
  /**
   * Whether name and e-mail of a customer follow the identity provider at each sign-on, or are taken over at
   * the first alone. An e-mail follows only where the linking rules would let it in.
   */
  profile_updates: "always" | "first";
  /** The shop's own page: where our pages lead back to. https; null: nowhere. */
  home_url: string | null;
  /** The shop's logo, which our pages load from there. https; null: the name alone. */
  logo_url: string | null;
  /**
   * The shop's colour, `#rrggbb`, for what can be clicked on our pages. Where it would be hard to read on
   * their ground it is made darker or lighter; null: ours.
   */
  accent_color: string | null;
  relationships: { origin: { data: { id: string; type: "customer-authentication-settings" } } };
  meta: Timestamps;
};

/** Body of `PUT /v2/authentication-realms/{id}`. */
export type RealmChange = {
  name?: string | undefined;
  /** Who signs in there: the shop's customers, or the people of the store, at the console. */
  purpose?: "customers" | "members" | undefined;
  redirect_uris?: string[] | undefined;
  duplicate_email_policy?: "allowed" | "api_only" | "disallowed" | undefined;
  /** How ID tokens are signed; `RS256` for a new realm, because client libraries assume it. */
  id_token_signed_response_alg?: "RS256" | "ES256" | undefined;
  /**
   * Whether name and e-mail of a customer follow the identity provider at each sign-on, or are taken over at
   * the first alone. An e-mail follows only where the linking rules would let it in.
   */
  profile_updates?: "always" | "first" | undefined;
  /** The shop's own page: where our pages lead back to. https; null: nowhere. */
  home_url?: string | null | undefined;
  /** The shop's logo, which our pages load from there. https; null: the name alone. */
  logo_url?: string | null | undefined;
  /**
   * The shop's colour, `#rrggbb`, for what can be clicked on our pages. Where it would be hard to read on
   * their ground it is made darker or lighter; null: ours.
   */
  accent_color?: string | null | undefined;
};

/** Body of `POST /v2/authentication-realms`. */
export type NewRealm = RealmChange & { name: string };

/** `data` of the answer of `GET /v2/authentication-realms/{realm}/oidc-profiles/{id}`. */
export type Profile = {
  id: string;
  type: "oidc-profile";
  name: string;
  discovery_url: string;
  client_id: string;
  enabled: boolean;
  flow: "brokered" | "direct";
  provisioning: "create" | "existing";
  propagate_logout: boolean;
  meta: {
    /** From discovery; null until it has been read. */
    issuer: string | null;
    /** The hosts behind the identity provider's endpoints. */
    endpoint_hosts: string[];
    health: {
      /**
       * down: shoppers are sent back to the storefront with `temporarily_unavailable` until a probe finds it
       * again. unknown: it was not asked for a day, or never.
       */
      status: "up" | "degraded" | "down" | "unknown";
      since: string;
    };
    /** False only where the profile is not enabled. For the back office only. */
    has_client_secret?: boolean | undefined;
    /** For the back office only. */
    has_next_client_secret?: boolean | undefined;
    /**
     * A change of the provider's document that waits for POST …/approve-drift. Until then the old document is
     * used. For the back office only.
     */
    pending_change?:
      | {
          since: string;
          /** Identifies the new document, for approve-drift. */
          digest: string;
          changes: { member: string; before: string | null; after: string | null }[];
        }
      | null
      | undefined;
    /**
     * Another issuer than the one in use, which its document names although it is read from the same address:
     * sign-ons will fail until one of the two is set right, or `discovery_url` is the new issuer's. For the
     * back office only.
     */
    issuer_found?: { issuer: string; since: string } | null | undefined;
    /**
     * The latest logout token that the identity provider has signed and that was refused. For the back office
     * only.
     */
    refused_logout?: { at: string; reason: string; means: string; remedy: string } | null | undefined;
    /** Issuers that the provider had before, whose people were carried over. For the back office only. */
    former_issuers?: string[] | undefined;
    /**
     * Deleted profiles for the same issuer and client id, with the number of their identities, counted up to
     * 10,000. Unless their identities are adopted with `adopt_identities_of`, those people become new
     * customers.
     */
    adoptable?: { profile_id: string; identities: number }[] | undefined;
    created_at: string;
    updated_at: string;
  };
};

/** `links` of the answer of `GET /v2/authentication-realms/{realm}/oidc-profiles/{id}`. */
export type ProfileLinks = {
  self: string;
  /** Where a storefront sends the shopper; append parameters with &. */
  "authorization-endpoint": string | null;
  /** Register this redirect URI at the identity provider. */
  "callback-endpoint": string;
  /** Register this URI at a provider with back-channel logout. */
  "backchannel-logout-endpoint": string;
  /** Register this post-logout redirect URI at the provider, for `propagate_logout`. */
  "signed-out-endpoint": string;
  "client-discovery-url": string;
};

/** Body of `PUT /v2/authentication-realms/{realm}/oidc-profiles/{id}`. */
export type ProfileChange = {
  name?: string | undefined;
  discovery_url?: string | undefined;
  client_id?: string | undefined;
  client_secret?: string | undefined;
  enabled?: boolean | undefined;
  flow?: "brokered" | "direct" | undefined;
  provisioning?: "create" | "existing" | undefined;
  /**
   * Whether a shopper who signs out here is sent on to the identity provider's `end_session_endpoint`, where
   * it has one on the host of its `authorization_endpoint`; false if absent.
   */
  propagate_logout?: boolean | undefined;
  /** Tried when the identity provider refuses the first; takes its place when it works. */
  client_secret_next?: string | null | undefined;
  /**
   * A deleted profile for the same issuer and client id, whose people this one takes over. Where the issuer
   * becomes another: this profile's own id carries its people over, by subject; null leaves them behind.
   */
  adopt_identities_of?: string | null | undefined;
  /** The profile's name; needed to carry its people over to another issuer. */
  confirm?: string | undefined;
};

/** Body of `POST /v2/authentication-realms/{realm}/oidc-profiles`. */
export type NewProfile = {
  name: string;
  discovery_url: string;
  client_id: string;
  /** Required unless `enabled` is false. */
  client_secret?: string | undefined;
  enabled?: boolean | undefined;
  flow?: "brokered" | "direct" | undefined;
  provisioning?: "create" | "existing" | undefined;
  /**
   * Whether a shopper who signs out here is sent on to the identity provider's `end_session_endpoint`, where
   * it has one on the host of its `authorization_endpoint`; false if absent.
   */
  propagate_logout?: boolean | undefined;
  /** Tried when the identity provider refuses the first; takes its place when it works. */
  client_secret_next?: string | null | undefined;
  /** A deleted profile for the same issuer and client id, whose people this one takes over. */
  adopt_identities_of?: string | undefined;
};

/** Body of `POST /v2/authentication-realms/{realm}/oidc-profiles/{id}/approve-drift`, without `digest`. */
export type MoveChoice = {
  /**
   * A deleted profile for the same issuer and client id, whose people this one takes over. Where the issuer
   * becomes another: this profile's own id carries its people over, by subject; null leaves them behind.
   */
  adopt_identities_of?: string | null | undefined;
  /** The profile's name; needed to carry its people over to another issuer. */
  confirm?: string | undefined;
};

/** `data` of the answer of `POST /v2/authentication-realms/{realm}/oidc-profiles/{id}/checks`. */
export type ProfileReport = {
  type: "oidc-profile-checks";
  discovery_url: string;
  issuer: string | null;
  endpoint_hosts: string[];
  checks: {
    /** R1 to R9, in the order of the requirements on an identity provider. */
    id: string;
    requirement: string;
    /** unknown: only a live sign-on can tell. */
    status: "met" | "not_met" | "unknown";
    evidence: string;
    remedy: string | null;
  }[];
  warnings: string[];
  /** Which provider it is, if its document gives it away. */
  provider: {
    key: string;
    name: string;
    /** Its recipe, in this project's documentation. */
    guide: string;
    /** Where in its console each thing is set. */
    console: Record<string, string>;
  } | null;
  /** How long the discovery document took. */
  answer_ms: number | null;
  /** The identity provider's clock minus ours. */
  clock_offset_seconds: number | null;
  /** The profile's `meta` after these checks. */
  meta: {
    /**
     * A change of the provider's document that waits for POST …/approve-drift. Until then the old document is
     * used. For the back office only.
     */
    pending_change: {
      since: string;
      /** Identifies the new document, for approve-drift. */
      digest: string;
      changes: { member: string; before: string | null; after: string | null }[];
    } | null;
    /**
     * Another issuer than the one in use, which its document names although it is read from the same address:
     * sign-ons will fail until one of the two is set right, or `discovery_url` is the new issuer's. For the
     * back office only.
     */
    issuer_found: { issuer: string; since: string } | null;
  };
};

/** `data` of the answer of `POST /v2/authentication-realms/{realm}/oidc-profiles/{id}/test-sign-on`. */
export type TestSignOn = {
  type: "test-sign-on";
  url: string;
  expires_at: string;
  /** Finds the record, which exists within a second of the test's end. */
  reference: string;
};

/** `data` of the answer of `GET /v2/customers/{id}`. */
export type Customer = {
  id: string;
  type: "customer";
  name: string;
  email: string;
  /** Whether the customer has a password; never the password itself. */
  password: boolean;
  /** The customer's id in another system. */
  external_ref: string | null;
  /** How the customer came to be. */
  authentication_mechanism: "password" | "oidc";
  /** Whether the address was proven to be the customer's. */
  email_verified: boolean;
  meta: { timestamps: Timestamps };
};

/** Body of `POST /v2/customers`, without `name` and `email`. */
export type CustomerFields = {
  /** 8 to 128 characters. */
  password?: string | undefined;
  external_ref?: string | null | undefined;
  /**
   * Counts only from `client_credentials`; a changed e-mail is unproven unless this says otherwise. `true`
   * alone proves the address that the customer has by then: send the address that was proven as `email`
   * beside it, or `If-Match`.
   */
  email_verified?: boolean | undefined;
};

/** Body of `POST /v2/customers`. */
export type NewCustomer = CustomerFields & { name: string; email: string };

/** Body of `PUT /v2/customers/{id}`. */
export type CustomerChange = CustomerFields & { name?: string | undefined; email?: string | undefined };

/** `data[]` of the answer of `GET /v2/customers/{id}/identities`. */
export type CustomerIdentity = {
  type: "customer-identity";
  id: string;
  customer_id: string;
  realm_id: string;
  /** The profile that they first came through. */
  profile_id: string;
  /** Null: it was removed. */
  profile_name: string | null;
  issuer: string;
  subject: string;
  meta: { timestamps: { created_at: string } };
};

/** `data` of the answer of `POST /v2/customers/{id}/erase`. */
export type CustomerErasure = {
  type: "customer-erasure";
  id: string;
  /** How many events were erased by this request. */
  events: number;
  /** False: there are more, and the service goes on with them by itself, a round a second. */
  complete: boolean;
};

/** `data` of the answer of `GET /v2/customers/{id}/export`. */
export type CustomerExport = {
  type: "customer-export";
  id: string;
  exported_at: string;
  /** Null: deleted. */
  customer: Customer | null;
  /** The person's names at identity providers. */
  identities: CustomerIdentity[];
  /** Customer tokens that are kept; never the tokens themselves. */
  sessions: {
    type: "token";
    id: string;
    authentication_mechanism: "password" | "oidc";
    profile_id: string | null;
    profile_name: string | null;
    /** The identity provider's name for the person. */
    subject: string | null;
    /** The identity provider's name for the session. */
    idp_session: string | null;
    browser: string | null;
    operating_system: string | null;
    network: string | null;
    /** Seconds since 1970. */
    expires: number;
    meta: { timestamps: { created_at: string } };
  }[];
  /** Names and addresses from before, oldest first, as far as the log still holds them. */
  earlier: {
    member: "name" | "email";
    value: string;
    /** When another value took its place. */
    until: string;
  }[];
  /**
   * The customer's sign-ons, newest first; then those under their proven address that came to no customer.
   */
  sign_ons: SignOn[];
  /** Events about the customer and by the customer, oldest first, as far as they are kept. */
  events: Event[];
};

/** `data[]` of the answer of `GET /v2/customers/{customer}/tokens`. */
export type CustomerTokenEntry = {
  type: "token";
  id: string;
  customer_id: string;
  authentication_mechanism: "password" | "oidc";
  /** The identity provider that was used. */
  profile_name: string | null;
  /** That the token was asked for with, in words: `Chrome 126`. Null: by a server, or not known. */
  browser: string | null;
  /** In words: `Windows`. */
  operating_system: string | null;
  /** Where it was asked for from, by /24 or /64. */
  network: string | null;
  /** Whether this request came with it. */
  current: boolean;
  /** Seconds since 1970. */
  expires: number;
  meta: { timestamps: { created_at: string } };
};

/** `data` of the answer of `GET /v2/sign-ons/{id}`. */
export type SignOn = {
  id: string;
  type: "sign-on";
  /** Shown on error pages and sent in error redirects, so that a shopper can quote it. */
  reference: string;
  realm_id: string;
  profile_id: string | null;
  profile_name: string | null;
  /**
   * code_issued: the storefront has yet to redeem its code; expired: it never did; tested: a test sign-on
   * that came through; logout_refused: no sign-on, but a logout token that was refused.
   */
  outcome: "code_issued" | "exchanged" | "failed" | "expired" | "tested" | "logout_refused";
  /** Why it failed; stable, see docs/errors.md. */
  reason: string | null;
  /** `error` of the redirect to the storefront. */
  error: string | null;
  /** The reason in words. */
  means: string | null;
  /** The remedy in words. */
  remedy: string | null;
  customer_id: string | null;
  /** A test sign-on of an administrator: it made no customer and no token. */
  test: boolean;
  /** Where the storefront wanted the shopper back, as it was sent. */
  redirect_uri: string | null;
  /** In words: `Chrome 126`. */
  browser: string | null;
  /** In words: `Windows`. */
  operating_system: string | null;
  /** Where it came from, by /24 or /64. */
  network: string | null;
  /** The `X-Request-Id` of the request that it failed in; null of one that did not fail. */
  request_id: string | null;
  /** The identity provider's answer, if the sign-on failed because of it. */
  idp_answer: {
    /** Which call it was; authorize: what the redirect back brought, in which anybody can write. */
    call: "discovery" | "authorize" | "token" | "userinfo";
    /** The HTTP status; null where there was no answer. */
    status: number | null;
    /** Why there was no answer, or none to go by. */
    fault: string | null;
    error: string | null;
    /** At most 500 characters; what looks like a secret is left out. */
    error_description: string | null;
  } | null;
  checks: { check: string; passed: boolean; expected?: string | undefined; found?: string | undefined }[];
  /** Milliseconds of each step, as far as it came. */
  timings: Record<string, number>;
  meta: { timestamps: { started_at: string; updated_at: string } };
};

/** Query of `GET /v2/sign-ons/statistics`. */
export type StatisticsQuery = {
  /** From the step that this lies in. Without it: 60 steps before `to`. */
  from?: string | undefined;
  /** Up to this instant, which is not part of it. Without it: now. */
  to?: string | undefined;
  /** How long a step is; `hour` if absent. */
  step?: "minute" | "hour" | "day" | undefined;
};

/** The answer of `GET /v2/sign-ons/statistics`. */
export type SignOnStatistics = {
  data: {
    /** The beginning of the step. */
    from: string;
    /** Null: refused before it was known which. */
    profile_id: string | null;
    /** How many ended how. */
    outcomes: Record<string, number>;
    /** Why those failed that did, and why a code was not redeemed. */
    reasons: Record<string, number>;
    /** How long the identity provider was waited for, all its answers together. */
    idp_ms: {
      /** Milliseconds, within 5 %; null where it was never asked. */
      p50: number | null;
      /** Milliseconds, within 5 %; null where it was never asked. */
      p95: number | null;
    };
  }[];
  meta: {
    step: "minute" | "hour" | "day";
    from: string;
    /** The end of the last step. */
    to: string;
    /** Figures of this step from before are no longer kept. */
    kept_from: string;
  };
};

/** `data` of the answer of `GET /v2/store`. */
export type Store = {
  id: string;
  type: "store";
  name: string;
  /** Requests per second, over all application keys. */
  rate_limit: number;
  meta: {
    /** How high the operator lets the limit be set. */
    max_rate_limit: number;
    total_reserved_rate_limit: number;
    /** How many customers public tokens may create in an hour from one network; the operator sets it. */
    sign_ups_per_network: number;
    /** How many in an hour from all networks together. */
    sign_ups_per_hour: number;
    timestamps: Timestamps;
  };
};

/** Body of `PUT /v2/store`. */
export type StoreChange = { name?: string | undefined; rate_limit?: number | undefined };

/** `data` of the answer of `GET /v2/store/usage`. */
export type StoreUsage = {
  type: "store-usage";
  from: string;
  to: string;
  rate_limit: number;
  /** The rate that no key has reserved. */
  shared_pool: number;
  /** The keys with requests or a reservation; the key with the most requests comes first. */
  keys: {
    id: string;
    name: string;
    reserved_rate_limit: number;
    /** For each second, the oldest first. */
    asked: number[];
    /** For each second, the oldest first. */
    refused: number[];
  }[];
  /** The sum of all further keys, if there are too many to list. */
  other_keys?:
    | {
        count: number;
        /** For each second, the oldest first. */
        asked: number[];
        /** For each second, the oldest first. */
        refused: number[];
      }
    | undefined;
};

/** `data[]` of the answer of `GET /v2/events`. */
export type Event = {
  specversion: "1.0";
  id: string;
  source: string;
  type: string;
  /** The id of the resource. */
  subject: string;
  /** When it happened. Numbers follow commits, so that times may be out of order. */
  time: string;
  datacontenttype: "application/json";
  storeid: string;
  /** The event's number in its store: from 1, without gaps. */
  sequence: string;
  /**
   * 16 random bytes, base64url; deleted with the data when a person is erased, and left out where something
   * is `withheld`.
   */
  salt?: string | undefined;
  /** SHA-256 over the bytes of the salt and the canonical form of `data`, RFC 8785. */
  digest: string;
  /** `hash` of the event before; empty for the first. */
  previoushash: string;
  /** SHA-256 over the canonical form of all members but `hash`, `data` and `salt`, RFC 8785. */
  hash: string;
  data: EventData | "(erased)";
};

/** `data[].data` of the answer of `GET /v2/events`. */
export type EventData = {
  /** As this API shows it to the back office; of a deletion its type and id. */
  resource: { [member: string]: unknown; type: string; id: string };
  /** The members that an update has changed. */
  changes?: Record<string, { before: unknown; after: unknown } | "(changed)"> | undefined;
  actor: {
    type: "application_key" | "member" | "customer" | "identity_provider" | "operator" | "service";
    id: string | null;
    name: string | null;
  };
  request_id: string | null;
  /**
   * Present if the reader's role may not see the whole event: of `member.*` the resource is type and id and
   * `changes` are left out, of `integration.*` the URL is its origin, and an actor's name that is a member's
   * address is null. Such an event has no `salt`.
   */
  withheld?: true | undefined;
};

/** `data` of the answer of `GET /v2/events/head`. */
export type EventHead = {
  /** 0: there is none yet. */
  sequence: string;
  /** SHA-256, base64url; empty while there is no event. */
  hash: string;
  /** The number of the first event that is kept. */
  first_sequence: string;
  /** `hash` of the event before that one; empty while nothing was forgotten. */
  forgotten_hash: string;
  /** Compact JWS over `store`, the four members above and `time` by a key of the key set. */
  signature: string;
};

/** `data` of the answer of `GET /v2/integrations/{id}`. */
export type Integration = {
  id: string;
  type: "integration";
  name: string;
  description: string;
  enabled: boolean;
  integration_type: "webhook";
  observes: string[];
  configuration: {
    /** For administrators; other roles see its origin and `/(hidden)`, because the rest may be a secret. */
    url: string;
    /** For administrators; null for other roles, and where there is none. */
    secret_key: string | null;
    /** `cloudevents`: the event as the log has it; `integration`: the shape that older receivers expect. */
    format: "cloudevents" | "integration";
  };
  meta: {
    timestamps: Timestamps;
    status: "healthy" | "failing" | "disabled";
    /** Nothing but failures since then. */
    failing_since: string | null;
    /**
     * Why it was disabled: the receiver said 410, nothing but failures for five days, or it came back with a
     * backup.
     */
    disabled_reason: "gone" | "failing" | "restored" | null;
    /** The last attempt. */
    last_delivery: {
      at: string;
      delivered: boolean;
      /** HTTP status of the answer; null: no answer came. */
      status: number | null;
      /** Why it did not count as delivered, in a word of ours: `status`, `too_slow`, `connect_failed`, … */
      reason: string | null;
    } | null;
    /** Until then messages carry two signatures. */
    previous_secret_until: string | null;
    /** The events that a replay has yet to send. */
    replay: { after: string; before: string } | null;
  };
};

/** `data` of the answer of `POST /v2/integrations`. */
export type IntegrationWithSecret = Integration & {
  /** Shown here and never again: `whsec_` and base64 (Standard Webhooks). */
  signing_secret: string;
};

/** Body of `POST /v2/integrations`. */
export type NewIntegration = {
  name: string;
  description?: string | null | undefined;
  /** true if absent. */
  enabled?: boolean | undefined;
  /** `webhook`. */
  integration_type: string;
  /** Types of events, and patterns such as `customer.*`. */
  observes: string[];
  configuration: {
    /** https; an address inside the operator's network only where the operator allows it. */
    url: string;
    /** Sent as `X-Moltin-Secret-Key`, for receivers that look for it. The signature proves more. */
    secret_key?: string | null | undefined;
    /** `cloudevents`: the event as the log has it; `integration`: the shape that older receivers expect. */
    format?: "cloudevents" | "integration" | undefined;
  };
};

/** Body of `PUT /v2/integrations/{id}`. */
export type IntegrationChange = {
  name?: string | undefined;
  description?: string | null | undefined;
  enabled?: boolean | undefined;
  /** `webhook`. */
  integration_type?: string | undefined;
  /** Types of events, and patterns such as `customer.*`. */
  observes?: string[] | undefined;
  configuration?:
    | {
        /** https; an address inside the operator's network only where the operator allows it. */
        url?: string | undefined;
        /** Sent as `X-Moltin-Secret-Key`, for receivers that look for it. The signature proves more. */
        secret_key?: string | null | undefined;
        /**
         * `cloudevents`: the event as the log has it; `integration`: the shape that older receivers expect.
         */
        format?: "cloudevents" | "integration" | undefined;
      }
    | undefined;
};

/** `data.attempt` of the answer of `POST /v2/integrations/{id}/test`. */
export type DeliveryAttempt = {
  at: string;
  /** HTTP status of the answer; null: no answer came. */
  status: number | null;
  /** Why it did not count as delivered, in a word of ours: `status`, `too_slow`, `connect_failed`, … */
  reason: string | null;
  milliseconds: number;
  /**
   * The first kilobyte of it, for administrators; null for other roles, and where it was erased with a
   * person.
   */
  answer: string | null;
};

/** `data[]` of the answer of `GET /v2/integrations/{id}/deliveries`. */
export type IntegrationDelivery = {
  id: string;
  type: "integration-delivery";
  /** waiting: has yet to be sent, or sent again; failed: given up. */
  status: "waiting" | "delivered" | "failed";
  /** Why it was given up. */
  reason: "attempts_exceeded" | "gone" | "event_forgotten" | null;
  event: {
    /** Also the message's `webhook-id`, however often it is sent. */
    id: string;
    type: string;
    subject: string;
    sequence: string;
  };
  /** Oldest first; the last 20. */
  attempts: DeliveryAttempt[];
  /** null: it is over, is about to be sent, or an earlier event of its subject goes first. */
  next_attempt_at: string | null;
  meta: { timestamps: Timestamps };
};

/** `data` of the answer of `POST /v2/integrations/{id}/test`. */
export type IntegrationTest = {
  type: "integration-test";
  /** The message's `webhook-id`. */
  id: string;
  delivered: boolean;
  attempt: DeliveryAttempt;
};

/** Body of `POST /v2/integrations/{id}/replay`. */
export type Replay = {
  /**
   * The number before the first; 0: from the beginning, while that is kept. `events_gone` says what the
   * oldest is.
   */
  after: string | number;
  /** The last number; if absent, the last event that the integration has come to. */
  before?: string | number | undefined;
};
