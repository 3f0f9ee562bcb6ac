import { type SqlBool, sql } from "kysely";
import type { ProblemCode } from "../contract/problems.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { TokenOrigin } from "../customers/tokens/issue-token.ts";
import type { By } from "../events/event.ts";
import type { RealmPurpose } from "../realms/realm.ts";
import { statement } from "../storage/statement.ts";
import type { Tables } from "../storage/tables.ts";
import { challengeOf, NO_CHALLENGE } from "./attempt.ts";

/** A request to redeem a code. */
export type ClientGrant = {
  storeId: string;
  /** Only codes of realms with this purpose are found. */
  purpose: RealmPurpose;
  clientCode: string;
  clientRedirectUri: string;
  /** Undefined: the request has none. That fits only a code without a challenge. */
  clientVerifier: string | undefined;
  /** If the request names its client. `isStandard`: an application key whose `openid_client` is `standard` now. */
  client?: { realmId: string; clientId: string; isStandard?: boolean };
  /** The client id of the application key that has shown its secret. */
  authenticatedAs?: string | undefined;
  /** The id of the application key whose access token or secret came with the request. */
  keyId?: string | undefined;
  requestId: string;
  from?: TokenOrigin | undefined;
  /** The program that sends the request. Absent: the person's browser sends it without one. */
  by?: By;
};

export type AttemptRow = Tables["sign_on_attempts"];

type CodeKey = { codeHash: string; storeId: string; purpose: RealmPurpose };

/** The attempt of a code, in any state. Without a realm, which was deleted, it counts as a customer's. */
export const findByCode = statement((db, { codeHash, storeId, purpose }: CodeKey) =>
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

type Mismatch = { code: ProblemCode; reason: SignOnReason };

export function mismatchOf(attempt: AttemptRow, grant: ClientGrant): Mismatch | undefined {
  if (attempt.client_redirect_uri !== grant.clientRedirectUri)
    return { code: "redirect_uri_mismatch", reason: "redirect_uri_mismatch" };
  if (!isBoundToClient(attempt, grant)) return { code: "verifier_mismatch", reason: "verifier_mismatch" };
  const isForeign = grant.client && attempt.client_id !== grant.client.clientId;
  // At every endpoint a code of an application key needs the key's secret.
  const isUnproven = attempt.is_confidential === 1 && grant.authenticatedAs !== attempt.client_id;
  if (isForeign || isUnproven) return { code: "code_invalid", reason: "client_mismatch" };
  return undefined;
}

/**
 * Whether this program began the sign-on. It shows the verifier of its challenge; or it is a `standard` key that sent a
 * nonce and no challenge, and shows its secret and no verifier (RFC 9700 2.1.1, 4.8.2). A key that is `pkce` again
 * cannot redeem such codes.
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
