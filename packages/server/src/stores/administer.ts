import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { storeResource } from "./resource.ts";
import { changeStore, findStore, type Store, type StoreLimits } from "./store.ts";

type Deps = { storage: Storage; clock: Clock };

export type StoreChange = { name?: string | undefined; rate_limit?: number | undefined };
type OperatorChange = StoreChange & {
  max_rate_limit?: number | undefined;
  sign_ups_per_network?: number | undefined;
  sign_ups_per_hour?: number | undefined;
};

/** A store that went away between two steps of one request: the token that named it is dead, too. */
export async function getStore({ storage }: Deps, storeId: string): Promise<Store> {
  const store = await findStore(storage, storeId);
  if (!store) throw new Problem("token_invalid");
  return store;
}

/** The caller's own store. Any other id is unknown, and whether such a store exists is not told. */
export async function getStoreById(deps: Deps, storeId: string, wantedId: string): Promise<Store> {
  const store = await getStore(deps, storeId);
  if (wantedId !== storeId) throw new Problem("store_not_found");
  return store;
}

/** By an administrator of the store: its limit goes up to the operator's ceiling. */
export const updateStore = (deps: Deps, by: By, change: StoreChange): Promise<Store> =>
  writeStore(deps, by, change, ({ max_rate_limit: maxRateLimit }) => maxRateLimit);

/** By the operator, who sets the ceiling. A limit above it raises it, unless another ceiling is named. */
export const updateStoreAsOperator = (
  deps: Deps,
  by: By,
  { max_rate_limit: maxRateLimit, ...change }: OperatorChange,
): Promise<Store> =>
  writeStore(
    deps,
    by,
    change,
    (store) => maxRateLimit ?? Math.max(store.max_rate_limit, change.rate_limit ?? 0),
  );

async function writeStore(
  deps: Deps,
  by: By,
  change: Omit<OperatorChange, "maxRateLimit">,
  ceilingOf: (store: StoreLimits) => number,
): Promise<Store> {
  const { storeId } = by;
  await changeStore(deps, storeId, async (trx, store) => {
    const rateLimit = change.rate_limit ?? store.rate_limit;
    const maxRateLimit = ceilingOf(store);
    refuseAboveCeiling(rateLimit, maxRateLimit);
    if (rateLimit < store.rate_limit) refuseBelowReserved(rateLimit, store.total_reserved_rate_limit);
    const before = await findStore({ db: trx }, storeId);
    await trx
      .updateTable("stores")
      .set({
        ...(change.name !== undefined && { name: change.name }),
        rate_limit: rateLimit,
        max_rate_limit: maxRateLimit,
        ...(change.sign_ups_per_network !== undefined && {
          sign_ups_per_network: change.sign_ups_per_network,
        }),
        ...(change.sign_ups_per_hour !== undefined && { sign_ups_per_hour: change.sign_ups_per_hour }),
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
  // What only the operator sets is in `meta` or not in the resource at all; it is changed all the same.
  const shown = (store: Store) => ({
    ...storeResource(store),
    max_rate_limit: store.max_rate_limit,
    sign_ups_per_network: store.signUps.perNetwork,
    sign_ups_per_hour: store.signUps.perHour,
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
