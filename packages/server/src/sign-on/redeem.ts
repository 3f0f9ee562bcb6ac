import { settleIdentity } from "../customers/identities/settle-identity.ts";
import { type IssuedToken, issueToken } from "../customers/tokens/issue-token.ts";
import { byCustomer } from "../events/event.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { Trx } from "../storage/storage.ts";
import { type TradeDeps, tradeCode } from "./burn-code.ts";
import type { AttemptRow, ClientGrant } from "./client-grant.ts";

export type RedeemDeps = TradeDeps & {
  publicUrl: string;
  signingKeys: SigningKeys;
  customerTokenSeconds: number;
};

export type Redeemed = { token: IssuedToken; attempt: AttemptRow; authTime: number | undefined };

/**
 * Redeems a customer's code for a customer token. One transaction changes code, identity, customer and token;
 * `toAnswer` runs in it, too.
 */
export async function redeem<T>(
  deps: RedeemDeps,
  grant: Omit<ClientGrant, "purpose">,
  toAnswer: (trx: Trx, redeemed: Redeemed) => Promise<T>,
): Promise<T> {
  // Before the transaction, because the key may have to be read.
  const signer = await deps.signingKeys.current();
  const { by, requestId } = grant;
  return tradeCode(deps, { ...grant, purpose: "customers" }, async (trx, burnt) => {
    const { attempt, identity, linked, place } = burnt;
    const { store_id: storeId, realm_id: realmId, profile_id: profileId } = attempt;
    const settled = await settleIdentity(trx, deps, place, identity, linked);
    if ("reason" in settled) return settled;
    const { customerId, happened } = settled;
    const granted = {
      tokenId: attempt.token_id,
      storeId,
      realmId,
      clientId: attempt.client_id,
      customerId,
      mechanism: "oidc",
      scope: attempt.client_scope,
      from: grant.from,
      through: {
        profileId,
        profileName: place.profile.name,
        subject: identity.subject,
        idpSession: identity.idpSession,
      },
    } as const;
    const noted = { by: by ?? byCustomer(storeId, customerId, requestId), happened };
    const token = await issueToken(trx, deps, signer, granted, noted);
    return { customerId, answer: await toAnswer(trx, { token, attempt, authTime: identity.authTime }) };
  });
}
