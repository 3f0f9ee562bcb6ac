import type { Role, Timestamps } from "./types.ts";

/** `pkce`: sign-ons of this key need PKCE and the scope `email`. `standard`: what OpenID Connect Core 1.0 demands. */
export type OpenidClient = "pkce" | "standard";

export type ApplicationKey = {
  id: string;
  type: "application_key";
  name: string;
  client_id: string;
  /** Requests per second that no other key can take from this one. */
  reserved_rate_limit: number;
  /** The role of its `client_credentials` tokens. */
  role: Role;
  openid_client: OpenidClient;
  meta: {
    timestamps: Timestamps & { last_used_at: string | null };
    secrets: { created_at: string; last_used_at: string | null; expires_at: string | null }[];
  };
};
/** The secret is shown when it is made, and never again. */
export type ApplicationKeyWithSecret = ApplicationKey & { client_secret: string };
export type ApplicationKeyFields = {
  name: string;
  reserved_rate_limit?: number | undefined;
  role?: Role | undefined;
  openid_client?: OpenidClient | undefined;
};
