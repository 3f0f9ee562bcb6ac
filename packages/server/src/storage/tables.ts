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
