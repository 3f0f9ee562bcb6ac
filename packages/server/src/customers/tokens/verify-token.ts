import { sql } from "kysely";
import type { SignedIn } from "../../contract/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import { createMemo } from "../../lib/memo.ts";
import { realmOfIssuer } from "../../realms/issuer.ts";
import type { SigningKeys } from "../../signing-keys/signing-keys.ts";
import { statement } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";

export type VerifyDeps = { publicUrl: string; storage: Storage; clock: Clock; signingKeys: SigningKeys };

/** The `typ` of customer tokens (RFC 9068). */
export const CUSTOMER_TOKEN_TYPE = "at+jwt";

/**
 * True unless the token came through a profile that was deleted. So deleting one row, the profile's, ends all its
 * tokens, however many there are; their rows are deleted when they expire. A profile that is created again has a new id
 * and revives no token.
 */
export const profileExists = sql<boolean>`(customer_tokens.profile_id is null or exists (
  select 1 from oidc_profiles as profile
  where profile.store_id = customer_tokens.store_id and profile.id = customer_tokens.profile_id))`;

const findRow = statement((db, of: { storeId: string; tokenId: string; now: number }) =>
  db
    .selectFrom("customer_tokens")
    .selectAll()
    .where("store_id", "=", of.storeId)
    .where("id", "=", of.tokenId)
    .where("expires_at", ">", of.now)
    .where(profileExists),
);

/**
 * A valid customer token of this store: its row, its issuer and its client. Reads the row each time, so a revoked token
 * fails at once.
 */
export async function verifyToken(deps: VerifyDeps, storeId: string, text: string) {
  const signed = await verifySignature(deps, storeId, text);
  if (!signed) return undefined;
  const { tokenId, ...claims } = signed;
  const row = await findRow.first(deps.storage.db, { storeId, tokenId, now: deps.clock.now() });
  return row && { row, ...claims };
}

/** Checks the text alone, without the database: the signature, the audience, the store and the expiry. */
async function verifySignature(deps: VerifyDeps, storeId: string, text: string) {
  const jws = await deps.signingKeys.readSigned(text);
  if (!jws || jws.typ !== CUSTOMER_TOKEN_TYPE) return undefined;
  const { iss, aud, exp, jti, store_id, client_id: clientId, scope } = jws.claims;
  if (aud !== deps.publicUrl || store_id !== storeId || typeof jti !== "string") return undefined;
  if (typeof exp !== "number" || exp * 1000 <= deps.clock.now()) return undefined;
  const granted = typeof scope === "string" ? scope : undefined;
  return { tokenId: jti, issuer: String(iss), clientId, scope: granted };
}

/** The customer whom a valid token belongs to. */
export async function findSignedIn(deps: VerifyDeps, storeId: string, text: string) {
  const found = await verifyToken(deps, storeId, text);
  if (!found) return undefined;
  const { customer_id: customerId, id: tokenId, mechanism } = found.row;
  return { customerId, realmId: realmOfIssuer(found.issuer), tokenId, mechanism };
}

/** Less than a second, because a revoked token must fail on every instance within a second. */
const REMEMBERED_MS = 800;
const MAX_REMEMBERED = 20_000;

/**
 * `findSignedIn` with a memory of 800 ms, for gateways, which ask for every request of a page. Only valid tokens are
 * remembered, with the time from before the database was read. The signature and the expiry are checked each time.
 */
export function rememberSignedIn(): typeof findSignedIn {
  const remembered = createMemo<{ signedIn: SignedIn; storeId: string; askedAtMs: number }>(MAX_REMEMBERED);
  return async (deps, storeId, text) => {
    const askedAtMs = deps.clock.monotonicMs();
    const known = remembered.get(text);
    const isFresh = known?.storeId === storeId && askedAtMs - known.askedAtMs < REMEMBERED_MS;
    if (isFresh && (await verifySignature(deps, storeId, text))) return known.signedIn;
    const signedIn = await findSignedIn(deps, storeId, text);
    if (signedIn) remembered.keep(text, { signedIn, storeId, askedAtMs });
    return signedIn;
  };
}
