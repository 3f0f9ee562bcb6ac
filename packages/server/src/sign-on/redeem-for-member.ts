import { readCredentials } from "../access/authenticate-client.ts";
import { issueAccessToken, writeAnswer } from "../access/issue-access-token.ts";
import type * as contract from "../contract/access-tokens.ts";
import { isMembersClient } from "../contract/access-tokens.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type { RequestOf } from "../contract/request.ts";
import type { Keyring } from "../lib/keyring.ts";
import { hashSecret, isWellFormed } from "../lib/secrets.ts";
import { settleMember } from "../members/sign-in.ts";
import { statement } from "../storage/statement.ts";
import { type TradeDeps, tradeCode } from "./burn-code.ts";

type Deps = TradeDeps & { keyring: Keyring };
type MemberToken = Output<typeof contract.issueAccessToken>;

type AccessTokenRequest = RequestOf<typeof contract.issueAccessToken>;

/** The token endpoint: a member's code is redeemed, and other grants issue an access token for an application key. */
export function redeemOrIssue(
  deps: Deps & Parameters<typeof issueAccessToken>[0],
  request: AccessTokenRequest,
): Promise<MemberToken> {
  const { grant_type, ...rest } = request.body;
  return grant_type === "authorization_code"
    ? redeemForMember(deps, request)
    : issueAccessToken(deps, request.authorization, { ...rest, grant_type });
}

/**
 * Redeems a member's code for an access token; there is no customer and no customer token. The console names no store,
 * so the code's store counts. The token has no role: the gate looks up the role at each request.
 */
async function redeemForMember(
  deps: Deps,
  { authorization, body, requestId }: AccessTokenRequest,
): Promise<MemberToken> {
  if (body.scope) throw new Problem("scope_unknown");
  const { clientId } = readCredentials(authorization, body);
  if (!isMembersClient(clientId)) throw new Problem("members_client_unknown");
  const { code = "", redirect_uri: clientRedirectUri = "", code_verifier: clientVerifier = "" } = body;
  if (!isWellFormed("lkac", code)) throw new Problem("code_invalid");
  const found = await findRealmOfCode.first(deps.storage.db, { codeHash: hashSecret(code) });
  if (!found) throw new Problem("code_invalid");
  const grant = {
    storeId: found.store_id,
    purpose: "members",
    clientCode: code,
    clientRedirectUri,
    clientVerifier,
    client: { realmId: found.realm_id, clientId },
    requestId,
  } as const;
  return tradeCode<MemberToken>(deps, grant, async (trx, { attempt, identity, place: { profile } }) => {
    const member = await settleMember(trx, deps, profile, identity, requestId);
    if ("reason" in member) return member;
    const given = { grant: "member", storeId: member.store_id, holderId: member.id } as const;
    return { customerId: null, answer: writeAnswer(deps, { ...given, tokenId: attempt.token_id }) };
  });
}

/** Searches all stores: a code is 256 random bits, so it cannot be guessed. */
const findRealmOfCode = statement((db, of: { codeHash: string }) =>
  db
    .selectFrom("sign_on_attempts as attempt")
    .innerJoin("authentication_realms as realm", (join) =>
      join.onRef("realm.store_id", "=", "attempt.store_id").onRef("realm.id", "=", "attempt.realm_id"),
    )
    .select(["attempt.store_id", "attempt.realm_id"])
    .where("attempt.code_hash", "=", of.codeHash)
    .where("realm.purpose", "=", "members"),
);
