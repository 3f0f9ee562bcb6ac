import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/oidc-profiles.ts";
import type { Input } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { byCaller } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import type { Metadata } from "../openid/discovery.ts";
import type { Storage } from "../storage/storage.ts";
import type { Calls } from "./calls.ts";
import { changeProfile, writeColumns } from "./change-profile.ts";
import { acceptedColumns, digestOf } from "./drift.ts";
import { columnsOfMove } from "./issuer-move.ts";
import { findProfile, getProfile, type Profile, type ProfileIds, profileKey } from "./profile.ts";
import { viewProfile } from "./read-profiles.ts";
import type { ProfileAnswer } from "./resource.ts";

type Deps = { publicUrl: string; storage: Storage; clock: Clock; calls: Calls };

/**
 * Approves the stored document whose digest the caller has seen. The provider is not asked, because its document may be
 * another by now. The directory of every instance drops its entry of the profile, because other hosts are approved.
 */
export async function approveDrift(
  deps: Deps,
  caller: Caller,
  ids: ProfileIds,
  { data: { digest, ...choice } }: Input<typeof contract.approveDrift>["body"],
): Promise<ProfileAnswer> {
  const key = profileKey(caller, ids);
  const seen = await getProfile(deps, key);
  const shown = pendingOf(seen, digest);
  const condition = { pending_metadata: JSON.stringify(shown) };
  const isRenamed = shown.issuer !== seen.metadata?.issuer;
  const write = { ...choice, isApproval: true, isRenamed } as const;
  await changeProfile(deps, byCaller(caller), key, write, async (trx, before) => {
    // The profile as it is under the lock: an update may have taken over more identities in the meantime.
    const move = isRenamed && before ? await columnsOfMove(trx, before, shown.issuer, choice) : {};
    if (await writeColumns(trx, deps, key, { ...acceptedColumns(shown), ...move }, condition)) return;
    throw refusalOf(await findProfile(trx, key));
  });
  return viewProfile(deps, caller, ids);
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
