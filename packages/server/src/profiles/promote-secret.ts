import { isDeepStrictEqual } from "node:util";
import { changesOf } from "../events/changes.ts";
import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import type { OpenidClient } from "../openid/client.ts";
import { exchangeCode, type IdpGrant, type Secrets } from "../openid/exchange.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import type { Calls } from "./calls.ts";
import { openSecrets, sealSecret } from "./client-secret.ts";
import { profileEvent } from "./events.ts";
import { findProfile, type Profile } from "./profile.ts";

type Deps = { storage: Storage; clock: Clock; keyring: Keyring; calls: Pick<Calls, "healthOf"> };

/** Redeems a code with the profile's secrets. A next secret that the provider has accepted becomes the secret. */
export async function exchangeWithSecrets(
  deps: Deps,
  profile: Profile,
  client: OpenidClient,
  grant: IdpGrant,
): ReturnType<typeof exchangeCode> {
  const secrets = openSecrets(deps, profile);
  const exchanged = await exchangeCode(client, secrets, grant);
  if ("tokens" in exchanged && exchanged.secret === "next") await promoteNextSecret(deps, profile, secrets);
  return exchanged;
}

/** Only if both secrets are still those that were tried. */
async function promoteNextSecret(deps: Deps, profile: Profile, tried: Secrets): Promise<void> {
  const { id, store_id: storeId, realm_id: realmId } = profile;
  await changeStore(deps, storeId, async (trx) => {
    const key = { storeId, realmId, profileId: id };
    const now = await findProfile(trx, key);
    // Compared opened: `rotate-keys` may have sealed them anew since they were read.
    if (!now || !tried.next || !isDeepStrictEqual(openSecrets(deps, now), tried)) return;
    await trx
      .updateTable("oidc_profiles")
      .set({
        // Sealed anew, with the first master key: `rotate-keys` may have read the row before, and leaves what has changed.
        sealed_client_secret: sealSecret(deps, id, tried.next),
        sealed_client_secret_next: null,
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("store_id", "=", storeId)
      .where("id", "=", id)
      .execute();
    const after = await findProfile(trx, key);
    if (!after) return;
    const changes = { ...changesOf({}, {}, ["client_secret", "client_secret_next"]) };
    const happened = { ...profileEvent(deps, "oidc_profile.updated", after), changes };
    await noteEvents(trx, deps, byService(storeId), [happened]);
  });
}
