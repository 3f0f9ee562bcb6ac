import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../contract/problem.ts";
import { signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import { digestsOf, isErasedSince } from "../customers/erasing/erased.ts";
import { settleIdentity } from "../customers/identities/identity.ts";
import { holdIdentity } from "../customers/identities/linked.ts";
import { type From, type IssuedToken, issueToken } from "../customers/tokens/customer-token.ts";
import type { By } from "../events/event.ts";
import { newId } from "../lib/ids.ts";
import { hashSecret } from "../lib/secrets.ts";
import type { Identity } from "../openid/identify.ts";
import { keyOf, type Profile } from "../profiles/profile.ts";
import type { Realm } from "../realms/realm.ts";
import { getSettings, listDirectProfiles } from "../realms/settings.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import type { Trx } from "../storage/storage.ts";
import { challengeOf } from "./attempt.ts";
import { unavailable } from "./authorize.ts";
import { claimDirectCode, failAttempt, forgetDirectCode, settleDirectCode } from "./claim-attempt.ts";
import type { ClientGrant } from "./client-grant.ts";
import { idpSessionOf, isEndedForGood } from "./ended-sessions.ts";
import type { RedeemDeps } from "./redeem.ts";
import { type AskDeps, askIdp } from "./redeem-idp-code.ts";
import { isRecorded, reasonOf, recordOf, signOnProblem, startTrail, type Trail, timed } from "./refuse.ts";
import { noteUnusable, whyNot } from "./replayed-code.ts";
import { findPath } from "./sign-on-path.ts";

/**
 * The direct flow, the other reading of the contract: the storefront sent the shopper straight to the identity provider,
 * and brings the provider's own code, with the verifier that belongs to it. We redeem it there. State and nonce were the
 * storefront's business; PKCE ties the code to the storefront, which must show the verifier.
 */
export type DirectDeps = RedeemDeps & AskDeps & { recordLimiter: RecordLimiter };
type DirectGrant = Omit<ClientGrant, "purpose"> & { clientVerifier: string; from: From; by: By };

type DirectPlace = { profile: Profile; realm: Realm };

/** The one profile that the realm of the settings uses directly, if it does. */
export async function findDirectPlace(
  { storage: { db } }: Pick<DirectDeps, "storage">,
  storeId: string,
): Promise<DirectPlace | undefined> {
  const { realm_id: realmId } = await getSettings({ storage: { db } }, storeId);
  const [direct] = await listDirectProfiles(db, storeId, realmId);
  const place = direct && (await findPath(db, { storeId, realmId, profileId: direct.id }));
  return place?.profile && { profile: place.profile, realm: place.realm };
}

export async function redeemDirect(
  deps: DirectDeps,
  { profile, realm }: DirectPlace,
  grant: DirectGrant,
  onIssued: (trx: Trx, token: IssuedToken) => Promise<void>,
): Promise<IssuedToken> {
  if (!realm.redirect_uris.includes(grant.clientRedirectUri))
    throw new Problem("redirect_uri_mismatch", { detail: "The redirect URI is not one of the realm's." });
  const signer = await deps.signingKeys.current();
  const { from, requestId } = grant;
  const trail = startTrail(newId(), keyOf(profile), { ...from, startedAt: deps.clock.now(), requestId });
  trail.profile = profile;
  trail.facts.redirectUri = grant.clientRedirectUri;
  deps.traces?.join("direct", trail.id);
  const codeHash = hashSecret(`${profile.id} ${grant.clientCode}`);
  const codeChallenge = challengeOf(grant.clientVerifier);
  if (!(await claimDirectCode(deps, profile, { id: trail.id, codeHash, codeChallenge, grant }))) {
    if (!(await untilSettled(deps, profile.store_id, codeHash))) {
      deps.recorder.count("failed", "idp_unavailable");
      throw idpAway();
    }
    const found = await deps.storage.transact((trx) =>
      whyNot(trx, deps, { ...grant, purpose: "customers" }, codeHash),
    );
    noteUnusable(deps, found);
    throw found.refusal;
  }
  try {
    const identity = await identifyShopper(deps, profile, grant, trail);
    const digests = await digestsOf(deps.emailDigests, profile.store_id, identity);
    const token = await deps.storage.transact(async (trx) => {
      const place = keyOf(profile);
      if (await isEndedForGood(trx, deps, idpSessionOf(place, identity, trail.startedAt)))
        throw signOnProblem("session_ended");
      const held = await holdIdentity(trx, deps, place, identity);
      const current = await findPath(trx, place);
      const isSameIssuer = current?.profile?.metadata?.issuer === identity.issuer;
      if (!current?.profile?.enabled || current.profile.flow !== "direct" || !isSameIssuer)
        throw signOnProblem("profile_disabled");
      const returned = { storeId: profile.store_id, since: trail.startedAt };
      const wasErased = await isErasedSince(trx, { ...returned, ...digests });
      const found = { profile: current.profile, realm: current.realm, wasErased };
      const settled = await settleIdentity(trx, deps, found, identity, held);
      if ("reason" in settled) throw signOnProblem(settled.reason);
      const granted = {
        storeId: profile.store_id,
        realmId: profile.realm_id,
        clientId: profile.client_id,
        customerId: settled.customerId,
        mechanism: "oidc",
        from,
        through: {
          profileId: profile.id,
          profileName: profile.name,
          subject: identity.subject,
          idpSession: identity.idpSession,
        },
      } as const;
      const { happened } = settled;
      const issued = await issueToken(trx, deps, signer, granted, { by: grant.by, happened });
      await settleDirectCode(trx, deps, place, trail.id, issued.id);
      await onIssued(trx, issued);
      return issued;
    });
    deps.recorder.count("exchanged");
    const record = { ...recordOf(trail), outcome: "exchanged", reason: null } as const;
    deps.recorder.note({ ...record, error: null });
    deps.recorder.noteExchange({ ...record, customerId: token.customerId });
    return token;
  } catch (error) {
    throw await refuse(deps, profile, trail, error);
  }
}

/**
 * A twin of this request may be at the provider still: what became of it is there once the claim has ended. False: the claim is
 * gone, because the provider gave the twin no answer.
 */
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

async function identifyShopper(
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
  return askIdp(deps, profile, metadata, { grant: idpGrant, nonce: "not_sent", source }, trail);
}

/** A provider that gave no answer may be asked again; whatever else went wrong, the code has been used. */
async function refuse(deps: DirectDeps, profile: Profile, trail: Trail, error: unknown): Promise<unknown> {
  const reason = reasonOf(error);
  const isAway = signOnReasonEntry(reason).error === "temporarily_unavailable";
  const end = isAway ? forgetDirectCode : failAttempt;
  await end(deps, keyOf(profile), trail.id).catch(() => {});
  deps.recorder.count("failed", reason);
  const isNoted = await isRecorded(deps, trail);
  if (isNoted) deps.recorder.note({ ...recordOf(trail), outcome: "failed", reason, error: null });
  if (!(error instanceof Problem)) return error;
  const found = isNoted ? { reference: referenceOf(trail.id) } : undefined;
  if (isAway) return idpAway(found);
  if (reason === "token.refused" || reason === "token.redirect_uri")
    return new Problem("code_invalid", found && { meta: found });
  return signOnProblem(reason, found);
}

const idpAway = (found?: { reference: string }): Problem =>
  new Problem("idp_unavailable", { retryAfterSeconds: 10, ...(found && { meta: found }) });
