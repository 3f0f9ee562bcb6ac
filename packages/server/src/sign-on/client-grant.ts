import { type SqlBool, sql } from "kysely";
import type { ProblemCode } from "../contract/problems.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { TokenOrigin } from "../customers/tokens/issue-token.ts";
import type { By } from "../events/event.ts";
import type { RealmPurpose } from "../realms/realm.ts";
import { statement } from "../storage/statement.ts";
import type { Tables } from "../storage/tables.ts";
import { challengeOf, NO_CHALLENGE } from "./attempt.ts";

/** What is brought for a code. `client` is set where the request says which client and realm it is for. */
export type ClientGrant = {
  storeId: string;
  /** What the code is to be worth: only one of a realm with this purpose is touched. */
  purpose: RealmPurpose;
  clientCode: string;
  clientRedirectUri: string;
  /** Undefined: the request brought none, which is right for a code that was begun without a challenge, and for no other. */
  clientVerifier: string | undefined;
  /** `isStandard`: an application key whose `openid_client` is `standard` now. */
  client?: { realmId: string; clientId: string; isStandard?: boolean };
  /** The application key that has shown its secret, if one has. */
  authenticatedAs?: string | undefined;
  requestId: string;
  from?: TokenOrigin | undefined;
  /** Whose program brings it; without one, the person comes alone. */
  by?: By;
};

export type AttemptRow = Tables["sign_on_attempts"];

type OfCode = { codeHash: string; storeId: string; purpose: RealmPurpose };

/** Whatever became of the code. One whose realm is gone is worth nothing, which its customers' exchange then says. */
export const findByCode = statement((db, { codeHash, storeId, purpose }: OfCode) =>
  db
    .selectFrom("sign_on_attempts as attempt")
    .leftJoin("authentication_realms as realm", (join) =>
      join.onRef("realm.store_id", "=", "attempt.store_id").onRef("realm.id", "=", "attempt.realm_id"),
    )
    .selectAll("attempt")
    .where("attempt.code_hash", "=", codeHash)
    .where("attempt.store_id", "=", storeId)
    .where(sql<SqlBool>`coalesce(realm.purpose, 'customers') = ${purpose}`),
);

/** What the request and the attempt do not agree on. */
type Mismatch = { code: ProblemCode; reason: SignOnReason };

export function mismatchOf(attempt: AttemptRow, grant: ClientGrant): Mismatch | undefined {
  if (attempt.client_redirect_uri !== grant.clientRedirectUri)
    return { code: "redirect_uri_mismatch", reason: "redirect_uri_mismatch" };
  if (!isBoundToClient(attempt, grant)) return { code: "verifier_mismatch", reason: "verifier_mismatch" };
  const isForeign = grant.client && attempt.client_id !== grant.client.clientId;
  // A code that was begun for an application key is worth nothing without its secret, at whichever endpoint it is shown.
  const isUnproven = attempt.is_confidential === 1 && grant.authenticatedAs !== attempt.client_id;
  if (isForeign || isUnproven) return { code: "code_invalid", reason: "client_mismatch" };
  return undefined;
}

/**
 * The code goes to the program that began the sign-on: the program shows the verifier of its challenge; or it is a `standard` key that
 * has sent a nonce and no challenge, shows its secret and brings no verifier (RFC 9700 2.1.1, 4.8.2). A key that was made `pkce`
 * again since has lost its codes.
 */
function isBoundToClient(
  attempt: AttemptRow,
  { client, clientVerifier, authenticatedAs }: ClientGrant,
): boolean {
  if (attempt.code_challenge !== NO_CHALLENGE)
    return clientVerifier !== undefined && attempt.code_challenge === challengeOf(clientVerifier);
  return (
    clientVerifier === undefined &&
    client?.isStandard === true &&
    attempt.is_confidential === 1 &&
    attempt.client_id === authenticatedAs &&
    attempt.client_nonce !== null
  );
}
