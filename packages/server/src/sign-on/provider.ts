import { createHash } from "node:crypto";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/sign-on.ts";
import { type Customer, findCustomer } from "../customers/customer.ts";
import { AMR } from "../customers/customer-token.ts";
import { type Signer, signJws } from "../lib/jws.ts";
import { issuerOf } from "../realms/issuer.ts";
import { getCustomerRealm } from "../realms/realm.ts";
import { getSettings } from "../realms/settings.ts";
import type { Storage } from "../storage/storage.ts";
import { type RedeemDeps, type Redeemed, redeem } from "./redeem.ts";

/** The realm as an OpenID provider, for storefronts that bring a client library instead of ours. */

type Ids = { store: string; realm: string };

export async function describeRealm(
  deps: { publicUrl: string; storage: Storage },
  ids: Ids,
): Promise<Output<typeof contract.realmMetadata>> {
  const realm = await getCustomerRealm(deps, ids.store, ids.realm);
  const issuer = issuerOf(deps, realm.storeId, realm.id);
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${deps.publicUrl}/.well-known/jwks.json`,
    scopes_supported: ["openid", "email", "profile"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
    token_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    claims_supported: [
      "sub",
      "iss",
      "aud",
      "exp",
      "iat",
      "nonce",
      "email",
      "email_verified",
      "amr",
      "at_hash",
    ],
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

export async function redeemForClient(
  deps: RedeemDeps,
  ids: Ids,
  body: Input<typeof contract.realmToken>["body"],
  requestId: string,
): Promise<Output<typeof contract.realmToken>> {
  const realm = await getCustomerRealm(deps, ids.store, ids.realm);
  if (body.grant_type !== "authorization_code")
    throw new Problem("grant_unsupported", { detail: "This endpoint takes the grant authorization_code." });
  // Before the code is touched: who does not know the client id has no business with its codes.
  const { clientId } = await getSettings(deps, realm.storeId);
  if (body.client_id !== clientId) throw new Problem("sign_on_client_unknown");
  const grant = {
    storeId: realm.storeId,
    clientCode: body.code,
    clientRedirectUri: body.redirect_uri,
    clientVerifier: body.code_verifier,
    client: { realmId: realm.id, clientId },
    requestId,
  };
  const signer = await deps.signingKeys.current();
  return redeem(deps, grant, async (trx, redeemed) => {
    const customer = await findCustomer(trx, realm.storeId, redeemed.token.customerId);
    if (!customer) throw new Error("a token was made for nobody");
    return {
      access_token: redeemed.token.token,
      token_type: "Bearer" as const,
      expires_in: deps.customerTokenSeconds,
      id_token: idTokenFor(deps, signer, redeemed, customer),
      scope: "openid email",
    };
  });
}

const ID_TOKEN_SECONDS = 3600;

/** Who the customer is here, which may be with another address than the one that the identity provider has. */
function idTokenFor(
  deps: { publicUrl: string },
  signer: Signer,
  { token, attempt }: Redeemed,
  customer: Customer,
): string {
  const iat = token.issuedAt / 1000;
  return signJws(signer, "JWT", {
    iss: issuerOf(deps, attempt.store_id, attempt.realm_id),
    sub: customer.id,
    aud: attempt.client_id,
    iat,
    exp: iat + ID_TOKEN_SECONDS,
    ...(attempt.client_nonce !== null && { nonce: attempt.client_nonce }),
    at_hash: createHash("sha256").update(token.token).digest().subarray(0, 16).toString("base64url"),
    email: customer.email,
    email_verified: customer.emailVerified,
    amr: [AMR.oidc],
  });
}
