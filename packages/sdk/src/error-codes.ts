/**
 * Every code that an `ApiError` can have. docs/errors.md explains each code; a type test compares this list
 * with the service's. A service newer than this package may have more codes: give a `switch` over codes a
 * default.
 */
export type ErrorCode = ProblemCode | SignOnErrorCode | SdkErrorCode;

/** Errors that the SDK itself finds. */
export type SdkErrorCode =
  /** This browser has no such open sign-on: it has ended, is too old, or began in another browser. */
  | "state_unknown"
  /** `iss` of the answer is not the issuer of the request. The SDK has not sent the code anywhere. */
  | "issuer_mismatch"
  /** No answer came. */
  | "network_failed"
  /** The answer did not come from the service, but for example from a proxy. */
  | "answer_unreadable"
  /** A webhook lacks the fields of a signature. */
  | "webhook_unsigned"
  /** A webhook was signed more than five minutes ago, or in the future. */
  | "webhook_too_old"
  /** A webhook was signed with another secret, or changed on the way. */
  | "webhook_signature_wrong"
  /** A webhook is signed correctly, but contains no event. */
  | "webhook_unreadable";

/** The `error` of the redirect that ends a sign-on (RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6). */
export type SignOnErrorCode =
  | "access_denied"
  | "account_selection_required"
  | "callback_replay"
  | "consent_required"
  | "interaction_required"
  | "invalid_request"
  | "invalid_scope"
  | "login_required"
  | "registration_not_supported"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "server_error"
  | "temporarily_unavailable"
  | "unauthorized_client"
  | "unsupported_response_type";

/** The `code` of a problem that the service answers with. */
export type ProblemCode =
  // Every request
  | "body_broke_off"
  | "body_not_json"
  | "body_too_large"
  | "headers_too_large"
  | "media_type_unsupported"
  | "member_invalid"
  | "member_missing"
  | "method_not_allowed"
  | "parameter_invalid"
  | "filter_too_wide"
  | "statistics_range_unfit"
  | "test_sign_on_direct"
  | "test_sign_on_over"
  | "request_malformed"
  | "request_timeout"
  | "route_not_found"
  | "url_too_long"
  // Access tokens and clients
  | "client_authenticated_twice"
  | "client_credentials_missing"
  | "client_id_mistyped"
  | "client_secret_mistyped"
  | "client_unknown"
  | "credentials_in_url"
  | "grant_unsupported"
  | "not_permitted"
  | "role_insufficient"
  | "scope_unknown"
  | "secret_rotated"
  | "token_invalid"
  | "token_misplaced"
  | "token_missing"
  // Members
  | "last_administrator"
  | "member_exists"
  | "member_not_found"
  | "members_client_unknown"
  | "members_profile_direct"
  | "members_realm_exists"
  | "realm_changed"
  | "realm_purpose_fixed"
  // Customers and their tokens
  | "code_already_used"
  | "code_expired"
  | "code_invalid"
  | "credentials_wrong"
  | "customer_changed"
  | "customer_not_found"
  | "customer_token_invalid"
  | "customer_token_missing"
  | "customer_token_not_found"
  | "email_taken"
  | "idempotency_key_invalid"
  | "idempotency_key_reused"
  | "idp_unavailable"
  | "own_changes_exceeded"
  | "password_by_back_office_only"
  | "password_queue_full"
  | "redirect_uri_mismatch"
  | "sign_in_attempts_exceeded"
  | "sign_on_refused"
  | "sign_ups_exceeded"
  | "verifier_mismatch"
  // Sign-on in the browser
  | "attempt_expired"
  | "attempt_invalid"
  | "browser_changed"
  | "logout_hint_invalid"
  | "settings_not_found"
  | "logout_token_invalid"
  | "logout_uri_unregistered"
  | "redirect_uri_unregistered"
  | "sign_on_client_unknown"
  | "sign_on_not_found"
  | "events_gone"
  | "streams_exceeded"
  | "exports_exceeded"
  | "not_acceptable"
  // Integrations
  | "delivery_not_found"
  | "event_type_unknown"
  | "integration_disabled"
  | "integration_not_found"
  | "integration_type_unsupported"
  | "replay_under_way"
  | "tests_exceeded"
  | "too_many_integrations"
  | "webhook_url_not_allowed"
  // Application keys and the store's limit
  | "application_key_not_found"
  | "id_mismatch"
  | "rate_limit_exceeded"
  | "reservation_exceeds_store_limit"
  | "store_limit_above_ceiling"
  | "store_limit_below_reservations"
  | "store_not_found"
  | "too_many_live_secrets"
  // Realms, settings and identity providers
  | "adoption_impossible"
  | "identities_left_behind"
  | "confirmation_wrong"
  | "client_secret_required"
  | "direct_client_id_mismatch"
  | "direct_pkce_missing"
  | "direct_profile_exists"
  | "discovery_tries_exceeded"
  | "drift_changed"
  | "idp_requirement_not_met"
  | "idp_unreachable"
  | "no_pending_change"
  | "profile_changed"
  | "profile_not_found"
  | "setup_link_not_found"
  | "setup_links_full"
  | "realm_has_profiles"
  | "realm_in_use"
  | "realm_not_found"
  | "realm_unknown"
  | "redirect_uri_invalid"
  | "shown_url_invalid"
  // The service itself
  | "internal_error"
  | "not_ready"
  | "storage_unavailable";
