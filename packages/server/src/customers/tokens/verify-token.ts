import type { SignedIn } from "../../contract/caller.ts";
import { createMemo } from "../../lib/memo.ts";
import { realmOfIssuer } from "../../realms/issuer.ts";
import { findLiving, readSigned, type VerifyDeps } from "./issue-token.ts";

/** Whose customer token a text is, as the database says now. */
export async function findSignedIn(
  deps: VerifyDeps,
  storeId: string,
  text: string,
): Promise<SignedIn | undefined> {
  const found = await findLiving(deps, storeId, text);
  if (!found) return undefined;
  const { row, issuer } = found;
  const realmId = realmOfIssuer(issuer);
  return { customerId: row.customer_id, realmId, tokenId: row.id, mechanism: row.mechanism };
}

/** Less than the second within which a revoked token must be dead everywhere. */
const REMEMBERED_MS = 800;
const MAX_REMEMBERED = 20_000;

/**
 * Whose token it is, as the database said at most so long ago: for gateways, which ask for every request of a page. Only
 * good ones are remembered, from before the database was asked, and never past their own end.
 */
export function rememberSignedIn(): typeof findSignedIn {
  const remembered = createMemo<{ signedIn: SignedIn; storeId: string; askedAtMs: number }>(MAX_REMEMBERED);
  return async (deps, storeId, text) => {
    const askedAtMs = deps.clock.monotonicMs();
    const known = remembered.get(text);
    const isFresh = known?.storeId === storeId && askedAtMs - known.askedAtMs < REMEMBERED_MS;
    if (isFresh && (await readSigned(deps, storeId, text))) return known.signedIn;
    const signedIn = await findSignedIn(deps, storeId, text);
    if (signedIn) remembered.keep(text, { signedIn, storeId, askedAtMs });
    return signedIn;
  };
}
