import {
  authenticateClient,
  type ClientCredentials,
  type ClientDeps,
  readCredentials,
} from "../access/authenticate-client.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type { RequestOf } from "../contract/request.ts";
import type * as contract from "../contract/sign-on.ts";
import { findCustomer } from "../customers/customer.ts";
import { isWellFormed } from "../lib/secrets.ts";
import { getCustomerRealm, type Realm } from "../realms/realm.ts";
import { scopesOf } from "../realms/scopes.ts";
import { getSettings } from "../realms/settings.ts";
import { type RedeemDeps, redeem } from "../sign-on/redeem.ts";
import { idTokenFor } from "./id-token.ts";

/** The realm's token endpoint: redeems a code for a customer token and an ID token. */
export async function redeemForClient(
  deps: RedeemDeps & ClientDeps,
  { ids, authorization, source, userAgent, body, requestId }: RequestOf<typeof contract.realmToken>,
): Promise<Output<typeof contract.realmToken>> {
  const realm = await getCustomerRealm(deps, ids.store, ids.realm);
  // Before the code is burnt: a stranger who is not a client must not be able to burn it.
  const { clientId, key } = await authenticateAtRealm(deps, realm, readCredentials(authorization, body));
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
    keyId: key?.keyId,
    requestId,
    from: { source, userAgent },
  };
  const signer = await deps.signingKeys.forIdTokens(realm.id_token_signed_response_alg);
  return redeem(deps, grant, async (trx, redeemed) => {
    const customer = await findCustomer(trx, realm.store_id, redeemed.token.customerId);
    if (!customer) throw new Error("a token was issued for a missing customer");
    return {
      access_token: redeemed.token.token,
      token_type: "Bearer" as const,
      expires_in: deps.customerTokenSeconds,
      id_token: idTokenFor(deps, signer, redeemed, customer),
      scope: scopesOf(redeemed.attempt.client_scope).join(" "),
    };
  });
}

/** Authenticates the public client of the settings, which has no secret, or an application key of the store. */
export async function authenticateAtRealm(
  deps: ClientDeps,
  { store_id: storeId }: Realm,
  credentials: ClientCredentials,
): Promise<{ clientId: string; key?: Awaited<ReturnType<typeof authenticateClient>> }> {
  const { clientId, clientSecret } = credentials;
  if (clientId === undefined)
    throw new Problem("client_credentials_missing", { detail: "`client_id` is missing." });
  const isKey = isWellFormed("lkid", clientId);
  if (clientSecret === undefined || !isKey) {
    const settings = await getSettings(deps, storeId);
    // Some libraries insist on sending a secret. The public client has none, so it is ignored.
    if (clientId === settings.client_id) return { clientId };
    if (!isKey) throw new Problem("sign_on_client_unknown");
  }
  const key = await authenticateClient(deps, credentials);
  if (key.storeId !== storeId) throw new Problem("client_unknown");
  return { clientId, key };
}
