import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../contract/problem.ts";
import { signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import { digestsOf, isErasedSince } from "../customers/erasing/erased-digests.ts";
import { findLinked } from "../customers/identities/find-linked.ts";
import type { IssuedToken, TokenOrigin } from "../customers/tokens/issue-token.ts";
import type { By } from "../events/event.ts";
import { newId } from "../lib/ids.ts";
import { hashSecret } from "../lib/secrets.ts";
import type { Identity } from "../openid/identify.ts";
import { keyOf, type Profile } from "../profiles/profile.ts";
import type { Realm } from "../realms/realm.ts";
import { getSettings, listDirectProfiles } from "../realms/settings.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import { startTrail, type Trail, timed } from "../sign-on-records/trail.ts";
import type { Trx } from "../storage/storage.ts";
import { challengeOf } from "./attempt.ts";
import { unavailable } from "./authorize.ts";
import { failAttempt, insertAttempt } from "./claim-attempt.ts";
import type { ClientGrant } from "./client-grant.ts";
import { idpSessionOf, isSessionEnded } from "./ended-sessions.ts";
import { issueForIdentity, type RedeemDeps } from "./redeem.ts";
import { type IdpDeps, redeemIdpCode } from "./redeem-idp-code.ts";
import { noteFailure, reasonOf, signOnProblem } from "./refuse.ts";
import { recordCodeRefusal, refuseCode } from "./replayed-code.ts";
import { findPath } from "./sign-on-path.ts";

/**
 * The direct flow: the storefront sends the shopper straight to the identity provider, then brings the provider's code
 * and its PKCE verifier, and Latchkey redeems the code at the provider. The storefront checks `state` and `nonce`
 * itself.
 */
export type DirectDeps = RedeemDeps & IdpDeps & { recordLimiter: RecordLimiter };
type DirectGrant = Omit<ClientGrant, "purpose"> & { clientVerifier: string; from: TokenOrigin; by: By };

type DirectPath = { profile: Profile; realm: Realm };

/** The direct profile of the realm that the settings name. A realm has at most one. */
export async function findDirectPath(
  { storage: { db } }: Pick<DirectDeps, "storage">,
  storeId: string,
): Promise<DirectPath | undefined> {
  const { realm_id: realmId } = await getSettings({ storage: { db } }, storeId);
  const [direct] = await listDirectProfiles(db, storeId, realmId);
  const path = direct && (await findPath(db, { storeId, realmId, profileId: direct.id }));
  return path?.profile && { profile: path.profile, realm: path.realm };
}

export async function redeemDirect(
  deps: DirectDeps,
  { profile, realm }: DirectPath,
  grant: DirectGrant,
  onIssued: (trx: Trx, token: IssuedToken) => Promise<void>,
): Promise<IssuedToken> {
  if (!realm.redirect_uris.includes(grant.clientRedirectUri))
    throw new Problem("redirect_uri_mismatch", { detail: "The redirect URI is not one of the realm's." });
  const signer = await deps.signingKeys.current();
  const { from, requestId } = grant;
  const place = keyOf(profile);
  const begun = { startedAt: deps.clock.now(), requestId, profile, keyId: grant.keyId };
  const trail = startTrail(newId(), { ...place, isOfMembers: false }, { ...from, ...begun });
  trail.facts.redirect_uri = grant.clientRedirectUri;
  deps.traces?.join("direct", trail.id);
  const codeHash = hashSecret(`${profile.id} ${grant.clientCode}`);
  const { clientRedirectUri } = grant;
  const codeChallenge = challengeOf(grant.clientVerifier);
  const attempt = { id: trail.id, clientId: profile.client_id, clientRedirectUri, codeChallenge };
  // No attempt began here. The unique hash of the provider's code decides that it is redeemed only once.
  if (!(await insertAttempt(deps.storage.db, deps.clock, place, attempt, codeHash))) {
    if (!(await untilSettled(deps, profile.store_id, codeHash))) {
      deps.recorder.count("failed", "idp_unavailable");
      throw idpAway();
    }
    const found = await deps.storage.transact((trx) =>
      refuseCode(trx, deps, { ...grant, purpose: "customers" }, codeHash),
    );
    recordCodeRefusal(deps, found);
    throw found.refusal;
  }
  try {
    const identity = await identifyByDirectCode(deps, profile, grant, trail);
    const digests = await digestsOf(deps.emailDigests, profile.store_id, identity);
    const token = await deps.storage.transact(async (trx) => {
      if (await isSessionEnded(trx, idpSessionOf(place, identity, trail.startedAt)))
        throw signOnProblem("session_ended");
      const [linked, current] = await Promise.all([findLinked(trx, place, identity), findPath(trx, place)]);
      const isSameIssuer = current?.profile?.metadata?.issuer === identity.issuer;
      if (!current?.profile?.enabled || current.profile.flow !== "direct" || !isSameIssuer)
        throw signOnProblem("profile_disabled");
      const returned = { storeId: profile.store_id, since: trail.startedAt };
      const wasErased = await isErasedSince(trx, { ...returned, ...digests });
      const found = { profile: current.profile, realm: current.realm, wasErased };
      const of = { clientId: profile.client_id };
      const issued = await issueForIdentity(trx, deps, { signer, place: found, identity, linked, of, grant });
      if ("reason" in issued) throw signOnProblem(issued.reason);
      await settleDirectCode(trx, deps, place, trail.id, issued.id);
      await onIssued(trx, issued);
      return issued;
    });
    deps.recorder.count("exchanged");
    deps.recorder.note(trail, { outcome: "exchanged", reason: null, customerId: token.customerId });
    return token;
  } catch (error) {
    throw await endClaim(deps, profile, trail, error);
  }
}

/** Waits up to ten seconds for another request with the same code. False: the provider did not answer that one. */
async function untilSettled({ storage }: DirectDeps, storeId: string, codeHash: string): Promise<boolean> {
  for (let tries = 0; tries < 50; tries++) {
    const row = await storage.db
      .selectFrom("sign_on_attempts")
      .select("state")
      .where("store_id", "=", storeId)
      .where("code_hash", "=", codeHash)
      .executeTakeFirst();
    if (row?.state !== "returned") return row !== undefined;
    await sleep(200);
  }
  return true;
}

async function identifyByDirectCode(
  deps: DirectDeps,
  profile: Profile,
  grant: DirectGrant,
  trail: Trail,
): Promise<Identity> {
  const metadata = await timed(deps, trail, "discovery", () => deps.directory.metadataOf(profile));
  if (!metadata) throw unavailable(deps, profile, trail);
  const idpGrant = {
    idpCode: grant.clientCode,
    idpVerifier: grant.clientVerifier,
    idpRedirectUri: grant.clientRedirectUri,
  };
  const { source } = grant.from;
  return redeemIdpCode(deps, profile, metadata, { grant: idpGrant, nonce: "not_sent", source }, trail);
}

/** If the provider did not answer, the storefront may bring the code again. Any other failure uses up the code. */
async function endClaim(deps: DirectDeps, profile: Profile, trail: Trail, error: unknown): Promise<unknown> {
  const reason = reasonOf(error);
  const isAway = signOnReasonEntry(reason).error === "temporarily_unavailable";
  const end = isAway ? forgetDirectCode : failAttempt;
  await end(deps, keyOf(profile), trail.id).catch(() => {});
  const isNoted = await noteFailure(deps, trail, reason);
  if (!(error instanceof Problem)) return error;
  const found = isNoted ? { reference: referenceOf(trail.id) } : undefined;
  if (isAway) return idpAway(found);
  if (reason === "token.refused" || reason === "token.redirect_uri")
    return new Problem("code_invalid", found && { meta: found });
  return signOnProblem(reason, found);
}

const idpAway = (found?: { reference: string }): Problem =>
  new Problem("idp_unavailable", { retryAfterSeconds: 10, ...(found && { meta: found }) });

/** Runs in the transaction that issues the token. */
export async function settleDirectCode(
  trx: Trx,
  { clock }: Pick<DirectDeps, "clock">,
  { storeId }: { storeId: string },
  attemptId: string,
  tokenId: string,
): Promise<void> {
  await trx
    .updateTable("sign_on_attempts")
    .set({ state: "exchanged", exchanged_at: clock.now(), token_id: tokenId })
    .where("store_id", "=", storeId)
    .where("id", "=", attemptId)
    .execute();
}

/** Called when the provider did not answer. The storefront may bring the code again. */
export async function forgetDirectCode(
  { storage }: Pick<DirectDeps, "storage">,
  { storeId }: { storeId: string },
  attemptId: string,
): Promise<void> {
  await storage.db
    .deleteFrom("sign_on_attempts")
    .where("store_id", "=", storeId)
    .where("id", "=", attemptId)
    .where("state", "=", "returned")
    .execute();
}
