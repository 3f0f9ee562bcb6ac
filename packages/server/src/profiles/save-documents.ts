import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";
import { touchStore } from "../stores/store.ts";
import type { Calls } from "./calls.ts";
import { driftEvent } from "./events.ts";
import { type Profile, type ProfileColumns, profileOf, profileUpdate } from "./profile.ts";

type Deps = { storage: Storage; clock: Clock; calls: Pick<Calls, "healthOf"> };

/**
 * Stores what discovery or an ID token has shown, if discovery URL and approved document are still the same: a move or
 * an approval in the meantime wins. The first instance that finds a drift writes its event; the others write none.
 */
export async function saveDocuments(deps: Deps, profile: Profile, columns: ProfileColumns): Promise<void> {
  await deps.storage.transact(async (trx) => {
    await touchStore(trx, profile.store_id);
    let saving = profileUpdate(trx, profile, columns)
      .where("discovery_url", "=", profile.discovery_url)
      .where("metadata", profile.metadata ? "=" : "is", profile.metadata && JSON.stringify(profile.metadata));
    const { pending_metadata: pending, issuer_found: issuer } = columns;
    if (pending) saving = saving.where("pending_metadata", "is distinct from", pending);
    if (issuer) saving = saving.where("issuer_found", "is distinct from", issuer);
    const row = await saving.returningAll().executeTakeFirst();
    if (!row || !(pending || issuer)) return;
    const event = driftEvent(deps, "oidc_profile.drift_detected", profile, profileOf(row));
    await noteEvents(trx, deps, byService(profile.store_id), [event]);
  });
  deps.storage.changes.announce(profile.store_id);
}

/** Only an accepted ID token shows the algorithm for this client: a provider lists what it can do for any client. */
export async function noteAlgorithm(deps: Deps, profile: Profile, algorithm: string): Promise<void> {
  if (profile.id_token_alg !== algorithm) await saveDocuments(deps, profile, { id_token_alg: algorithm });
}

/** The document was read and has not changed. */
export async function noteReading(
  { storage, clock }: { storage: Storage; clock: Clock },
  profile: Profile,
): Promise<void> {
  await profileUpdate(storage.db, profile, { read_at: clock.now() }).execute();
  // So that this instance does not write it again. Other instances may learn of it later, and write it once more.
  storage.changes.announce(profile.store_id);
}
