import { authenticateClient, type ClientDeps, type Credentials, readCredentials } from "../access/client.ts";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/sign-on.ts";
import { findCustomer } from "../customers/customer.ts";
import { isWellFormed } from "../lib/secrets.ts";
import { issuerOf } from "../realms/issuer.ts";
import { getCustomerRealm, type Realm } from "../realms/realm.ts";
import { SCOPES, scopesOf } from "../realms/scopes.ts";
import { getSettings } from "../realms/settings.ts";
import { type RedeemDeps, redeem } from "../sign-on/redeem.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { Storage } from "../storage/storage.ts";
import { ID_TOKEN_CLAIMS, idTokenFor } from "./id-token.ts";

/** The realm as an OpenID provider, for storefronts that bring a client library instead of ours. */

type Ids = { store: string; realm: string };

const CLIENT_AUTHENTICATION = ["client_secret_basic", "client_secret_post", "none"];

export async function describeRealm(
  deps: { publicUrl: string; storage: Storage; signingKeys: SigningKeys },
  ids: Ids,
): Promise<Output<typeof contract.realmMetadata>> {
  const realm = await getCustomerRealm(deps, ids.store, ids.realm);
  // A library that has read this checks an ID token next: by then there is a key of each kind.
  await deps.signingKeys.prepare().catch(() => {});
  const issuer = issuerOf(deps, realm.store_id, realm.id);
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${deps.publicUrl}/.well-known/jwks.json`,
    revocation_endpoint: `${issuer}/revoke`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/end-session`,
    scopes_supported: [...SCOPES],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256", "ES256"],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    code_challenge_methods_supported: ["S256"],
    claims_supported: [...ID_TOKEN_CLAIMS, "name"],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

type TokenRequest = {
  authorization: string | undefined;
  body: Input<typeof contract.realmToken>["body"];
  source: string;
  userAgent: string | undefined;
  requestId: string;
};

export async function redeemForClient(
  deps: RedeemDeps & ClientDeps,
  ids: Ids,
  { authorization, source, userAgent, body, requestId }: TokenRequest,
): Promise<Output<typeof contract.realmToken>> {
  const realm = await getCustomerRealm(deps, ids.store, ids.realm);
  // Before the code is touched: whoever cannot show that they are a client must not be able to burn it.
  const { clientId, key } = await knowClient(deps, realm, readCredentials(authorization, body));
  const isStandard = key?.openidClient === "standard";
  if (body.code_verifier === undefined && !isStandard)
    throw new Problem("member_missing", { source: { pointer: "/code_verifier" } });
  const grant = {
    storeId: realm.store_id,
    clientCode: body.code,
    clientRedirectUri: body.redirect_uri,
    clientVerifier: body.code_verifier,
    client: { realmId: realm.id, clientId, isStandard },
    authenticatedAs: key?.clientId,
    requestId,
    from: { source, userAgent },
  };
  const signer = await deps.signingKeys.forIdTokens(realm.id_token_signed_response_alg);
  return redeem(deps, grant, async (trx, redeemed) => {
    const customer = await findCustomer(trx, realm.store_id, redeemed.token.customerId);
    if (!customer) throw new Error("a token was made for nobody");
    return {
      access_token: redeemed.token.token,
      token_type: "Bearer" as const,
      expires_in: deps.customerTokenSeconds,
      id_token: idTokenFor(deps, signer, redeemed, customer),
      scope: scopesOf(redeemed.attempt.client_scope).join(" "),
    };
  });
}

/** The public client of the settings, which has no secret, or an application key of the store, with its own. */
export async function knowClient(
  deps: ClientDeps,
  { store_id: storeId }: Realm,
  credentials: Credentials,
): Promise<{ clientId: string; key?: Awaited<ReturnType<typeof authenticateClient>> }> {
  const { clientId, clientSecret } = credentials;
  if (clientId === undefined)
    throw new Problem("client_credentials_missing", { detail: "`client_id` is missing." });
  const isKey = isWellFormed("lkid", clientId);
  if (clientSecret === undefined || !isKey) {
    const settings = await getSettings(deps, storeId);
    // A secret of the public client is one that a library insisted on: there is none to compare it with.
    if (clientId === settings.client_id) return { clientId };
    if (!isKey) throw new Problem("sign_on_client_unknown");
  }
  const key = await authenticateClient(deps, credentials);
  if (key.storeId !== storeId) throw new Problem("client_unknown");
  return { clientId, key };
}
