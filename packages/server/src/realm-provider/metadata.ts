import type { Output } from "../contract/operation.ts";
import type * as contract from "../contract/sign-on.ts";
import { issuerOf } from "../realms/issuer.ts";
import { getCustomerRealm } from "../realms/realm.ts";
import { SCOPES } from "../realms/scopes.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { Storage } from "../storage/storage.ts";
import { ID_TOKEN_CLAIMS } from "./id-token.ts";

const CLIENT_AUTHENTICATION = ["client_secret_basic", "client_secret_post", "none"];

/** The discovery document of a realm as an OpenID provider, for storefronts with a client library. */
export async function describeRealm(
  deps: { publicUrl: string; storage: Storage; signingKeys: SigningKeys },
  ids: { store: string; realm: string },
): Promise<Output<typeof contract.realmMetadata>> {
  const realm = await getCustomerRealm(deps, ids.store, ids.realm);
  // A library that reads this document checks an ID token next, so both kinds of keys must exist.
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
