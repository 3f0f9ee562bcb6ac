import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { LogoutRefused } from "../openid/logout-token.ts";
import { keyOf, type Profile, profileUpdate } from "../profiles/profile.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import { isRecorded, startTrail } from "../sign-on-records/trail.ts";
import type { Storage } from "../storage/storage.ts";

type Deps = { storage: Storage; clock: Clock; recorder: Recorder; recordLimiter: RecordLimiter };

/** The same refusal is written at most once in this time, because a token can be sent any number of times. */
const AGAIN_AFTER_MS = 60_000;

/** Records a refused logout token. If the provider has signed it, the profile shows it, too. */
export async function noteRefusedLogout(
  deps: Deps,
  profile: Profile,
  { reason, isSigned, checks }: LogoutRefused,
  source: string,
): Promise<void> {
  const place = { ...keyOf(profile), isOfMembers: profile.purpose === "members" };
  const trail = startTrail(newId(), place, { startedAt: deps.clock.now(), source, profile });
  trail.checks.push(...checks);
  if (await isRecorded(deps, trail)) deps.recorder.note(trail, { outcome: "logout_refused", reason });
  if (isSigned) await showOnProfile(deps, profile, reason);
}

async function showOnProfile({ storage, clock }: Deps, profile: Profile, reason: string): Promise<void> {
  const at = clock.now();
  const { refused_logout: last } = profile;
  if (last?.reason === reason && at - last.at < AGAIN_AFTER_MS) return;
  await profileUpdate(storage.db, profile, { refused_logout: JSON.stringify({ at, reason }) }).execute();
}
