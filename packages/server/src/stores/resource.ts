import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/store.ts";
import { toIso } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";
import { getStore, type Store } from "./store.ts";

/** The members of a store that its administrators can write. */
export type StoreChange = Partial<Omit<Input<typeof contract.updateStore>["body"]["data"], "type">>;

type StoreAnswer = Output<typeof contract.getStore>;
type Deps = { storage: Storage; publicUrl: string };

export const storeResource = (store: Store): StoreAnswer["data"] => ({
  id: store.id,
  type: "store",
  name: store.name,
  rate_limit: store.rate_limit,
  meta: {
    max_rate_limit: store.max_rate_limit,
    total_reserved_rate_limit: store.total_reserved_rate_limit,
    sign_ups_per_network: store.sign_ups_per_network,
    sign_ups_per_hour: store.sign_ups_per_hour,
    timestamps: { created_at: toIso(store.created_at), updated_at: toIso(store.updated_at) },
  },
});

export const storeAnswer = ({ publicUrl }: Pick<Deps, "publicUrl">, store: Store): StoreAnswer => ({
  data: storeResource(store),
  links: { self: `${publicUrl}/v2/store` },
});

export const showStore = async (deps: Deps, storeId: string) =>
  storeAnswer(deps, await getStore(deps, storeId));

/** The caller's own store. Every other id is answered as unknown, whether such a store exists or not. */
export async function showStoreById(deps: Deps, storeId: string, wantedId: string): Promise<StoreAnswer> {
  const answer = await showStore(deps, storeId);
  if (wantedId !== storeId) throw new Problem("store_not_found");
  return answer;
}
