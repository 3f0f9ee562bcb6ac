import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/sign-on.ts";
import { findCustomer } from "../customers/customer.ts";
import { type VerifyDeps, verifyToken } from "../customers/tokens/verify-token.ts";
import { readBearer } from "../lib/bearer.ts";
import { issuerOf } from "../realms/issuer.ts";
import { getRealm } from "../realms/realm.ts";
import { scopesOf } from "../realms/scopes.ts";
import { emailClaims } from "./id-token.ts";

const MAX_TOKEN_LENGTH = 4096;

/** The customer of a token of this realm (OpenID Connect Core 5.3), as the database has the customer now. */
export async function readUserinfo(
  deps: VerifyDeps,
  ids: { store: string; realm: string },
  authorization: string | undefined,
): Promise<Output<typeof contract.userinfo>> {
  const { store_id: storeId, id: realmId } = await getRealm(deps, ids.store, ids.realm);
  if (authorization === undefined) throw new Problem("token_missing");
  const text = readBearer(authorization, MAX_TOKEN_LENGTH);
  const found = text === undefined ? undefined : await verifyToken(deps, storeId, text);
  const customer =
    found?.issuer === issuerOf(deps, storeId, realmId)
      ? await findCustomer(deps.storage.db, storeId, found.row.customer_id)
      : undefined;
  if (!found || !customer)
    throw new Problem("token_invalid", {
      detail: "The bearer token is not a valid customer token of this realm.",
    });
  const scopes = scopesOf(found.scope);
  return {
    sub: customer.id,
    ...emailClaims(scopes, customer),
    ...(scopes.includes("profile") && { name: customer.name }),
  };
}
