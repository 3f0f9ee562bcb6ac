import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/store.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { given } from "../lib/given.ts";
import { inForceBy } from "../rate-limit/in-force.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { type StoreChange, storeAnswer, storeResource } from "./resource.ts";
import { changeStore, findStore, getStore, type Store, type StoreLimits } from "./store.ts";

type Deps = { storage: Storage; clock: Clock };

type OperatorChange = StoreChange & {
  max_rate_limit?: number | undefined;
  sign_ups_per_network?: number | undefined;
  sign_ups_per_hour?: number | undefined;
};

/** By an administrator of the store, who can raise the limit up to the operator's ceiling. */
export async function updateStore(
  deps: Deps & { publicUrl: string },
  by: By,
  { name, rate_limit }: StoreChange,
): Promise<Output<typeof contract.updateStore>> {
  const store = await writeStore(deps, by, { name, rate_limit }, ({ max_rate_limit }) => max_rate_limit);
  return { ...storeAnswer(deps, store), meta: { effective_by: inForceBy(deps) } };
}

/**
 * By the operator, who sets the ceiling. A limit above the ceiling raises the ceiling, unless the operator names
 * another one.
 */
export const updateStoreAsOperator = (
  deps: Deps,
  by: By,
  { max_rate_limit: ceiling, ...change }: OperatorChange,
): Promise<Store> =>
  writeStore(
    deps,
    by,
    change,
    ({ max_rate_limit }) => ceiling ?? Math.max(max_rate_limit, change.rate_limit ?? 0),
  );

async function writeStore(
  deps: Deps,
  by: By,
  change: Omit<OperatorChange, "max_rate_limit">,
  ceilingOf: (store: StoreLimits) => number,
): Promise<Store> {
  const { storeId } = by;
  await changeStore(deps, storeId, async (trx, store) => {
    const { rate_limit = store.rate_limit } = change;
    const max_rate_limit = ceilingOf(store);
    refuseAboveCeiling(rate_limit, max_rate_limit);
    if (rate_limit < store.rate_limit) refuseBelowReserved(rate_limit, store.total_reserved_rate_limit);
    const before = await findStore({ db: trx }, storeId);
    await trx
      .updateTable("stores")
      .set({
        ...given(change),
        rate_limit,
        max_rate_limit,
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("id", "=", storeId)
      .execute();
    const after = await findStore({ db: trx }, storeId);
    if (before && after) await noteUpdate(trx, deps, by, before, after);
  });
  return getStore(deps, storeId);
}

async function noteUpdate(trx: Trx, deps: Deps, by: By, before: Store, after: Store): Promise<void> {
  // The operator's settings are in `meta`, which changesOf ignores, so they are compared here by name.
  const shown = (store: Store) => ({
    ...storeResource(store),
    max_rate_limit: store.max_rate_limit,
    sign_ups_per_network: store.sign_ups_per_network,
    sign_ups_per_hour: store.sign_ups_per_hour,
  });
  const changes = changesOf(shown(before), shown(after));
  if (!changes) return;
  const resource = storeResource(after);
  await noteEvents(trx, deps, by, [{ type: "store.updated", subject: after.id, resource, changes }]);
}

function refuseAboveCeiling(rateLimit: number, maxRateLimit: number): void {
  if (rateLimit <= maxRateLimit) return;
  throw new Problem("store_limit_above_ceiling", {
    source: { pointer: "/data/rate_limit" },
    detail: `The operator allows this store at most ${maxRateLimit} requests per second.`,
    meta: { max_rate_limit: maxRateLimit },
  });
}

function refuseBelowReserved(rateLimit: number, reserved: number): void {
  if (rateLimit >= reserved) return;
  throw new Problem("store_limit_below_reservations", {
    source: { pointer: "/data/rate_limit" },
    detail: `The store's keys have reserved ${reserved} requests per second together; the limit cannot be lower.`,
    meta: { total_reserved_rate_limit: reserved },
  });
}
