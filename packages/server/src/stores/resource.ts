import type { Input, Output } from "../contract/operation.ts";
import type * as contract from "../contract/store.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { inForceBy } from "../rate-limit/in-force.ts";
import type { StoreChange } from "./administer.ts";
import type { Store } from "./store.ts";

export const storeResource = (store: Store): Output<typeof contract.getStore>["data"] => ({
  id: store.id,
  type: "store",
  name: store.name,
  rate_limit: store.rate_limit,
  meta: {
    max_rate_limit: store.max_rate_limit,
    total_reserved_rate_limit: store.total_reserved_rate_limit,
    sign_ups_per_network: store.signUps.perNetwork,
    sign_ups_per_hour: store.signUps.perHour,
    timestamps: { created_at: toIso(store.created_at), updated_at: toIso(store.updated_at) },
  },
});

export const presentStore = (
  { publicUrl }: { publicUrl: string },
  store: Store,
): Output<typeof contract.getStore> => ({
  data: storeResource(store),
  links: { self: `${publicUrl}/v2/store` },
});

export const presentChangedStore = (
  app: { publicUrl: string; clock: Clock },
  store: Store,
): Output<typeof contract.updateStore> => ({
  ...presentStore(app, store),
  meta: { effective_by: inForceBy(app) },
});

export const toStoreChange = ({ data }: Input<typeof contract.updateStore>["body"]): StoreChange => ({
  name: data.name,
  rate_limit: data.rate_limit,
});
