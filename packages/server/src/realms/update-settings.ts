import type { Input } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/realms.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { given } from "../lib/given.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { findRealm } from "./realm.ts";
import { getSettings, listDirectProfiles } from "./settings.ts";
import { settingsAnswer, settingsResource } from "./settings-resource.ts";

type Deps = { storage: Storage; clock: Clock; publicUrl: string };
type Body = Input<typeof contract.updateAuthenticationSettings>["body"];

export async function updateSettings(deps: Deps, by: By, { data }: Body) {
  const { storeId } = by;
  await changeStore(deps, storeId, async (trx) => {
    const before = await getSettings({ storage: { db: trx } }, storeId);
    const after = { ...before, ...given({ client_id: data.client_id, realm_id: data.realm_id }) };
    // A realm never changes its purpose, so this check is still right at the commit.
    const realm = await findRealm(trx, storeId, after.realm_id);
    if (realm?.purpose !== "customers")
      throw new Problem("realm_unknown", { source: { pointer: "/data/realm_id" } });
    await refuseDirectMismatch(trx, storeId, after.realm_id, after.client_id);
    await trx
      .updateTable("customer_authentication_settings")
      .set({ client_id: after.client_id, realm_id: after.realm_id, updated_at: deps.clock.now() })
      .where("store_id", "=", storeId)
      .execute();
    const { relationships: _, ...was } = settingsResource(deps, before);
    const { relationships, ...is } = settingsResource(deps, after);
    const changes = changesOf(was, is);
    const resource = { ...is, relationships };
    const updated = { type: "customer_authentication_settings.updated", subject: storeId, resource } as const;
    if (changes) await noteEvents(trx, deps, by, [{ ...updated, changes }]);
  });
  return settingsAnswer(deps, await getSettings(deps, storeId));
}

/** In the direct flow the storefront shows the settings' client id to the provider: it must be the profile's. */
async function refuseDirectMismatch(
  trx: Trx,
  storeId: string,
  realmId: string,
  clientId: string,
): Promise<void> {
  const direct = await listDirectProfiles(trx, storeId, realmId);
  if (direct.some((profile) => profile.clientId !== clientId)) {
    throw new Problem("direct_client_id_mismatch", { source: { pointer: "/data/client_id" } });
  }
}
