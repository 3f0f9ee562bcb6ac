// Made by `npm run generate` from packages/server/src/contract. Do not edit.

/** `links` of the answer of `GET /v2/members/{id}`. */
export type SelfLink = { self: string };

/** `data.meta.timestamps` of the answer of `GET /v2/members/{id}`. */
export type Timestamps = { created_at: string; updated_at: string };

/** In rising order: a role has the rights of all roles before it. */
export type Role = "viewer" | "support" | "administrator";

/**
 * What the store's realms require of the key as a confidential client. `pkce`: a PKCE challenge and the scope
 * `email`. `standard`: a challenge or a `nonce`, and only the scope `openid`, for client libraries without
 * PKCE.
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
  /** The sum over all keys of the store. */
  total_reserved_rate_limit: number;
  /** The store's limit, in requests per second. */
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
    /**
     * `active` since the first sign-on: from then on only the subject of that sign-on counts, not the e-mail.
     */
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
  /** How many events this request has erased. */
  events: number;
  /** False: more events are left. The service erases them in the background, one batch per second. */
  complete: boolean;
};

/** `data` of the answer of `GET /v2/me`. */
export type Me = {
  /** The id of the application key or the member. */
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
  /** The store's id. */
  id: string;
  type: "customer-authentication-settings";
  client_id: string;
  realm_id: string;
  meta: {
    /** The same client id, for older clients. */
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
  /** Latchkey's pages show it as the shop's name, unless it is `Customers`, as in a new store. */
  name: string;
  /** Who signs in there: the shop's customers, or the people of the store, at the console. */
  purpose: "customers" | "members";
  redirect_uris: string[];
  duplicate_email_policy: "allowed" | "api_only" | "disallowed";
  /** How its ID tokens are signed. */
  id_token_signed_response_alg: "RS256" | "ES256";
  /**
   * Whether a customer's name and e-mail follow the identity provider at each sign-on, or are copied at the
   * first sign-on only. The linking rules also apply to a changed e-mail.
   */
  profile_updates: "always" | "first";
  /**
   * The shop's own page: the target of "Back to the shop" on Latchkey's pages. https; null: no such link.
   */
  home_url: string | null;
  /** The shop's logo: Latchkey's pages load it from this address. https; null: the name alone. */
  logo_url: string | null;
  /**
   * The shop's colour, `#rrggbb`, for links and buttons on Latchkey's pages. Latchkey makes it darker or
   * lighter if its contrast is too low; null: Latchkey's colour.
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
   * Whether a customer's name and e-mail follow the identity provider at each sign-on, or are copied at the
   * first sign-on only. The linking rules also apply to a changed e-mail.
   */
  profile_updates?: "always" | "first" | undefined;
  /**
   * The shop's own page: the target of "Back to the shop" on Latchkey's pages. https; null: no such link.
   */
  home_url?: string | null | undefined;
  /** The shop's logo: Latchkey's pages load it from this address. https; null: the name alone. */
  logo_url?: string | null | undefined;
  /**
   * The shop's colour, `#rrggbb`, for links and buttons on Latchkey's pages. Latchkey makes it darker or
   * lighter if its contrast is too low; null: Latchkey's colour.
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
    /** From the discovery document; null until it has been read. */
    issuer: string | null;
    /** The hosts behind the identity provider's endpoints. */
    endpoint_hosts: string[];
    health: {
      /**
       * down: shoppers are sent back to the storefront with `temporarily_unavailable` until a probe gets an
       * answer. unknown: no request was sent for a day, or ever.
       */
      status: "up" | "degraded" | "down" | "unknown";
      since: string;
    };
    /** False only if the profile is not enabled. For the back office only. */
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
     * The issuer that the document names, if it is not the issuer in use. Sign-ons fail until the provider
     * corrects its document, or until `discovery_url` is the new issuer's. For the back office only.
     */
    issuer_found?: { issuer: string; since: string } | null | undefined;
    /** The latest refused logout token that the identity provider has signed. For the back office only. */
    refused_logout?: { at: string; reason: string; means: string; remedy: string } | null | undefined;
    /** The profile's former issuers whose identities were carried over. For the back office only. */
    former_issuers?: string[] | undefined;
    /**
     * Deleted profiles for the same issuer and client id, with the number of their identities, counted up to
     * 10,000. Unless `adopt_identities_of` adopts these identities, their people become new customers.
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
   * Whether a shopper who signs out is sent to the identity provider's `end_session_endpoint`, if it has one
   * on the host of its `authorization_endpoint`; default: false.
   */
  propagate_logout?: boolean | undefined;
  /** Tried if the identity provider refuses `client_secret`; replaces it when it works. */
  client_secret_next?: string | null | undefined;
  /**
   * A deleted profile with the same issuer and client id; this profile takes over its identities. If a change
   * gives this profile another issuer: the profile's own id keeps its identities, by subject; null drops
   * them.
   */
  adopt_identities_of?: string | null | undefined;
  /** The profile's name; required to keep its identities under another issuer. */
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
   * Whether a shopper who signs out is sent to the identity provider's `end_session_endpoint`, if it has one
   * on the host of its `authorization_endpoint`; default: false.
   */
  propagate_logout?: boolean | undefined;
  /** Tried if the identity provider refuses `client_secret`; replaces it when it works. */
  client_secret_next?: string | null | undefined;
  /** A deleted profile with the same issuer and client id; this profile takes over its identities. */
  adopt_identities_of?: string | undefined;
};

/** Body of `POST /v2/authentication-realms/{realm}/oidc-profiles/{id}/approve-drift`, without `digest`. */
export type MoveChoice = {
  /**
   * A deleted profile with the same issuer and client id; this profile takes over its identities. If a change
   * gives this profile another issuer: the profile's own id keeps its identities, by subject; null drops
   * them.
   */
  adopt_identities_of?: string | null | undefined;
  /** The profile's name; required to keep its identities under another issuer. */
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
  /** The product, if the document shows it. */
  provider: {
    key: string;
    name: string;
    /** Its recipe, in this project's documentation. */
    guide: string;
    /** Where each setting is in its console. */
    console: Record<string, string>;
  } | null;
  /** The time to read the discovery document. */
  answer_ms: number | null;
  /** The identity provider's clock minus Latchkey's. */
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
     * The issuer that the document names, if it is not the issuer in use. Sign-ons fail until the provider
     * corrects its document, or until `discovery_url` is the new issuer's. For the back office only.
     */
    issuer_found: { issuer: string; since: string } | null;
  };
};

