// Made by `npm run generate` from the migrations. Do not edit.

export type Tables = {
  access_token_revocations: {
    token_id: string;
    store_id: string;
    expires_at: number;
  };
  application_key_secrets: {
    id: string;
    store_id: string;
    application_key_id: string;
    secret_hash: string;
    created_at: number;
    expires_at: number | null;
    last_used_at: number | null;
  };
  application_keys: {
    id: string;
    store_id: string;
    name: string;
    client_id: string;
    reserved_rate_limit: number;
    last_used_at: number | null;
    created_at: number;
    updated_at: number;
    role: string;
  };
  authentication_realms: {
    id: string;
    store_id: string;
    name: string;
    redirect_uris: string;
    duplicate_email_policy: string;
    created_at: number;
    updated_at: number;
    purpose: string;
    id_token_signed_response_alg: string | null;
  };
  customer_authentication_settings: {
    store_id: string;
    client_id: string;
    realm_id: string;
    updated_at: number;
  };
  customer_identities: {
    id: string;
    store_id: string;
    realm_id: string;
    profile_id: string;
    issuer: string;
    client_id: string;
    subject: string;
    customer_id: string;
    created_at: number;
  };
  customer_tokens: {
    id: string;
    store_id: string;
    customer_id: string;
    mechanism: string;
    profile_id: string | null;
    profile_name: string | null;
    subject: string | null;
    idp_session: string | null;
    created_at: number;
    expires_at: number;
  };
  customers: {
    id: string;
    store_id: string;
    name: string;
    email: string;
    email_key: string;
    email_verified: number;
    password_hash: string | null;
    external_ref: string | null;
    authentication_mechanism: string;
    created_at: number;
    updated_at: number;
  };
  deleted_integrations: {
    id: string;
    store_id: string;
  };
  deleted_profiles: {
    id: string;
    store_id: string;
    former_profile_ids: string;
  };
  event_erasures: {
    store_id: string;
    person_id: string;
    asked_at: number;
  };
  event_heads: {
    store_id: string;
    last_sequence: number;
    last_hash: string;
    latest_time: number;
    first_sequence: number;
    forgotten_hash: string;
    oldest_time: number | null;
  };
  event_outbox: {
    position: number;
    id: string;
    store_id: string;
    type: string;
    subject: string;
    actor_id: string | null;
    person_id: string | null;
    time: number;
    data: string;
  };
  events: {
    store_id: string;
    sequence: number;
    id: string;
    type: string;
    subject: string;
    actor_id: string | null;
    person_id: string | null;
    source: string;
    time: number;
    latest_time: number;
    salt: string | null;
    digest: string;
    previous_hash: string;
    hash: string;
    data: string;
  };
  id_token_keys: {
    kid: string;
    public_jwk: string;
    sealed_private_key: string;
    created_at: number;
    signs_from: number;
  };
  idempotent_answers: {
    key_hash: string;
    store_id: string;
    sealed_answer: string;
    expires_at: number;
  };
  integration_deliveries: {
    id: string;
    store_id: string;
    integration_id: string;
    sequence: number;
    event_id: string;
    type: string;
    subject: string;
    status: string;
    reason: string | null;
    tries: number;
    attempts: string;
    next_attempt_at: number | null;
    forget_at: number | null;
    created_at: number;
    updated_at: number;
  };
  integrations: {
    id: string;
    store_id: string;
    name: string;
    description: string;
    enabled: number;
    observes: string;
    url: string;
    format: string;
    sealed_secret_key: string | null;
    sealed_secret: string;
    sealed_previous_secret: string | null;
    previous_until: number | null;
    failing_since: number | null;
    disabled_reason: string | null;
    last_delivery: string | null;
    sequence: number;
    replay_after: number | null;
    replay_before: number | null;
    due_at: number | null;
    lease: string | null;
    lease_until: number;
    is_slow: number;
    created_at: number;
    updated_at: number;
  };
  members: {
    id: string;
    store_id: string;
    name: string;
    email: string;
    email_key: string;
    role: string;
    profile_id: string | null;
    issuer: string | null;
    subject: string | null;
    last_signed_in_at: number | null;
    created_at: number;
    updated_at: number;
  };
  oidc_profiles: {
    id: string;
    store_id: string;
    realm_id: string;
    name: string;
    discovery_url: string;
    client_id: string;
    sealed_client_secret: string;
    sealed_client_secret_next: string | null;
    enabled: number;
    flow: string;
    provisioning: string;
    metadata: string | null;
    pending_metadata: string | null;
    pending_since: number | null;
    created_at: number;
    updated_at: number;
    former_profile_ids: string;
    told_health: string | null;
    propagate_logout: number | null;
  };
  schema_migrations: {
    version: number;
    name: string;
    applied_at: number;
    needs_version: number | null;
  };
  sign_on_attempts: {
    id: string;
    store_id: string;
    realm_id: string;
    profile_id: string;
    state: string;
    client_id: string;
    client_redirect_uri: string;
    code_challenge: string | null;
    client_nonce: string | null;
    code_hash: string | null;
    code_expires_at: number | null;
    identity: string | null;
    subject: string | null;
    idp_session: string | null;
    exchanged_at: number | null;
    token_id: string | null;
    forget_at: number;
    client_scope: string | null;
    is_confidential: number | null;
  };
  sign_on_statistics: {
    store_id: string;
    step: string;
    starts_at: number;
    profile_id: string;
    figures: string;
    forget_at: number;
  };
  sign_on_tallies: {
    position: number;
    store_id: string;
    profile_id: string;
    minute: number;
    figures: string;
  };
  sign_ons: {
    id: string;
    store_id: string;
    realm_id: string;
    profile_id: string | null;
    profile_name: string | null;
    reference: string;
    outcome: string;
    reason: string | null;
    error: string | null;
    checks: string;
    timings: string;
    customer_id: string | null;
    started_at: number;
    updated_at: number;
    by_stranger: number;
    counted: number | null;
  };
  signing_keys: {
    kid: string;
    public_jwk: string;
    sealed_private_key: string;
    created_at: number;
    signs_from: number;
  };
  stores: {
    id: string;
    name: string;
    rate_limit: number;
    revision: number;
    created_at: number;
    updated_at: number;
    max_rate_limit: number | null;
    deleted_at: number | null;
    tokens_from: number | null;
    total_reserved_rate_limit: number;
  };
};
