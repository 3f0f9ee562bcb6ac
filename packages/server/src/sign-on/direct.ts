import { Problem } from "../contract/problem.ts";
import { type IssuedToken, issueToken } from "../customers/customer-token.ts";
import { settleIdentity } from "../customers/identity.ts";
import type { Calls } from "../identity-provider/calls.ts";
import type { Directory } from "../identity-provider/directory.ts";
import { exchangeCode } from "../identity-provider/exchange.ts";
import { type Identity, identify } from "../identity-provider/identify.ts";
import { findProfile, type Profile } from "../identity-provider/profile.ts";
import { newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { hashSecret } from "../lib/secrets.ts";
import { findRealm } from "../realms/realm.ts";
import { getSettings, listDirectProfiles } from "../realms/settings.ts";
import type { Trx } from "../storage/storage.ts";
import { challengeOf } from "./attempt.ts";
import { exchangeReason } from "./callback.ts";
import { claimDirectCode, endDirectCode } from "./code.ts";
import { headOf, reasonOf, signOnProblem, startTrail, type Trail, timed } from "./exits.ts";
import type { ClientGrant, RedeemDeps } from "./redeem.ts";

/**
 * The direct flow, the other reading of the contract: the storefront sent the shopper straight to the identity provider,
 * and brings the provider's own code, with the verifier that belongs to it. We redeem it there. State and nonce were the
 * storefront's business; PKCE ties the code to the storefront, which must show the verifier.
 */
export type DirectDeps = RedeemDeps & { keyring: Keyring; directory: Directory; calls: Calls };

/** The one profile that the realm of the settings uses directly, if it does. */
export async function findDirectProfile(
  { storage: { db } }: Pick<DirectDeps, "storage">,
  storeId: string,
): Promise<Profile | undefined> {
  const { realmId } = await getSettings({ storage: { db } }, storeId);
  const [direct] = await listDirectProfiles(db, storeId, realmId);
  return direct && findProfile(db, { storeId, realmId, profileId: direct.id });
}

export async function redeemDirect(
  deps: DirectDeps,
  profile: Profile,
  grant: ClientGrant,
  onIssued: (trx: Trx, token: IssuedToken) => Promise<void>,
): Promise<IssuedToken> {
  const realm = await findRealm(deps.storage.db, profile.storeId, profile.realmId);
  if (!realm?.redirectUris.includes(grant.clientRedirectUri)) throw new Problem("redirect_uri_mismatch");
  const signer = await deps.signingKeys.current();
  const trail = startTrail(newId(), profile, deps.clock.now());
  trail.profile = profile;
  const codeHash = hashSecret(`${profile.id} ${grant.clientCode}`);
  const codeChallenge = challengeOf(grant.clientVerifier);
  if (!(await claimDirectCode(deps, profile, { id: trail.id, codeHash, codeChallenge, grant })))
    throw new Problem("code_already_used");
  try {
    const identity = await askIdp(deps, profile, grant, trail);
    const token = await deps.storage.db.transaction().execute(async (trx) => {
      const current = await findProfile(trx, { ...profile, profileId: profile.id });
      if (!current?.enabled || current.flow !== "direct") throw signOnProblem("profile_disabled");
      const settled = await settleIdentity(trx, deps, current, identity);
      if ("reason" in settled) throw signOnProblem(settled.reason);
      const issued = await issueToken(trx, deps, signer, {
        storeId: profile.storeId,
        realmId: profile.realmId,
        clientId: profile.clientId,
        customerId: settled.customerId,
        mechanism: "oidc",
        through: {
          profileId: profile.id,
          profileName: profile.name,
          subject: identity.subject,
          idpSession: identity.idpSession,
        },
      });
      await endDirectCode(trx, deps, profile, trail.id, { state: "exchanged", tokenId: issued.id });
      await onIssued(trx, issued);
      return issued;
    });
    note(deps, trail, { outcome: "exchanged", reason: null, customerId: token.customerId });
    return token;
  } catch (error) {
    throw await refuse(deps, profile, trail, error);
  }
}

async function askIdp(
  deps: DirectDeps,
  profile: Profile,
  grant: ClientGrant,
  trail: Trail,
): Promise<Identity> {
  const metadata = await timed(deps, trail, "discovery", () => deps.directory.metadataOf(profile));
  if (!metadata) throw signOnProblem("idp_unavailable");
  const exchanged = await timed(deps, trail, "token", () =>
    exchangeCode(deps, profile, metadata, {
      idpCode: grant.clientCode,
      idpVerifier: grant.clientVerifier,
      idpRedirectUri: grant.clientRedirectUri,
    }),
  );
  if ("reason" in exchanged) throw signOnProblem(exchangeReason(exchanged.reason));
  const identified = await timed(deps, trail, "identify", () =>
    identify(deps, profile, metadata, exchanged.tokens, "not_sent"),
  );
  trail.checks.push(...identified.checks);
  if ("reason" in identified) throw signOnProblem(identified.reason);
  return identified.identity;
}

/** A provider that gave no answer may be asked again; whatever else went wrong, the code has been used. */
async function refuse(deps: DirectDeps, profile: Profile, trail: Trail, error: unknown): Promise<unknown> {
  const reason = reasonOf(error);
  const isAway = reason === "idp_unavailable" || reason === "token.unavailable";
  await endDirectCode(deps.storage.db, deps, profile, trail.id, {
    state: isAway ? "forgotten" : "failed",
  }).catch(() => {});
  if (!(error instanceof Problem)) return error;
  note(deps, trail, { outcome: "failed", reason, customerId: null });
  if (isAway) return new Problem("idp_unavailable", { retryAfterSeconds: 10 });
  if (reason === "token.refused") return new Problem("code_invalid");
  const [{ detail = "" }] = error.faults;
  return new Problem("sign_on_refused", { detail, meta: { reason, reference: trail.reference } });
}

function note(
  { recorder }: DirectDeps,
  trail: Trail,
  {
    outcome,
    reason,
    customerId,
  }: {
    outcome: "exchanged" | "failed";
    reason: ReturnType<typeof reasonOf> | null;
    customerId: string | null;
  },
): void {
  const { checks, timings } = trail;
  recorder.note({ ...headOf(trail), outcome, reason, error: null, checks, timings });
  recorder.noteExchange({ ...headOf(trail), outcome, reason, customerId });
}
