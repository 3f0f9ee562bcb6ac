import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import type { Storage } from "../../storage/storage.ts";
import { findStoreOfOperator, isBeingDeleted, listStores, type Store } from "../../stores/store.ts";
import { type CommandDeps, withStorage } from "./with-storage.ts";

export const NO_STORES = "there are no stores yet; `latchkey store create --name <name>` makes one";

/** The store that a command names, or the reason why it cannot be used. */
export async function requireStore({ storage }: { storage: Storage }, storeId: string): Promise<Store> {
  const store = await findStoreOfOperator(storage, storeId);
  if (store && !isBeingDeleted(store)) return store;
  throw operatorFault(
    store
      ? `the store ${storeId} is being deleted; \`latchkey store delete\` goes on with it`
      : `there is no store ${storeId}; \`latchkey store list\` shows them`,
  );
}

/** The options of a command on one store. */
export type FromStore = { store: string | undefined; json: boolean };

/** Works on the named store, or on the only one where the command allows that. */
export const fromStore = <T>(
  storeId: string | undefined,
  work: (deps: CommandDeps, storeId: string) => Promise<T>,
): Promise<T> =>
  withStorage(async (deps) => {
    const id = storeId ?? (await findOnly(deps));
    await requireStore(deps, id);
    return work(deps, id);
  });

async function findOnly({ storage }: CommandDeps): Promise<string> {
  const [first, second] = await listStores(storage, { limit: 2 });
  if (!first) throw operatorFault(NO_STORES);
  if (second)
    throw usageFault("--store is required, because there are several; `latchkey store list` shows them");
  return first.id;
}
