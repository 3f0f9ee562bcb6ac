import { changesOf } from "../events/changes.ts";
import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import type { Calls } from "./calls.ts";
import { profileHappening } from "./happenings.ts";
import { findProfile, type Profile } from "./profile.ts";

type Deps = { storage: Storage; clock: Clock; calls: Pick<Calls, "healthOf"> };

/** The next secret has worked: it is the secret now. Only if it is still the next one. */
export async function promoteNextSecret(deps: Deps, profile: Profile): Promise<void> {
  const { id, storeId, realmId, sealedClientSecretNext } = profile;
  if (!sealedClientSecretNext) return;
  await changeStore(deps, storeId, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("oidc_profiles")
      .set({
        sealed_client_secret: sealedClientSecretNext,
        sealed_client_secret_next: null,
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("store_id", "=", storeId)
      .where("id", "=", id)
      .where("sealed_client_secret_next", "=", sealedClientSecretNext)
      .executeTakeFirst();
    const after = numUpdatedRows === 1n && (await findProfile(trx, { storeId, realmId, profileId: id }));
    if (!after) return;
    const changes = { ...changesOf({}, {}, ["client_secret", "client_secret_next"]) };
    const happened = { ...profileHappening(deps, "oidc_profile.updated", after), changes };
    await noteEvents(trx, deps, byService(storeId), [happened]);
  });
}
