import type { Fixer } from "./fixers.ts";

/**
 * Every way the service says no, in one table. `means` is the default detail that a caller reads; `remedy` is what
 * the page of the error adds. `by` is who can fix it, where the status alone does not say it (`fixerOf`). `oauth` is
 * the error that an OAuth endpoint answers with (RFC 6749 5.2).
 */
type ProblemEntry = { by?: Fixer; status: Status; means: string; remedy: string; oauth?: string };
export type Status =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 406
  | 408
  | 409
  | 410
  | 413
  | 414
  | 415
  | 422
  | 429
  | 431
  | 500
  | 503;

export const problems = {
  // The request as such
  body_not_json: {
    status: 400,
    means: "The body is not JSON that this API accepts.",
    remedy:
      "Send one JSON value in UTF-8, without a byte order mark, no deeper than 8 levels, with each member named once.",
    oauth: "invalid_request",
  },
  member_missing: {
    status: 400,
    means: "A required member is missing.",
    remedy: "Add the member that `source.pointer` names.",
    oauth: "invalid_request",
  },
  member_invalid: {
    status: 400,
    means: "A member has the wrong type, length or value.",
    remedy: "Correct the member that `source.pointer` names; the API reference gives its type and bounds.",
    oauth: "invalid_request",
  },
  parameter_invalid: {
    status: 400,
    means: "A query parameter has the wrong form, is out of bounds, or is given twice.",
    remedy:
      "Correct the parameter that `source.parameter` names. A `filter` has at most eight conditions, one for each field (two for a time), and no pattern longer than its field.",
    oauth: "invalid_request",
  },
  filter_too_wide: {
    status: 422,
    means:
      "Too many rows would have to be read one by one to fill this page. Begin a pattern with text (`ada*`, not `*ada*`), add a condition that leaves fewer rows, or leave `sort` out.",
    remedy:
      "No index fits this filter and this order. Add a condition on an e-mail or a reference, or a shorter time; or sort by the filtered field. At most 20,000 rows are read, and fewer with patterns of more than 64 characters.",
  },
  not_acceptable: {
    status: 406,
    means: "With this access token a list is JSON, and `Accept` refuses JSON.",
    remedy:
      "CSV is for the back office: ask with a `client_credentials` token or as a member. With a public token leave `Accept` out, or add `application/json`.",
  },
  exports_exceeded: {
    status: 429,
    means: "The store has made as many exports as it may, at once or in the last hour.",
    remedy:
      "An export is a list as CSV, or the file of a customer's data. `meta.bucket` names the limit: `at_once` (2 on each instance) or `hour` (60 over all instances). Wait for `Retry-After` seconds, or read the list as JSON, page by page.",
  },
  statistics_range_unfit: {
    status: 422,
    means: "The figures of this range cannot be answered at once.",
    remedy:
      "`detail` says what to change: `from` comes before `to`, and between them lie at most 1,000 steps and 25,000 figures. Ask for a longer `step` or a shorter range.",
  },
  request_malformed: {
    status: 400,
    means: "The request is not well-formed HTTP/1.1.",
    remedy:
      "Check the client or the proxy in front of it: a header holds bytes that are not allowed, or the framing is broken.",
  },
  request_timeout: {
    status: 408,
    means: "The headers of the request did not arrive in time.",
    remedy: "They must arrive within 10 seconds. Check the connection.",
  },
  body_broke_off: {
    status: 400,
    means: "The body broke off before its end, or did not arrive within 20 seconds.",
    remedy: "Send it again.",
    oauth: "invalid_request",
  },
  route_not_found: {
    status: 404,
    means: "There is nothing at this path.",
    remedy: "Check the path against the API reference at /docs. All API paths begin with /v2.",
  },
  method_not_allowed: {
    status: 405,
    means: "This path does not take this method.",
    remedy: "Use one of the methods in the `Allow` header.",
  },
  body_too_large: {
    status: 413,
    means: "The body is larger than 16 KB.",
    remedy: "Send less. No operation of this API needs a body of that size.",
    oauth: "invalid_request",
  },
  url_too_long: {
    status: 414,
    means: "The URL is longer than 8 KB.",
    remedy: "Shorten the query string.",
    oauth: "invalid_request",
  },
  media_type_unsupported: {
    status: 415,
    means: "The body's media type or encoding is not one that this operation reads.",
    remedy:
      "Send `Content-Type: application/json` (the OAuth endpoints also take `application/x-www-form-urlencoded`), UTF-8, without `Content-Encoding`.",
    oauth: "invalid_request",
  },
  headers_too_large: {
    status: 431,
    means: "The header block is larger than 16 KB.",
    remedy: "Send fewer or shorter headers; cookies are the usual cause.",
  },

  // The caller
  token_missing: {
    status: 401,
    means: "This request needs an access token.",
    remedy: "Get one at `POST /oauth/access_token` and send it as `Authorization: Bearer <token>`.",
  },
  token_invalid: {
    status: 401,
    means: "The access token is not valid.",
    remedy:
      "It has expired, was revoked, was cut short, or its application key was deleted. Get a new one at `POST /oauth/access_token`.",
  },
  token_misplaced: {
    status: 400,
    means: "An access token may only come in the Authorization header.",
    remedy:
      "Remove `access_token` from the query string or the form, and treat that token as leaked: URLs end up in logs. Revoke it.",
    oauth: "invalid_request",
  },
  not_permitted: {
    by: "store",
    status: 403,
    means: "This kind of access token may not do this.",
    remedy:
      "Administration needs a token of the `client_credentials` grant; an `implicit` token is for storefronts.",
  },
  role_insufficient: {
    by: "store",
    status: 403,
    means: "The role of this access token may not do this.",
    remedy:
      "`meta.needs` names the lowest sufficient role. An administrator gives it to the application key or the member; it takes effect within a second, for existing tokens too.",
    oauth: "unauthorized_client",
  },
  client_unknown: {
    status: 401,
    means: "The client id and secret do not name an application key.",
    remedy: "Check both against the application key. A lost secret cannot be read again: rotate it.",
    oauth: "invalid_client",
  },
  client_id_mistyped: {
    status: 401,
    means: "The client id is not valid: its checksum does not match.",
    remedy: "It was mistyped or cut off. Client ids begin with `lkid_` and have 33 characters.",
    oauth: "invalid_client",
  },
  client_secret_mistyped: {
    status: 401,
    means: "The client secret is not valid: its checksum does not match.",
    remedy: "It was mistyped or cut off. Client secrets begin with `lksk_` and have 54 characters.",
    oauth: "invalid_client",
  },
  client_credentials_missing: {
    status: 401,
    means: "This request needs a client id and, except for the implicit grant, a client secret.",
    remedy: "Send `client_id` and `client_secret` as form fields or by HTTP Basic authentication.",
    oauth: "invalid_client",
  },
  client_authenticated_twice: {
    status: 400,
    means: "The client credentials came both by HTTP Basic authentication and in the body.",
    remedy: "Use one of the two (RFC 6749 2.3).",
    oauth: "invalid_request",
  },
  credentials_in_url: {
    status: 400,
    means: "Client credentials may not be part of the URL.",
    remedy:
      "Send them as form fields or by HTTP Basic authentication, and rotate the secret: URLs end up in logs.",
    oauth: "invalid_request",
  },
  secret_rotated: {
    status: 401,
    means: "This client secret was replaced, and its grace period is over.",
    remedy: "Give the program the newer secret of this application key.",
    oauth: "invalid_client",
  },
  grant_unsupported: {
    status: 400,
    means: "This grant type is not supported.",
    remedy: "Use `implicit`, `client_credentials` or, for a member's sign-on, `authorization_code`.",
    oauth: "unsupported_grant_type",
  },
  scope_unknown: {
    status: 400,
    means: "Scopes are not supported: the grant decides what a token may do.",
    remedy: "Leave `scope` out.",
    oauth: "invalid_scope",
  },

  // Customers and their tokens
  customer_not_found: {
    status: 404,
    means: "There is no customer with this id.",
    remedy:
      "Check the id. The same answer is given for a customer of another store and, with a customer token, for every other customer.",
  },
  customer_token_not_found: {
    status: 404,
    means: "The customer has no valid token with this id.",
    remedy: "List the customer's tokens; expired and revoked tokens are not in the list.",
  },
  customer_token_invalid: {
    status: 403,
    means: "The customer token is not valid.",
    remedy: "It has expired, was revoked, or belongs to another store. Let the shopper sign in again.",
  },
  customer_token_missing: {
    status: 403,
    means: "This needs a shopper who has signed in, and no customer token was sent.",
    remedy:
      "Let the shopper sign in, and send the customer token in `X-Customer-Token` beside the access token.",
  },
  password_by_back_office_only: {
    status: 403,
    means: "A customer of an identity provider cannot set a password.",
    remedy:
      "They sign in through the provider. The back office can give them a password (`client_credentials`).",
  },
  email_taken: {
    status: 409,
    means: "Another customer signs in with this e-mail and a password.",
    remedy: "Use another e-mail, or let the customer sign in with it.",
  },
  customer_changed: {
    status: 409,
    means: "The customer was changed since it was read. Nothing of this request was written.",
    remedy:
      "Read the customer again, and repeat the change if it is still right. `If-Match` takes the `ETag` of that answer.",
  },
  credentials_wrong: {
    by: "shopper",
    status: 400,
    means: "Wrong e-mail or password.",
    remedy:
      "Let the shopper try again, or sign in through the store's identity provider: customers of a provider have no password until they get one.",
    oauth: "invalid_grant",
  },
  sign_in_attempts_exceeded: {
    status: 429,
    means: "There were too many failed attempts to sign in.",
    remedy: "Wait for `Retry-After` seconds. Nothing is locked for good.",
  },
  sign_ups_exceeded: {
    status: 429,
    means: "Too many customers were created with public tokens in the last hour.",
    remedy:
      "`meta.bucket` names the limit: `network` (30 in an hour from one IPv4 address or IPv6 /64) or `store` (1,000 in an hour); `Retry-After` says when there is room. A shop that renders on its server is one network: let it create customers with a `client_credentials` token, which does not count, or ask the operator for a higher limit (`latchkey store update --sign-ups-per-network`).",
  },
  own_changes_exceeded: {
    status: 429,
    means: "This customer has changed their own data too often in the last hour.",
    remedy: "A customer token allows 60 changes in an hour. Wait for `Retry-After` seconds.",
  },
  password_queue_full: {
    status: 503,
    means: "Too many passwords are being checked at this moment.",
    remedy: "Try again after `Retry-After` seconds.",
  },
  code_invalid: {
    status: 400,
    means: "This code cannot be redeemed here.",
    remedy:
      "It was mistyped, cut off, made void by a wrong attempt, or belongs to another store. A customer's code is redeemed for a customer token, a member's for an access token. Start a new sign-on.",
    oauth: "invalid_grant",
  },
  code_expired: {
    by: "shopper",
    status: 400,
    means: "The code has expired.",
    remedy: "Redeem it as soon as the browser is back. Start a new sign-on.",
    oauth: "invalid_grant",
  },
  code_already_used: {
    status: 400,
    means: "The code was used before.",
    remedy:
      "A code works once. If the first answer may have been lost, send `Idempotency-Key` next time; now start a new sign-on.",
    oauth: "invalid_grant",
  },
  redirect_uri_mismatch: {
    status: 400,
    means: "The redirect URI is not the one that the sign-on began with. The code is void now.",
    remedy: "Send exactly the same redirect URI. Start a new sign-on.",
    oauth: "invalid_grant",
  },
  verifier_mismatch: {
    status: 400,
    means:
      "The code verifier does not fit the challenge that the sign-on began with, or one of the two is missing. The code is void now.",
    remedy:
      "Keep one verifier for each `state`: several tabs must not share one. A `standard` application key that began without a challenge sends no verifier. Start a new sign-on.",
    oauth: "invalid_grant",
  },
  sign_on_refused: {
    by: "store",
    status: 400,
    means: "The sign-on was good, but this person cannot be signed in here.",
    remedy: "`meta.reason` says why, and `meta.reference` finds the record of this sign-on.",
    oauth: "invalid_grant",
  },
  idp_unavailable: {
    by: "provider",
    status: 503,
    means: "The identity provider does not answer.",
    remedy: "Try again after `Retry-After` seconds.",
    oauth: "temporarily_unavailable",
  },
  idempotency_key_invalid: {
    status: 400,
    means: "The Idempotency-Key is not 1 to 255 visible ASCII characters.",
    remedy: "Send a random text, such as a UUID, new for each action.",
  },
  idempotency_key_reused: {
    status: 422,
    means: "This Idempotency-Key was sent with another request.",
    remedy: "Use a new key for a new request; repeat the old one only with the same body.",
  },

  // Sign-on in the browser
  sign_on_client_unknown: {
    by: "storefront",
    status: 400,
    means:
      "The client id is neither that of the store's customer authentication settings nor one of its application keys'.",
    remedy:
      "Send the `client_id` of `GET /v2/customer-authentication-settings`, or, from a server that keeps a secret, that of an application key of the store.",
    oauth: "invalid_client",
  },
  redirect_uri_unregistered: {
    by: "store",
    status: 400,
    means: "The address to go back to is not registered for this realm.",
    remedy:
      "Add it to the realm's `redirect_uris`, with `latchkey realm allow` or in the console. It must be exactly the same.",
    oauth: "invalid_request",
  },
  attempt_invalid: {
    by: "shopper",
    status: 400,
    means: "This address does not belong to a sign-on that began here.",
    remedy: "Go back to the shop and sign in again.",
  },
  test_sign_on_over: {
    by: "store",
    status: 400,
    means: "This test sign-on is over: its address works once, in one browser, within ten minutes.",
    remedy: "Start a new test from the profile.",
  },
  test_sign_on_direct: {
    by: "store",
    status: 422,
    means: "A profile with the direct flow cannot be tested here: its sign-ons do not pass through Latchkey.",
    remedy:
      "Test it from the storefront, or use `flow: brokered`. `POST …/checks` checks the provider without a person.",
  },
  attempt_expired: {
    by: "shopper",
    status: 400,
    means: "This sign-on has expired. It can take ten minutes at most.",
    remedy: "Go back to the shop and sign in again.",
  },
  browser_changed: {
    by: "shopper",
    status: 400,
    means: "This sign-on did not begin in this browser, or the browser keeps no cookies.",
    remedy: "Go back to the shop in this browser and sign in again.",
  },
  settings_not_found: {
    status: 404,
    means: "There are no settings with this id.",
    remedy: "Their id is the store's; `GET /v2/customer-authentication-settings` needs none.",
  },
  logout_hint_invalid: {
    by: "storefront",
    status: 400,
    means:
      "The ID token in the request to sign out is not of this realm, or not of the client that the request names.",
    remedy:
      "Send as `id_token_hint` an ID token that this realm has given your storefront, expired or not. Without one, the shopper is asked. A `client_id` must be the ID token's client.",
  },
  logout_uri_unregistered: {
    by: "store",
    status: 400,
    means: "The address to go to after signing out is not registered for this realm.",
    remedy:
      "With a valid `id_token_hint` the sign-on has ended anyway. Send exactly one of the realm's `redirect_uris` as `post_logout_redirect_uri`, with a `state` of at most 2048 characters.",
  },
  logout_token_invalid: {
    by: "provider",
    status: 400,
    means: "The logout token is not a valid one of this identity provider.",
    remedy:
      "It must be signed, recent, for this client, and have the back-channel logout event and no nonce.",
    oauth: "invalid_request",
  },
  events_gone: {
    status: 410,
    means: "Events after this number are no longer kept.",
    remedy:
      "Start again: read what you need from the lists, then follow the log from `meta.oldest_sequence` on, with `after` one below it. Events are kept for 90 days, unless the operator has chosen otherwise.",
  },
  streams_exceeded: {
    status: 429,
    means: "The store has too many open streams of events.",
    remedy:
      "Close one, or read the log with `GET /v2/events` and `after`. A store may have 20 on each instance.",
  },
  integration_not_found: {
    status: 404,
    means: "There is no integration with this id.",
    remedy: "Check the id against `GET /v2/integrations`.",
  },
  delivery_not_found: {
    status: 404,
    means: "This integration has no delivery with this id.",
    remedy:
      "Check the id against the integration's `deliveries`. A delivery is kept for 14 days after its last attempt; `replay` sends older events.",
  },
  too_many_integrations: {
    by: "store",
    status: 409,
    means: "The store has 100 integrations, and can have no more.",
    remedy: "Delete one that is no longer needed, or let one integration observe more types of events.",
  },
  integration_type_unsupported: {
    status: 422,
    means: "The only type of integration is `webhook`.",
    remedy: "Send `integration_type: webhook`, and let a program of your own pass messages on to a queue.",
  },
  webhook_url_not_allowed: {
    status: 422,
    means: "Webhooks are not sent to this address.",
    remedy:
      "The address is https, on port 443, with a public host name and without user information or fragment. An address inside your own network must be allowed by the operator (LATCHKEY_EGRESS_ALLOW).",
  },
  event_type_unknown: {
    status: 422,
    means: "There are no events of this type.",
    remedy:
      "Name a type such as `customer.created`, or a pattern such as `customer.*`. docs/events.md has the types.",
  },
  integration_disabled: {
    by: "store",
    status: 409,
    means: "The integration is disabled, so nothing is sent.",
    remedy: "Enable it first. `POST …/test` sends one message to a disabled integration, too.",
  },
  replay_under_way: {
    by: "store",
    status: 409,
    means: "A replay of this integration is still under way.",
    remedy: "Wait until it is done: `meta.replay` of the integration shows what is left of it.",
  },
  tests_exceeded: {
    status: 429,
    means: "The store has several test messages under way.",
    remedy: "Wait for `Retry-After` seconds. A store may have 5 at once on each instance.",
  },
  sign_on_not_found: {
    status: 404,
    means: "There is no record of a sign-on with this id.",
    remedy:
      "Check the id, or look for the reference with `filter=eq(reference,…)`. Records are kept for 30 days, unless the operator has chosen otherwise.",
  },

  // Application keys and the store's limit
  application_key_not_found: {
    status: 404,
    means: "There is no application key with this id.",
    remedy: "Check the id; for a key of another store the answer is the same.",
  },
  id_mismatch: {
    status: 409,
    means: "The id in the body is not the id of the addressed resource.",
    remedy:
      "Leave `id` out of the body, or send the one in the path; the settings and the store itself have the store's id. Perhaps the body belongs to another request, or the access token to another store.",
  },
  too_many_live_secrets: {
    by: "store",
    status: 409,
    means: "The application key has 50 secrets that still work, and can have no more.",
    remedy:
      "Wait until some have expired, or rotate with a shorter `grace_seconds`, which ends the older ones sooner.",
  },
  reservation_exceeds_store_limit: {
    by: "store",
    status: 409,
    means: "The reservations of all keys together would exceed the store's rate limit.",
    remedy:
      "`meta` has the unreserved rest: reserve at most that, lower another key's reservation, or raise the store's limit.",
  },
  store_not_found: {
    status: 404,
    means: "There is no store with this id.",
    remedy:
      "Check the id; for another store the answer is the same. `GET /v2/store` shows the access token's store and needs no id.",
  },
  store_limit_below_reservations: {
    by: "store",
    status: 409,
    means: "The store's rate limit cannot be lower than what its keys have reserved together.",
    remedy: "`meta` has the reserved sum: lower reservations first.",
  },
  store_limit_above_ceiling: {
    by: "operator",
    status: 422,
    means: "The store's rate limit would be higher than the operator of the service allows.",
    remedy:
      "`meta` has the highest allowed limit. The operator can raise that: `latchkey store update --max-rate-limit`.",
  },
  rate_limit_exceeded: {
    status: 429,
    means: "The rate limit is used up.",
    remedy:
      "Wait for `Retry-After` seconds. `meta` has the bucket that refused, and the reserved, used and free amounts. A reservation for this key keeps others from crowding it out.",
    oauth: "temporarily_unavailable",
  },

  // Realms, settings and identity providers
  realm_not_found: {
    status: 404,
    means: "There is no authentication realm with this id.",
    remedy: "Check the id; for a realm of another store the answer is the same.",
  },
  realm_in_use: {
    by: "store",
    status: 409,
    means: "The store's customer authentication settings use this realm.",
    remedy: "Point the settings at another realm first.",
  },
  realm_has_profiles: {
    by: "store",
    status: 409,
    means: "The realm still has identity providers.",
    remedy: "Delete its OIDC profiles first.",
  },
  realm_unknown: {
    status: 422,
    means: "The body names a realm that this store does not have.",
    remedy: "Use the id of one of the store's authentication realms.",
  },
  redirect_uri_invalid: {
    status: 422,
    means: "A redirect URI breaks the rules.",
    remedy:
      "Redirect URIs are absolute, https (or http on localhost or 127.0.0.1), in ASCII, without fragment, user information, spaces or backslashes. Each is compared exactly.",
  },
  shown_url_invalid: {
    status: 422,
    means: "`home_url` or `logo_url` is not an accepted address.",
    remedy:
      "`home_url` and `logo_url` are absolute and https, in ASCII, without fragment, user information, spaces or backslashes. http on localhost or 127.0.0.1 is accepted if the service itself is on such an address.",
  },
  profile_not_found: {
    status: 404,
    means: "There is no OIDC profile with this id in this realm.",
    remedy: "Check both ids; for a profile of another store the answer is the same.",
  },
  setup_link_not_found: {
    status: 404,
    means: "There is no such set-up link, or it has expired or was ended.",
    remedy:
      "Make another one: `POST …/setup-links` or `latchkey setup-link create`. On the page of a link: ask the shop for a new link.",
  },
  setup_links_full: {
    by: "store",
    status: 409,
    means: "The profile has five set-up links that work, and can have no more.",
    remedy: "End one of them, or wait until one expires: `GET …/setup-links` lists them.",
  },
  direct_profile_exists: {
    by: "store",
    status: 409,
    means: "The realm already has an enabled profile with the direct flow, and can have only one.",
    remedy: "Use `flow: brokered`, or disable the other profile: a token request does not name its profile.",
  },
  direct_client_id_mismatch: {
    status: 422,
    means:
      "A profile with the direct flow must have the client id of the store's customer authentication settings.",
    remedy:
      "Change the settings' `client_id` to the one that the identity provider gave you, or use `flow: brokered`.",
  },
  direct_pkce_missing: {
    status: 422,
    means: "A profile with the direct flow needs an identity provider that lists PKCE with S256.",
    remedy:
      "Turn PKCE on at the identity provider, or use `flow: brokered`: without PKCE anyone could redeem a stolen code.",
  },
  client_secret_required: {
    status: 422,
    means:
      "A changed discovery URL or client id needs the client secret in the same request; so does enabling a profile that has none yet.",
    remedy: "Send `client_secret` too: a secret is never sent to a place that it was not entered for.",
  },
  confirmation_wrong: {
    by: "store",
    status: 422,
    means: "`confirm` is not the name of the profile.",
    remedy: "To keep the identities under the new issuer, send exactly the profile's name.",
  },
  idp_requirement_not_met: {
    by: "provider",
    status: 422,
    means: "The identity provider does not meet a requirement.",
    remedy: "`meta` names the requirement, what was found, and what to change at the identity provider.",
  },
  idp_unreachable: {
    by: "provider",
    status: 422,
    means: "The identity provider could not be reached.",
    remedy:
      "`meta.reason` says why. Save the profile with `enabled: false` to finish later; an address inside your own network must be allowed by the operator (LATCHKEY_EGRESS_ALLOW).",
  },
  adoption_impossible: {
    by: "store",
    status: 409,
    means: "The identities of that profile cannot be taken over.",
    remedy:
      "`adopt_identities_of` names a deleted profile of this realm that had the same issuer and client id; `meta.adoptable` of the profile lists those.",
  },
  identities_left_behind: {
    by: "store",
    status: 409,
    means:
      "This change gives the profile another issuer, and the request does not say what happens to the existing identities.",
    remedy:
      "`meta.identities` is their number. Repeat the request with `adopt_identities_of`. This profile's own id keeps them, if the provider still has the same subject for each person; then `confirm` must be the profile's name. `null` drops them: each person's next sign-on creates a new customer, and members must be removed and invited again.",
  },
  profile_changed: {
    by: "store",
    status: 409,
    means: "The profile was changed since it was read. Nothing of this request was written.",
    remedy:
      "Read the profile again, and repeat the change if it is still right. `If-Match` takes the `ETag` of that answer.",
  },
  discovery_tries_exceeded: {
    status: 429,
    means: "The store has caused too many requests to identity providers in a short time.",
    remedy:
      "Wait for `Retry-After` seconds. Saving a provider's address, switching a profile on and checking one each count as a try; `meta` has the limits.",
  },
  drift_changed: {
    by: "store",
    status: 409,
    means: "`digest` does not match the change that waits for approval.",
    remedy:
      "Read the profile again, look at `meta.pending_change`, and approve its `digest`; `meta.digest` is that of the change that waits now.",
  },
  no_pending_change: {
    by: "store",
    status: 409,
    means: "No change of this identity provider waits for approval.",
    remedy: "Read the profile again: `meta.pending_change` shows a waiting change.",
  },

  // Members
  member_not_found: {
    status: 404,
    means: "There is no member with this id.",
    remedy: "List the members; for a member of another store the answer is the same.",
  },
  member_exists: {
    by: "store",
    status: 409,
    means: "A member of the store has this e-mail already.",
    remedy: "Change that member, or remove it first. Upper and lower case count as the same.",
  },
  last_administrator: {
    by: "store",
    status: 409,
    means: "This is the last administrator who can sign in, so a member cannot remove or demote them.",
    remedy:
      "Invite another administrator first, or use an application key with the role `administrator`, which can do it.",
  },
  members_client_unknown: {
    by: "store",
    status: 400,
    means: "The client id of a member's sign-on is `members`, or `cli` for the command line.",
    remedy: "Send the `client_id` of the authorization request, or another grant for an application key.",
    oauth: "invalid_client",
  },
  members_realm_exists: {
    by: "store",
    status: 409,
    means: "The store has its realm for members already.",
    remedy: "List the realms and use the one whose `purpose` is `members`.",
  },
  realm_changed: {
    by: "store",
    status: 409,
    means: "The realm was changed since it was read. Nothing of this request was written.",
    remedy:
      "Read the realm again, and repeat the change if it is still right. `If-Match` takes the `ETag` of that answer.",
  },
  realm_purpose_fixed: {
    by: "store",
    status: 409,
    means: "The purpose of a realm cannot be changed.",
    remedy: "Create another realm with that purpose.",
  },
  members_profile_direct: {
    status: 422,
    means: "In a realm for members a profile cannot have the flow `direct`.",
    remedy: "Use the flow `brokered`, which is the default: members are signed in by this service alone.",
  },

  // The service itself
  internal_error: {
    status: 500,
    means: "Something went wrong on our side.",
    remedy: "Try again. If it stays, give support the `id`, which is the request id in the log.",
    oauth: "server_error",
  },
  storage_unavailable: {
    status: 503,
    means: "The service cannot reach its database at the moment.",
    remedy:
      "Try again after `Retry-After` seconds. If the answer to a change was lost, the change may have been made: read before you repeat it.",
    oauth: "temporarily_unavailable",
  },
  not_ready: {
    status: 503,
    means: "This instance is not ready to serve.",
    remedy: "`meta` gives the reasons. A balancer should send requests elsewhere until this answers 200.",
  },
} as const satisfies Record<string, ProblemEntry>;

export type ProblemCode = keyof typeof problems;

export const problemEntry = (code: ProblemCode): ProblemEntry => problems[code];

/** The page of an error, or of a reason of a failed sign-on. */
export const errorUrl = (publicUrl: string, code: string): string => `${publicUrl}/errors/${code}`;

export function fixerOf(code: ProblemCode): Fixer {
  const { by, status } = problemEntry(code);
  if (by) return by;
  if (status >= 500) return "operator";
  return status === 429 ? "time" : "caller";
}

export const titles: Record<Status, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};
