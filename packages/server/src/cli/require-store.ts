import type { Clock } from "../lib/clock.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import type { Storage } from "../storage/storage.ts";
import { findStore, listStores, type Store } from "../stores/store.ts";
import { required } from "./options.ts";
import { withStorage } from "./with-storage.ts";

/** The store that a command names, or why it cannot be worked on. */
export async function requireStore({ storage }: { storage: Storage }, storeId: string): Promise<Store> {
  const store = await findStore(storage, storeId);
  if (store) return store;
  const isBeingDeleted = (await listStores(storage)).some(({ id }) => id === storeId);
  throw operatorFault(
    isBeingDeleted
      ? `the store ${storeId} is being deleted; \`latchkey store delete\` goes on with it`
      : `there is no store ${storeId}; \`latchkey store list\` shows them`,
  );
}

/** Does something in the store that `--store` names. */
export function ofStore<T>(
  storeId: string | undefined,
  work: (deps: { storage: Storage; clock: Clock }, storeId: string) => Promise<T>,
): Promise<T> {
  const id = required(storeId, "--store");
  return withStorage(async (deps) => {
    await requireStore(deps, id);
    return work(deps, id);
  });
}