/** `data` of the answer of `POST /v2/authentication-realms/{realm}/oidc-profiles/checks`. */
export type NewProfileReport = {
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
  /** The product, if the document shows it. */
  provider: {
    key: string;
    name: string;
    /** Its recipe, in this project's documentation. */
    guide: string;
    /** Where each setting is in its console. */
    console: Record<string, string>;
  } | null;
  /** The time to read the discovery document. */
  answer_ms: number | null;
  /** The identity provider's clock minus Latchkey's. */
  clock_offset_seconds: number | null;
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
     * The issuer that the document names, if it is not the issuer in use. Sign-ons fail until the provider
     * corrects its document, or until `discovery_url` is the new issuer's. For the back office only.
     */
    issuer_found: { issuer: string; since: string } | null;
    /**
     * Deleted profiles for the same issuer and client id, with the number of their identities, counted up to
     * 10,000. Unless `adopt_identities_of` adopts these identities, their people become new customers.
     */
    adoptable?: { profile_id: string; identities: number }[] | undefined;
  };
};

/** Body of `POST /v2/authentication-realms/{realm}/oidc-profiles/checks`. */
export type NewProfileCheck = { discovery_url: string; client_id?: string | undefined };

/** `data` of the answer of `POST /v2/authentication-realms/{realm}/oidc-profiles/{id}/test-sign-on`. */
export type TestSignOn = {
  type: "test-sign-on";
  url: string;
  expires_at: string;
  /** Finds the record, which exists within a second of the test's end. */
  reference: string;
};

/** `data[]` of the answer of `GET /v2/authentication-realms/{realm}/oidc-profiles/{id}/setup-links`. */
export type SetupLink = {
  id: string;
  type: "setup-link";
  profile_id: string;
  expires_at: string;
  meta: { timestamps: { created_at: string } };
};

/** `data` of the answer of `POST /v2/authentication-realms/{realm}/oidc-profiles/{id}/setup-links`. */
export type SetupLinkWithUrl = {
  id: string;
  type: "setup-link";
  profile_id: string;
  expires_at: string;
  meta: { timestamps: { created_at: string } };
  /** Everyone who has it can open the page. */
  url: string;
};

/** Body of `POST /v2/authentication-realms/{realm}/oidc-profiles/{id}/setup-links`. */
export type NewSetupLink = { expires_in_days: number };

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
  /** How the customer was created. */
  authentication_mechanism: "password" | "oidc";
  /** Whether the customer's e-mail is verified. */
  email_verified: boolean;
  meta: { timestamps: Timestamps };
};

