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
  };
  authentication_realms: {
    id: string;
    store_id: string;
    name: string;
    redirect_uris: string;
    duplicate_email_policy: string;
    created_at: number;
    updated_at: number;
  };
  customer_authentication_settings: {
    store_id: string;
    client_id: string;
    realm_id: string;
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
  };
  schema_migrations: {
    version: number;
    name: string;
    applied_at: number;
  };
  stores: {
    id: string;
    name: string;
    rate_limit: number;
    revision: number;
    created_at: number;
    updated_at: number;
  };
};
