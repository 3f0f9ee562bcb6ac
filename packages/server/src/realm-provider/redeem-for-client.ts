import { authenticateClient, type ClientDeps, type Credentials, readCredentials } from "../access/client.ts";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/sign-on.ts";
import { findCustomer } from "../customers/customer.ts";
import { isWellFormed } from "../lib/secrets.ts";
import { getCustomerRealm, type Realm } from "../realms/realm.ts";
import { scopesOf } from "../realms/scopes.ts";
import { getSettings } from "../realms/settings.ts";
import { type RedeemDeps, redeem } from "../sign-on/redeem.ts";
import { idTokenFor } from "./id-token.ts";

type Ids = { store: string; realm: string };

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
