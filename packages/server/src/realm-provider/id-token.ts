import { hash } from "node:crypto";
import type { Customer } from "../customers/customer.ts";
import { ID_TOKEN_TYPE } from "../customers/tokens/id-token-hint.ts";
import { AMR } from "../customers/tokens/issue-token.ts";
import { type Signer, signJws } from "../lib/jws.ts";
import { issuerOf } from "../realms/issuer.ts";
import { scopesOf } from "../realms/scopes.ts";
import type { Redeemed } from "../sign-on/redeem.ts";

const ID_TOKEN_SECONDS = 3600;

/** The claims of Latchkey's ID tokens. The discovery document lists them. */
export const ID_TOKEN_CLAIMS = [
  "iss",
  "sub",
  "aud",
  "iat",
  "exp",
  "auth_time",
  "nonce",
  "at_hash",
  "sid",
  "profile_id",
  "email",
  "email_verified",
  "amr",
] as const;

type IdTokenClaims = Partial<Record<(typeof ID_TOKEN_CLAIMS)[number], unknown>>;

/** Only with the scope `email`. */
export const emailClaims = (scopes: readonly string[], { email, email_verified: emailVerified }: Customer) =>
  scopes.includes("email") ? { email, email_verified: emailVerified } : {};

/** The claims are the store's customer, whose e-mail may differ from the provider's. */
export function idTokenFor(
  deps: { publicUrl: string },
  signer: Signer,
  { token, attempt, authTime }: Redeemed,
  customer: Customer,
): string {
  const iat = token.issuedAt / 1000;
  const claims: IdTokenClaims = {
    iss: issuerOf(deps, attempt.store_id, attempt.realm_id),
    sub: customer.id,
    aud: attempt.client_id,
    iat,
    exp: iat + ID_TOKEN_SECONDS,
    ...(authTime !== undefined && { auth_time: authTime }),
    ...(attempt.client_nonce !== null && { nonce: attempt.client_nonce }),
    at_hash: hash("sha256", token.token, "buffer").subarray(0, 16).toString("base64url"),
    // The customer token of this ID token. Signing out revokes it.
    sid: token.id,
    profile_id: attempt.profile_id,
    ...emailClaims(scopesOf(attempt.client_scope), customer),
    amr: [AMR.oidc],
  };
  return signJws(signer, ID_TOKEN_TYPE, claims);
}
