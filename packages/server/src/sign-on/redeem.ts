import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import { settleIdentity } from "../customers/identities/settle-identity.ts";
import { type IssuedToken, issueToken, type TokenGrant } from "../customers/tokens/issue-token.ts";
import { byCustomer } from "../events/event.ts";
import type { Signer } from "../lib/jws.ts";
import type { Identity } from "../openid/identify.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { type TradeDeps, tradeCode, type UsablePlace } from "./burn-code.ts";
import type { AttemptRow, ClientGrant } from "./client-grant.ts";

export type RedeemDeps = TradeDeps & {
  publicUrl: string;
  signingKeys: SigningKeys;
  customerTokenSeconds: number;
};

export type Redeemed = { token: IssuedToken; attempt: AttemptRow; authTime: number | undefined };

/** One transaction changes code, identity, customer and customer token; `toAnswer` runs in it, too. */
export async function redeem<T>(
  deps: RedeemDeps,
  grant: Omit<ClientGrant, "purpose">,
  toAnswer: (trx: Trx, redeemed: Redeemed) => Promise<T>,
): Promise<T> {
  // Before the transaction, because the key may have to be read.
  const signer = await deps.signingKeys.current();
  return tradeCode(deps, { ...grant, purpose: "customers" }, async (trx, burnt) => {
    const { attempt, identity, linked, place } = burnt;
    const of = { tokenId: attempt.token_id, clientId: attempt.client_id, scope: attempt.client_scope };
    const token = await issueForIdentity(trx, deps, { signer, place, identity, linked, of, grant });
    if ("reason" in token) return token;
    const answer = await toAnswer(trx, { token, attempt, authTime: identity.authTime });
    return { customerId: token.customerId, answer };
  });
}

type IdentifiedPerson = {
  signer: Signer;
  place: Omit<UsablePlace, "isEnded">;
  identity: Identity;
  linked: Tables["customers"] | undefined;
  of: Pick<TokenGrant, "tokenId" | "clientId" | "scope">;
  grant: Pick<ClientGrant, "requestId" | "from" | "by">;
};

/** Finds or creates the customer of an identity, and issues the token. */
export async function issueForIdentity(
  trx: Trx,
  deps: RedeemDeps,
  { signer, place, identity, linked, of, grant: { requestId, from, by } }: IdentifiedPerson,
): Promise<IssuedToken | { reason: SignOnReason }> {
  const settled = await settleIdentity(trx, deps, place, identity, linked);
  if ("reason" in settled) return settled;
  const { customerId, happened } = settled;
  const { id: profileId, name: profileName, store_id: storeId, realm_id: realmId } = place.profile;
  const { subject, idpSession } = identity;
  const through = { profileId, profileName, subject, idpSession };
  const granted = { ...of, storeId, realmId, customerId, mechanism: "oidc", from, through } as const;
  const noted = { by: by ?? byCustomer(storeId, customerId, requestId), happened };
  return issueToken(trx, deps, signer, granted, noted);
}
