import { Problem } from "../contract/problem.ts";
import type { By } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import type { Metadata } from "../openid/discovery.ts";
import type { Storage } from "../storage/storage.ts";
import type { Calls } from "./calls.ts";
import { changeProfile, writeColumns } from "./change-profile.ts";
import { accepted, digestOf } from "./drift.ts";
import { columnsOfMove, type MoveChoice } from "./issuer-move.ts";
import {
  findProfile,
  getProfile,
  type Profile,
  type ProfileKey,
  type ProfileView,
  viewProfile,
} from "./profile.ts";

type Deps = { storage: Storage; clock: Clock; calls: Calls };

/**
 * Accepts the document whose digest was shown, as it is stored, and no other: the provider is not asked, because it may say
 * something else by now. Other hosts than before were approved, so every instance drops what it knew of the provider.
 */
export async function approveDrift(
  deps: Deps,
  by: By,
  key: ProfileKey,
  { digest, ...choice }: MoveChoice & { digest: string },
): Promise<ProfileView> {
  const seen = await getProfile(deps, key);
  const shown = pendingOf(seen, digest);
  const condition = { pending_metadata: JSON.stringify(shown) };
  const isRenamed = shown.issuer !== seen.metadata?.issuer;
  await changeProfile(deps, by, key, { ...choice, isApproval: true, isRenamed }, async (trx, before) => {
    // Whose people it has is looked at under the lock: an update may have taken over others since.
    const move = isRenamed && before ? await columnsOfMove(trx, before, shown.issuer, choice) : {};
    if (await writeColumns(trx, deps, key, { ...accepted(shown), ...move }, condition)) return;
    throw refusalOf(await findProfile(trx, key));
  });
  return viewProfile(deps, key);
}

function pendingOf(profile: Profile, digest: string): Metadata {
  const { pending } = profile;
  if (!pending || digestOf(pending.metadata) !== digest) throw refusalOf(profile);
  return pending.metadata;
}

function refusalOf(profile: Profile | undefined): Problem {
  if (!profile) return new Problem("profile_not_found");
  if (!profile.pending) return new Problem("no_pending_change");
  return new Problem("drift_changed", {
    source: { pointer: "/data/digest" },
    meta: { digest: digestOf(profile.pending.metadata) },
  });
}
