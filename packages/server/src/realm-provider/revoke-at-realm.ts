import { type ClientDeps, readCredentials } from "../access/authenticate-client.ts";
import type { RequestOf } from "../contract/request.ts";
import type * as contract from "../contract/sign-on.ts";
import { deleteToken } from "../customers/tokens/revoke-tokens.ts";
import { type VerifyDeps, verifyToken } from "../customers/tokens/verify-token.ts";
import { byCustomer, byKey } from "../events/event.ts";
import { issuerOf } from "../realms/issuer.ts";
import { getCustomerRealm } from "../realms/realm.ts";
import { authenticateAtRealm } from "./redeem-for-client.ts";

/** RFC 7009: revokes a customer token of this realm and this client. Any other text gets the same answer. */
export async function revokeAtRealm(
  deps: ClientDeps & VerifyDeps,
  { ids, authorization, body, requestId }: RequestOf<typeof contract.revokeAtRealm>,
): Promise<Record<string, never>> {
  const realm = await getCustomerRealm(deps, ids.store, ids.realm);
  const { store_id: storeId } = realm;
  const { clientId, key } = await authenticateAtRealm(deps, realm, readCredentials(authorization, body));
  const found = await verifyToken(deps, storeId, body.token);
  if (found?.clientId !== clientId || found.issuer !== issuerOf(deps, storeId, realm.id)) return {};
  const by = key ? byKey(storeId, key, requestId) : byCustomer(storeId, found.row.customer_id, requestId);
  await deleteToken(deps, by, found.row.id);
  return {};
}
