import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { touchStore } from "../stores/store.ts";
import type { Calls } from "./calls.ts";
import { driftEvent } from "./events.ts";
import { type Profile, profileOf } from "./profile.ts";

type Documents = Partial<
  Pick<
    Tables["oidc_profiles"],
    | "metadata"
    | "pending_metadata"
    | "pending_since"
    | "issuer_found"
    | "issuer_found_at"
    | "read_at"
    | "id_token_alg"
  >
>;

/**
 * Keeps what discovery found, or an ID token showed, while the address and the document that we went by are still the same: a move or an approval wins.
 * That another document waits is told once, by whichever instance is the first to find it.
 */
export async function saveDocuments(
  deps: { storage: Storage; clock: Clock; calls: Pick<Calls, "healthOf"> },
  profile: Profile,
  columns: Documents,
): Promise<void> {
  await deps.storage.transact(async (trx) => {
    await touchStore(trx, profile.store_id);
    let saving = trx
      .updateTable("oidc_profiles")
      .set(columns)
      .where("store_id", "=", profile.store_id)
      .where("id", "=", profile.id)
      .where("discovery_url", "=", profile.discovery_url)
      .where("metadata", profile.metadata ? "=" : "is", profile.metadata && JSON.stringify(profile.metadata));
    const { pending_metadata: pending, issuer_found: issuer } = columns;
    if (pending) saving = saving.where("pending_metadata", "is distinct from", pending);
    if (issuer) saving = saving.where("issuer_found", "is distinct from", issuer);
    const row = await saving.returningAll().executeTakeFirst();
    if (!row || !(pending || issuer)) return;
    const happened = driftEvent(deps, "oidc_profile.drift_detected", profile, profileOf(row));
    await noteEvents(trx, deps, byService(profile.store_id), [happened]);
  });
  deps.storage.changes.announce(profile.store_id);
}

/** That it was read, and was the same. */
export async function noteReading(
  { storage, clock }: { storage: Storage; clock: Clock },
  { store_id: storeId, id }: Profile,
): Promise<void> {
  await storage.db
    .updateTable("oidc_profiles")
    .set({ read_at: clock.now() })
    .where("store_id", "=", storeId)
    .where("id", "=", id)
    .execute();
  // So that it is not noted again. Other instances may know it later, and note it once more.
  storage.changes.announce(storeId);
}
