import type { Clock } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";
import { insertStore, type Store } from "../stores/store.ts";
import { insertApplicationKey } from "./administer.ts";

export type NewStore = { store: Store; key: { id: string; clientId: string; clientSecret: string } };

/** A store that can be used at once: it has its first application key, or there is no store. */
export function createStore(
  { storage, clock }: { storage: Storage; clock: Clock },
  { name, rateLimit }: { name: string; rateLimit: number },
): Promise<NewStore> {
  return storage.db.transaction().execute(async (trx) => {
    const store = await insertStore(trx, { clock }, { name, rateLimit });
    const key = await insertApplicationKey(trx, { clock }, store.id, { name: "First key", reserved: 0 });
    return { store, key };
  });
}
