import type * as contract from "../contract/access-tokens.ts";
import { isMembersClient, MEMBERS_CLIENT_ID } from "../contract/access-tokens.ts";
import type { Input, Output } from "../contract/operation.ts";
import { mayActAs } from "../contract/roles.ts";
import { deleteToken } from "../customers/tokens/revoke-tokens.ts";
import { verifyToken } from "../customers/tokens/verify-token.ts";
import { byKey } from "../events/event.ts";
import type { LastUsed } from "../rate-limit/last-used.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { deleteOld } from "../storage/delete-old.ts";
import type { Tables } from "../storage/tables.ts";
import { changeStore } from "../stores/store.ts";
import { type AuthenticateDeps, findPrincipal, type Principal } from "./authenticate.ts";
import { authenticateClient, readCredentials } from "./authenticate-client.ts";
import { roleInsufficient } from "./role-insufficient.ts";

type Deps = AuthenticateDeps & { publicUrl: string; signingKeys: SigningKeys; lastUsed: LastUsed };
type Body = Input<typeof contract.introspectToken>["body"];

/**
 * RFC 7662: every application key of the store can introspect the store's tokens. Any other text gets `active: false`.
 */
export async function introspectToken(
  deps: Deps,
  authorization: string | undefined,
  body: Body,
): Promise<Output<typeof contract.introspectToken>> {
  const client = await authenticateClient(deps, readCredentials(authorization, body));
  const customerToken = (await verifyToken(deps, client.storeId, body.token))?.row;
  if (customerToken) return introspectedCustomerToken(customerToken, client.storeId);
  const token = await findPrincipal(deps, body.token);
  if (!token || token.storeId !== client.storeId) return { active: false };
  return { active: true, token_type: "Bearer", ...holderMembers(token), ...timeMembers(token) };
}

const timeMembers = ({ storeId, issuedAt, expiresAt, tokenId }: Principal) => ({
  store_id: storeId,
  iat: Math.floor(issuedAt / 1000),
  exp: Math.floor(expiresAt / 1000),
  jti: tokenId,
});

const holderMembers = ({ holder, grant }: Principal) =>
  holder.type === "member" || grant === "member"
    ? ({ client_id: MEMBERS_CLIENT_ID, sub: holder.id, identifier: "member" } as const)
    : { client_id: holder.clientId, sub: holder.id, identifier: grant };

const introspectedCustomerToken = (
  row: Tables["customer_tokens"],
  storeId: string,
): Output<typeof contract.introspectToken> => ({
  active: true,
  token_type: "Bearer",
  sub: row.customer_id,
  store_id: storeId,
  identifier: "customer",
  iat: Math.floor(row.created_at / 1000),
  exp: Math.floor(row.expires_at / 1000),
  jti: row.id,
});

/**
 * RFC 7009: a key can revoke its own access tokens and, with the role `support`, customer tokens. The members' clients
 * have no secret, so a member's token is enough to revoke itself. Any other text gets 200 as well, and nothing is
 * revoked.
 */
export async function revokeToken(
  deps: Deps,
  authorization: string | undefined,
  body: Body,
  requestId: string,
): Promise<Output<typeof contract.revokeToken>> {
  const credentials = readCredentials(authorization, body);
  if (isMembersClient(credentials.clientId) && credentials.clientSecret === undefined) {
    const token = await findPrincipal(deps, body.token);
    if (token?.holder.type === "member") await revokeAccessToken(deps, token);
    return {};
  }
  const client = await authenticateClient(deps, credentials);
  const customerToken = (await verifyToken(deps, client.storeId, body.token))?.row;
  if (customerToken) {
    if (!mayActAs(client.role, "support")) throw roleInsufficient(client.role, "support");
    await deleteToken(deps, byKey(client.storeId, client, requestId), customerToken.id);
    return {};
  }
  const token = await findPrincipal(deps, body.token);
  if (token && token.holder.id === client.keyId && token.storeId === client.storeId)
    await revokeAccessToken(deps, token);
  return {};
}

const revokeAccessToken = (deps: Deps, { tokenId, storeId, expiresAt }: Principal) =>
  changeStore(deps, storeId, (trx) =>
    trx
      .insertInto("access_token_revocations")
      .values({ token_id: tokenId, store_id: storeId, expires_at: expiresAt })
      .onConflict((conflict) => conflict.column("token_id").doNothing())
      .execute(),
  );

/** Deletes the revocations of tokens that have expired. Returns true while there are more. */
export const forgetExpiredRevocations = (deps: Pick<Deps, "storage" | "clock">): Promise<boolean> =>
  deleteOld(deps, "access_token_revocations", deps.clock.now());
