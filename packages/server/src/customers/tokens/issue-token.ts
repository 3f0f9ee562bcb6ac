import type { By } from "../../events/event.ts";
import { type EventDraft, noteEvents } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { type Signer, signJws } from "../../lib/jws.ts";
import { subnetOf } from "../../lib/source-address.ts";
import { describeUserAgent } from "../../lib/user-agent.ts";
import { issuerOf } from "../../realms/issuer.ts";
import { insertWholeRows } from "../../storage/insert-rows.ts";
import type { Trx } from "../../storage/storage.ts";
import type { Mechanism } from "../customer.ts";
import { customerTokenEvent } from "../events.ts";
import { CUSTOMER_TOKEN_TYPE } from "./verify-token.ts";

/**
 * A customer token is a JWT (RFC 9068), which others can check with the published key set, and a row, by which the
 * token can be listed and revoked. Without its row a token is invalid, whatever its signature.
 */
export type TokenGrant = {
  /** The token's id, if the statement that burnt the code has already chosen one. */
  tokenId?: string;
  storeId: string;
  realmId: string;
  clientId: string;
  customerId: string;
  mechanism: Mechanism;
  /** The scope of the sign-on, if it asked for more than LEAST_SCOPE. */
  scope?: string | null;
  from?: TokenOrigin | undefined;
  /** The session at the identity provider, so that the provider can end it by back-channel logout. */
  through?: { profileId: string; profileName: string; subject: string; idpSession: string | null };
};

/** The source address and the browser of the request that asked for the token. */
export type TokenOrigin = { source: string; userAgent: string | undefined };

export type IssuedToken = {
  id: string;
  customerId: string;
  token: string;
  issuedAt: number;
  expiresAt: number;
};

type IssueDeps = { publicUrl: string; clock: Clock; customerTokenSeconds: number };

/** RFC 8176. */
export const AMR: Record<Mechanism, string> = { password: "pwd", oidc: "fed" };

/**
 * Runs in the transaction that found or created the customer, and writes that transaction's events (`happened`) with
 * its own. The caller fetches the signer before the transaction, because that may read the database.
 */
export async function issueToken(
  trx: Trx,
  deps: IssueDeps,
  signer: Signer,
  grant: TokenGrant,
  { by, happened = [] }: { by: By; happened?: readonly EventDraft[] },
): Promise<IssuedToken> {
  const { storeId, customerId, mechanism, through } = grant;
  const issuedAt = Math.floor(deps.clock.now() / 1000) * 1000;
  const expiresAt = issuedAt + deps.customerTokenSeconds * 1000;
  const id = grant.tokenId ?? newId();
  const row = {
    id,
    store_id: storeId,
    customer_id: customerId,
    mechanism,
    profile_id: through?.profileId ?? null,
    profile_name: through?.profileName ?? null,
    subject: through?.subject ?? null,
    idp_session: through?.idpSession ?? null,
    ...originColumns(grant.from),
    created_at: deps.clock.now(),
    expires_at: expiresAt,
  };
  await insertToken(trx, [row]);
  await noteEvents(trx, deps, by, [...happened, customerTokenEvent("customer_token.created", row)]);
  const token = signJws(signer, CUSTOMER_TOKEN_TYPE, {
    iss: issuerOf(deps, storeId, grant.realmId),
    sub: customerId,
    aud: deps.publicUrl,
    client_id: grant.clientId,
    iat: issuedAt / 1000,
    exp: expiresAt / 1000,
    jti: id,
    store_id: storeId,
    amr: [AMR[mechanism]],
    ...(grant.scope && { scope: grant.scope }),
    ...(through && { profile_id: through.profileId }),
  });
  return { id, customerId, token, issuedAt, expiresAt };
}

/**
 * Browser, system and network for the list of sessions. Null for a request of a storefront's server, which says nothing
 * of the customer.
 */
function originColumns(from: TokenOrigin | undefined) {
  const { browser, operatingSystem } = describeUserAgent(from?.userAgent);
  if (!from || browser === null) return { browser: null, operating_system: null, network: null };
  return { browser, operating_system: operatingSystem, network: subnetOf(from.source) };
}

const insertToken = insertWholeRows("customer_tokens", { isLater: true });
