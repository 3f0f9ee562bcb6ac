import { type SignOnReason, signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import { toIso } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Database } from "../storage/storage.ts";
import type { Profile } from "./profile.ts";
import { type Check, type RequirementId, requirements } from "./requirements.ts";

/** What only a live token can show, and the reasons for which a sign-on is refused where it is not so. */
const SHOWN_LIVE: Partial<Record<RequirementId, readonly SignOnReason[]>> = {
  R4: ["claims.email_missing"],
  R6: ["id_token.encrypted", "userinfo.malformed"],
  R7: ["id_token.aud", "id_token.azp"],
  R8: [],
  R9: [],
};

/** How many sign-ons are looked at: more tell nothing new of a provider. */
const LATEST = 500;

/**
 * Completes the doctor's checks with what the latest sign-ons have shown since the profile was last changed: the latest one
 * that worked, and the latest that was refused for a requirement. The later of the two counts.
 */
export async function withLiveEvidence(
  db: Database,
  profile: Profile,
  checks: readonly Check[],
): Promise<Check[]> {
  const latest = await findLatest.all(db, {
    storeId: profile.storeId,
    profileId: profile.id,
    since: profile.updatedAt,
  });
  const worked = latest.find(({ outcome }) => WORKED.has(outcome));
  const refused = latest.find(({ reason }) => REASONS.has(reason));
  return checks.map((check) => {
    const ownReasons = SHOWN_LIVE[check.id];
    if (!ownReasons || check.status === "not_met") return check;
    if (refused && isLater(refused, worked) && ownReasons.includes(refused.reason as SignOnReason)) {
      const { means, remedy } = signOnReasonEntry(refused.reason as SignOnReason);
      return { ...check, status: "not_met", evidence: `${means} ${when(refused)}`, remedy };
    }
    return worked ? { ...check, status: "met", evidence: `A sign-on has shown it. ${when(worked)}` } : check;
  });
}

/** What one sign-on says of the requirements that only a live token can show. */
export const judgeSignOn = (reason: SignOnReason | null): Check[] =>
  (Object.entries(SHOWN_LIVE) as [RequirementId, readonly SignOnReason[]][]).map(([id, ownReasons]) => {
    const about = { id, requirement: requirements[id] };
    if (reason === null)
      return { ...about, status: "met", evidence: "This sign-on has shown it.", remedy: null };
    if (!ownReasons.includes(reason))
      return { ...about, status: "unknown", evidence: "This sign-on did not come far enough.", remedy: null };
    const { means, remedy } = signOnReasonEntry(reason);
    return { ...about, status: "not_met", evidence: means, remedy };
  });

const WORKED = new Set(["code_issued", "exchanged", "expired", "tested"]);
const REASONS = new Set<string | null>(Object.values(SHOWN_LIVE).flat());

const findLatest = statement((db, of: { storeId: string; profileId: string; since: number }) =>
  db
    .selectFrom("sign_ons")
    .where("store_id", "=", of.storeId)
    .where("profile_id", "=", of.profileId)
    .where("started_at", ">=", of.since)
    .orderBy("started_at", "desc")
    .select(["started_at", "outcome", "reason"])
    .limit(atMost(LATEST)),
);

type Seen = { started_at: number };

const isLater = (one: Seen, other: Seen | undefined): boolean =>
  other === undefined || one.started_at > other.started_at;

const when = ({ started_at }: Seen): string => `Seen at ${toIso(started_at)}.`;