/** Body of `POST /v2/customers`, without `name` and `email`. */
export type CustomerFields = {
  /** 8 to 128 characters. */
  password?: string | undefined;
  external_ref?: string | null | undefined;
  /**
   * Counts only from `client_credentials`; a changed e-mail is unverified unless this is true. `true` without
   * `email` verifies the customer's current address: send the verified address as `email` too, or `If-Match`.
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
  /** How many events this request has erased. */
  events: number;
  /** False: more events are left. The service erases them in the background, one batch per second. */
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
  /** The browser that requested the token, such as `Chrome 126`. Null: a server, or unknown. */
  browser: string | null;
  /** Such as `Windows`. */
  operating_system: string | null;
  /** The network of that request, as /24 or /64. */
  network: string | null;
  /** Whether this request used this token. */
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
   * code_issued: the code is not redeemed yet; expired: the code was never redeemed; tested: a test sign-on
   * passed; logout_refused: no sign-on, but a logout token that was refused.
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
  /** The `redirect_uri` that the storefront sent. */
  redirect_uri: string | null;
  /** Such as `Chrome 126`. */
  browser: string | null;
  /** Such as `Windows`. */
  operating_system: string | null;
  /** The browser's network, as /24 or /64. */
  network: string | null;
  /** The `X-Request-Id` of the request that failed; null if the sign-on did not fail. */
  request_id: string | null;
  /** The identity provider's answer, if the sign-on failed because of it. */
  idp_answer: {
    /** The call that failed. authorize: the provider's redirect, which anyone can forge. */
    call: "discovery" | "authorize" | "token" | "userinfo";
    /** The HTTP status; null if there was no answer. */
    status: number | null;
    /** Why there was no usable answer. */
    fault: string | null;
    error: string | null;
    /** At most 500 characters; what looks like a secret is left out. */
    error_description: string | null;
  } | null;
  checks: { check: string; passed: boolean; expected?: string | undefined; found?: string | undefined }[];
  /** Milliseconds of each completed step. */
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
  /** Whose sign-ons: of shoppers if absent, or of members. */
  purpose?: "customers" | "members" | undefined;
  /** `key`: the entries have `key_id` in place of `profile_id`. */
  group?: "profile" | "key" | undefined;
};

/** The answer of `GET /v2/sign-ons/statistics`, by identity provider. */
export type SignOnStatistics = {
  data: {
    /** The beginning of the step. */
    from: string;
    /** Null: refused before the provider was known. */
    profile_id: string | null;
    /**
     * The number of sign-ons by outcome. `started`: the redirects to an identity provider, including those of
     * shoppers who came back. It is counted apart from the other outcomes, strangers can inflate it, and a
     * direct profile has none.
     */
    outcomes: Record<string, number>;
    /** The number of failures by reason, including codes that were not redeemed. */
    reasons: Record<string, number>;
    /** The time spent waiting for the identity provider, for all its answers together. */
    idp_ms: {
      /** Milliseconds, within 5 %; null if the provider was not called. */
      p50: number | null;
      /** Milliseconds, within 5 %; null if the provider was not called. */
      p95: number | null;
    };
  }[];
  meta: {
    step: "minute" | "hour" | "day";
    from: string;
    /** The end of the last step. */
    to: string;
    /** Figures for this step exist from this time on. */
    kept_from: string;
  };
};

