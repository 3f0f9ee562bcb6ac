import { insertApplicationKey } from "./application-keys/administer.ts";
import { getApplicationKey } from "./application-keys/application-key.ts";
import { noteKey } from "./application-keys/events.ts";
import { byOperator } from "./events/event.ts";
import type { Clock } from "./lib/clock.ts";
import { insertRealm } from "./realms/administer.ts";
import { FIRST_CLIENT_ID, insertSettings } from "./realms/settings.ts";
import { FIRST_REALM_NAME } from "./realms/shop.ts";
import type { Storage } from "./storage/storage.ts";
import { insertStore, type Store, type WantedStore } from "./stores/store.ts";

export type NewStore = { store: Store; key: { id: string; clientId: string; clientSecret: string } };

/** Creates a store with its first application key, realm and settings, in one transaction. */
export function createStore(
  { storage, clock }: { storage: Storage; clock: Clock },
  wanted: WantedStore,
): Promise<NewStore> {
  return storage.transact(async (trx) => {
    const store = await insertStore(trx, { clock }, wanted);
    const by = byOperator(store.id);
    const key = await insertApplicationKey(trx, { clock }, store.id, { name: "First key" });
    const shown = await getApplicationKey({ storage: { db: trx }, clock }, store.id, key.id);
    await noteKey(trx, { clock }, by, "application_key.created", shown);
    const realm = await insertRealm(trx, { clock }, by, { name: FIRST_REALM_NAME });
    await insertSettings(
      trx,
      { clock },
      { store_id: store.id, client_id: FIRST_CLIENT_ID, realm_id: realm.id },
    );
    return { store, key };
  });
}
