import { type SignOnReason, signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import { toIso } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import type { Database } from "../storage/storage.ts";
import type { Profile } from "./profile.ts";
import type { Check, RequirementId } from "./requirements.ts";

/** What only a live token can show, and the reasons for which a sign-on is refused where it is not so. */
const SHOWN_LIVE: Partial<Record<RequirementId, readonly SignOnReason[]>> = {
  R4: ["claims.email_missing"],
  R6: ["id_token.encrypted", "userinfo.malformed"],
  R7: ["id_token.aud", "id_token.azp"],
  R8: [],
  R9: [],
};

/**
 * Completes the doctor's checks with what sign-ons have shown since the profile was last changed: the latest one that
 * worked, and the latest that was refused for a requirement. The later of the two counts.
 */
export async function withLiveEvidence(
  db: Database,
  profile: Profile,
  checks: readonly Check[],
): Promise<Check[]> {
  const records = db
    .selectFrom("sign_ons")
    .where("store_id", "=", profile.storeId)
    .where("profile_id", "=", profile.id)
    .where("started_at", ">=", profile.updatedAt)
    .orderBy("started_at", "desc")
    .select(["started_at", "reason"])
    .limit(atMost(1));
  const worked = await records
    .where("outcome", "in", ["code_issued", "exchanged", "expired"])
    .executeTakeFirst();
  const reasons = Object.values(SHOWN_LIVE).flat();
  // Only one that came later counts, so nothing before it is looked through.
  const refused = await records
    .where("started_at", ">", worked?.started_at ?? 0)
    .where("reason", "in", reasons)
    .executeTakeFirst();
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

type Seen = { started_at: number };

const isLater = (one: Seen, other: Seen | undefined): boolean =>
  other === undefined || one.started_at > other.started_at;

const when = ({ started_at }: Seen): string => `Seen at ${toIso(started_at)}.`;