/** The answer of `GET /v2/sign-ons/statistics` with `group=key`. */
export type SignOnStatisticsByKey = {
  data: {
    /** The beginning of the step. */
    from: string;
    /**
     * The application key that is the client, else the key whose token redeemed the code; a deleted key too.
     * Null: no key was known yet, or none took part.
     */
    key_id: string | null;
    /**
     * The number of sign-ons by outcome. `started`: the redirects to an identity provider, including those of
     * shoppers who came back. It is counted apart from the other outcomes, strangers can inflate it, and a
     * direct profile has none.
     */
    outcomes: Record<string, number>;
    /** The number of failures by reason, including codes that were not redeemed. */
    reasons: Record<string, number>;
    /** The time spent waiting for the identity provider, for all its answers together. */
    idp_ms: {
      /** Milliseconds, within 5 %; null if the provider was not called. */
      p50: number | null;
      /** Milliseconds, within 5 %; null if the provider was not called. */
      p95: number | null;
    };
  }[];
  meta: {
    step: "minute" | "hour" | "day";
    from: string;
    /** The end of the last step. */
    to: string;
    /** Figures for this step exist from this time on. */
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
    /** The highest rate limit that the operator allows. */
    max_rate_limit: number;
    total_reserved_rate_limit: number;
    /**
     * How many customers can be created in an hour from one network with public tokens; the operator sets it.
     */
    sign_ups_per_network: number;
    /** The same, for all networks together. */
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
  /** The time of the change. Numbers follow commits, so times can be out of order. */
  time: string;
  datacontenttype: "application/json";
  storeid: string;
  /** The event's number in its store: from 1, without gaps. */
  sequence: string;
  /**
   * 16 random bytes, base64url; deleted with the data when a person is erased, and absent if something is
   * `withheld`.
   */
  salt?: string | undefined;
  /** SHA-256 over the bytes of the salt and the canonical form of `data`, RFC 8785. */
  digest: string;
  /** `hash` of the previous event; empty for the first. */
  previoushash: string;
  /** SHA-256 over the canonical form of all members but `hash`, `data` and `salt`, RFC 8785. */
  hash: string;
  data: EventData | "(erased)";
};

/** `data[].data` of the answer of `GET /v2/events`. */
export type EventData = {
  /** The resource as this API shows it to the back office; for a deletion, its type and id. */
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
   * Present if the reader's role may not see the whole event. `member.*`: the resource has only type and id,
   * and `changes` is absent. `integration.*`: the URL is its origin. An actor's name is null if it is a
   * member's address. Such an event has no `salt`.
   */
  withheld?: true | undefined;
};

/** `data` of the answer of `GET /v2/events/head`. */
export type EventHead = {
  /** 0: there is no event yet. */
  sequence: string;
  /** SHA-256, base64url; empty while there is no event. */
  hash: string;
  /** The number of the first kept event. */
  first_sequence: string;
  /** `hash` of the event before that one; empty while no event was forgotten. */
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
    /** For administrators; null for other roles, and if there is none. */
    secret_key: string | null;
    /** `cloudevents`: the event as in the log; `integration`: the shape that older receivers expect. */
    format: "cloudevents" | "integration";
  };
  meta: {
    timestamps: Timestamps;
    status: "healthy" | "failing" | "disabled";
    /** All attempts have failed since then. */
    failing_since: string | null;
    /**
     * Why it was disabled: the receiver answered 410, all attempts failed for five days, or a restore brought
     * it back.
     */
    disabled_reason: "gone" | "failing" | "restored" | null;
    /** The last attempt. */
    last_delivery: {
      at: string;
      delivered: boolean;
      /** HTTP status of the answer; null: no answer. */
      status: number | null;
      /** Why the attempt failed, as a code: `status`, `too_slow`, `connect_failed`, … */
      reason: string | null;
    } | null;
    /** Until then messages have two signatures. */
    previous_secret_until: string | null;
    /** The events that the replay still has to send. */
    replay: { after: string; before: string } | null;
  };
};

/** `data` of the answer of `POST /v2/integrations`. */
export type IntegrationWithSecret = Integration & {
  /** Only this answer shows it: `whsec_` and base64 (Standard Webhooks). */
  signing_secret: string;
};

/** Body of `POST /v2/integrations`. */
export type NewIntegration = {
  name: string;
  description?: string | null | undefined;
  /** Default: true. */
  enabled?: boolean | undefined;
  /** `webhook`. */
  integration_type: string;
  /** Types of events, and patterns such as `customer.*`. */
  observes: string[];
  configuration: {
    /** https; an address inside the operator's network only if the operator allows it. */
    url: string;
    /** Sent as `X-Moltin-Secret-Key`, for receivers that check it. The signature is the better proof. */
    secret_key?: string | null | undefined;
    /** `cloudevents`: the event as in the log; `integration`: the shape that older receivers expect. */
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
        /** https; an address inside the operator's network only if the operator allows it. */
        url?: string | undefined;
        /** Sent as `X-Moltin-Secret-Key`, for receivers that check it. The signature is the better proof. */
        secret_key?: string | null | undefined;
        /** `cloudevents`: the event as in the log; `integration`: the shape that older receivers expect. */
        format?: "cloudevents" | "integration" | undefined;
      }
    | undefined;
};

/** `data.attempt` of the answer of `POST /v2/integrations/{id}/test`. */
export type DeliveryAttempt = {
  at: string;
  /** HTTP status of the answer; null: no answer. */
  status: number | null;
  /** Why the attempt failed, as a code: `status`, `too_slow`, `connect_failed`, … */
  reason: string | null;
  milliseconds: number;
  /**
   * The first kilobyte of the answer, for administrators. Null for other roles, and if it was erased with a
   * person.
   */
  answer: string | null;
};

/** `data[]` of the answer of `GET /v2/integrations/{id}/deliveries`. */
export type IntegrationDelivery = {
  id: string;
  type: "integration-delivery";
  /** waiting: will be sent or repeated; failed: no more attempts. */
  status: "waiting" | "delivered" | "failed";
  /** Why there are no more attempts. */
  reason: "attempts_exceeded" | "gone" | "event_forgotten" | null;
  event: {
    /** Also the message's `webhook-id`, the same in every attempt. */
    id: string;
    type: string;
    subject: string;
    sequence: string;
  };
  /** Oldest first; the last 20. */
  attempts: DeliveryAttempt[];
  /**
   * null: there are no more attempts, one is about to start, or an earlier event of the same subject goes
   * first.
   */
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
  /** Events after this number; 0: from the oldest kept event. `events_gone` has the number of the oldest. */
  after: string | number;
  /** The last number; default: the last event that the integration has processed. */
  before?: string | number | undefined;
};
