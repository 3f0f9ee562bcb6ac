import type { SignOnCheck } from "../contract/sign-on-reasons.ts";
import type { Clock } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";
import type { Calls } from "./calls.ts";
import { findLatestAccepted } from "./live-evidence.ts";
import type { Profile } from "./profile.ts";
import { saveDocuments } from "./save-documents.ts";

/**
 * Which algorithm a provider signs this client's ID tokens with. Its list has what it can do for any client; only an ID token shows
 * what it does for this one.
 */

type Deps = { storage: Storage; clock: Clock; calls: Pick<Calls, "healthOf"> };

/** Called with each ID token that was accepted, and writes at the first, and where the provider has changed its algorithm. */
export async function noteAlgorithm(deps: Deps, profile: Profile, algorithm: string): Promise<void> {
  if (profile.id_token_alg !== algorithm) await saveDocuments(deps, profile, { id_token_alg: algorithm });
}

/** As it was noted; where nothing was noted yet, as the record of the latest sign-on has it: sessions from before the column count. */
export async function algorithmSeen(
  { storage }: Pick<Deps, "storage">,
  profile: Profile,
): Promise<string | null> {
  if (profile.id_token_alg) return profile.id_token_alg;
  const checks: SignOnCheck[] = await findLatestAccepted(storage.db, profile);
  return checks.find(({ check }) => check === "id_token.alg")?.found ?? null;
}
