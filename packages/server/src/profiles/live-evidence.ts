import {
  type IdpAnswer,
  type SignOnCheck,
  type SignOnReason,
  signOnReasonEntry,
} from "../contract/sign-on-reasons.ts";
import { toIso } from "../lib/clock.ts";
import { type Check, NONCE_SENT, notMet, type RequirementId } from "../openid/requirements.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Profile } from "./profile.ts";

/** For each requirement, the reasons with which a sign-on fails when the provider misses the requirement. */
const SHOWN_LIVE: Partial<Record<RequirementId, readonly SignOnReason[]>> = {
  // Tokens and answers that OpenID Connect does not allow, or that Latchkey does not accept.
  R1: [
    "response.iss_missing",
    "token.type",
    "id_token.missing",
    "id_token.malformed",
    "id_token.json",
    "id_token.alg",
    "id_token.key",
    "id_token.signature",
    "id_token.iss",
    "id_token.exp",
    "id_token.iat",
    "id_token.nbf",
    "id_token.nonce",
    "id_token.sub",
    "id_token.at_hash",
    "userinfo.malformed",
    "userinfo.json",
    "userinfo.signature",
    "userinfo.sub",
  ],
  R2: ["token.method_refused"],
  R3: ["idp_error.par_required", "idp_error.flow_off", "token.flow_off"],
  R4: ["claims.email_missing", "idp_error.scope", "token.scope"],
  R6: ["id_token.encrypted", "userinfo.encrypted", "token.encryption_refused"],
  R7: ["id_token.aud", "id_token.azp"],
  R8: ["idp_error.acr_required"],
  R9: [],
};

/** The latest sign-ons that are read: more would show nothing new. */
const LATEST = 500;

/**
 * Completes the doctor's checks from the latest sign-ons since the profile was last changed. For each requirement the
 * later one counts: the latest sign-on that worked, or the latest that failed because of the requirement.
 */
export async function withLiveEvidence(
  db: Database,
  profile: Profile,
  checks: readonly Check[],
): Promise<Check[]> {
  const latest = await latestOf(db, profile);
  const worked = latest.find(hasWorked);
  const isWithoutNonce =
    worked !== undefined && profile.flow === "direct" && (await cameWithoutNonce(db, profile, worked));
  const judged = checks.map(async (check): Promise<Check> => {
    const ownReasons: readonly (string | null)[] | undefined = SHOWN_LIVE[check.id];
    if (!ownReasons || check.status === "not_met") return check;
    const refused = latest.find(({ reason }) => ownReasons.includes(reason));
    if (refused && isLater(refused, worked)) {
      const reason = refused.reason as SignOnReason;
      const { means, remedy } = signOnReasonEntry(reason);
      const compared = comparedIn(await checksOf(db, profile, refused), reason);
      const said = reason === "response.iss_missing" ? FORGEABLE : saidIn(refused);
      const evidence = `${means} ${compared}${said}${when(refused)}`;
      return { ...check, ...notMet(evidence, remedy) };
    }
    // For R1 the document shows more than a sign-on that worked.
    if (!worked || check.id === "R1") return check;
    if (check.id === "R8" && !isWithoutNonce) return { ...check, evidence: `${NONCE_SENT} ${when(worked)}` };
    return { ...check, status: "met", evidence: `Confirmed by a sign-on, ${toIso(worked.started_at)}.` };
  });
  return Promise.all(judged);
}

/** As noted on the profile, else from the latest sign-on's record, for profiles from before the column. */
export async function algorithmSeen(
  { storage: { db } }: { storage: Storage },
  profile: Profile,
): Promise<string | null> {
  if (profile.id_token_alg) return profile.id_token_alg;
  const worked = (await latestOf(db, profile)).find(hasWorked);
  const checks = worked ? await checksOf(db, profile, worked) : [];
  return checks.find(({ check }) => check === "id_token.alg")?.found ?? null;
}

const latestOf = (db: Database, { store_id: storeId, id: profileId, updated_at: since }: Profile) =>
  findLatest.all(db, { storeId, profileId, since });

/** Only a live token can show these. */
const LIVE_ONLY: readonly RequirementId[] = ["R4", "R6", "R7", "R8", "R9"];

/** The states of LIVE_ONLY, and of any other requirement that this sign-on proves to be missed. */
export const judgeSignOn = (reason: SignOnReason | null): Pick<Check, "id" | "status">[] =>
  (Object.keys(SHOWN_LIVE) as RequirementId[])
    .map((id) => ({ id, status: statusAfter(id, reason) }))
    .filter(({ id, status }) => LIVE_ONLY.includes(id) || status === "not_met");

/** A sign-on that worked had a nonce, so it does not show whether the provider requires one (R8). */
function statusAfter(id: RequirementId, reason: SignOnReason | null): Check["status"] {
  if (reason === null) return id === "R8" ? "unknown" : "met";
  return SHOWN_LIVE[id]?.includes(reason) ? "not_met" : "unknown";
}

/** In the direct flow the storefront makes the request; an ID token without a nonce shows that the request had none. */
async function cameWithoutNonce(db: Database, profile: Profile, worked: { id: string }): Promise<boolean> {
  const checks = await checksOf(db, profile, worked);
  return checks.some(({ check, found }) => check === "id_token.nonce" && found === "absent");
}

/** Read for one sign-on only: the checks are the larger part of a record. */
async function checksOf(
  db: Database,
  { store_id: storeId }: Profile,
  { id }: { id: string },
): Promise<SignOnCheck[]> {
  const row = await db
    .selectFrom("sign_ons")
    .select("checks")
    .where("store_id", "=", storeId)
    .where("id", "=", id)
    .executeTakeFirst();
  return JSON.parse(row?.checks ?? "[]");
}

/** Both sides of the check that failed, where the check has them. */
function comparedIn(checks: readonly SignOnCheck[], reason: SignOnReason): string {
  const failed = checks.findLast(({ check, passed }) => check === reason && !passed);
  const { expected, found } = failed ?? {};
  return expected === undefined || found === undefined ? "" : `Expected: ${expected}; found: ${found}. `;
}

const FORGEABLE = "Anyone can forge the redirect. ";

/** The error that the provider has sent, if any, and how far it can be trusted. */
function saidIn({ idp_answer }: { idp_answer: string | null }): string {
  if (idp_answer === null) return "";
  const { call, status, error, error_description }: IdpAnswer = JSON.parse(idp_answer);
  const words = [error, error_description].filter((text) => text !== null).join(": ");
  const how =
    call === "authorize" ? "The redirect, which anyone can forge, has" : `Its ${call} endpoint answered`;
  return `${how}${status === null ? "" : ` ${status}`}${words === "" ? "" : ` "${words}"`}. `;
}

const WORKED = new Set(["code_issued", "exchanged", "expired", "tested"]);

const hasWorked = ({ outcome }: { outcome: string }): boolean => WORKED.has(outcome);

const findLatest = statement((db, of: { storeId: string; profileId: string; since: number }) =>
  db
    .selectFrom("sign_ons")
    .where("store_id", "=", of.storeId)
    .where("profile_id", "=", of.profileId)
    .where("started_at", ">=", of.since)
    .orderBy("started_at", "desc")
    .select(["id", "started_at", "outcome", "reason", "idp_answer"])
    .limit(atMost(LATEST)),
);

type SeenSignOn = { started_at: number };

const isLater = (one: SeenSignOn, other: SeenSignOn | undefined): boolean =>
  other === undefined || one.started_at > other.started_at;

const when = ({ started_at }: SeenSignOn): string => `Seen at ${toIso(started_at)}.`;
