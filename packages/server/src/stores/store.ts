import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { given } from "../lib/given.ts";
import { newId } from "../lib/ids.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** A store is a tenant: everything else belongs to a store, and every query names it. */
export type Store = Omit<Tables["stores"], keyof Filled> & Filled;

/** Columns that the release before leaves null, with the value that counts then. */
type Filled = {
  /** The operator's ceiling for `rate_limit`. */
  max_rate_limit: number;
  /** How many customers public tokens can create in an hour, from one network and in all. */
  sign_ups_per_network: number;
  sign_ups_per_hour: number;
};

export type StoreLimits = Pick<Store, "rate_limit" | "max_rate_limit" | "total_reserved_rate_limit">;

/** A store that is being deleted has no keys, and gets no new ones. */
export const isBeingDeleted = ({ deleted_at }: Pick<Store, "deleted_at">): boolean => deleted_at !== null;

export const DEFAULT_RATE_LIMIT = 100;

const limitsOf = <Row extends Pick<Tables["stores"], keyof StoreLimits>>(row: Row) => ({
  ...row,
  max_rate_limit: Math.max(row.rate_limit, row.max_rate_limit ?? 0),
});

const storeOf = (row: Tables["stores"]): Store => ({
  ...limitsOf(row),
  sign_ups_per_network: row.sign_ups_per_network ?? limits.signUpsPerNetwork,
  sign_ups_per_hour: row.sign_ups_per_hour ?? limits.signUpsPerHour,
});

/** Without a ceiling of its own, the limit at creation is the ceiling. */
export type WantedStore = Pick<Store, "name" | "rate_limit"> & {
  [Name in keyof Filled]?: number | undefined;
};

export async function insertStore(
  trx: Trx,
  { clock }: { clock: Clock },
  wanted: WantedStore,
): Promise<Store> {
  const now = clock.now();
  const row = {
    max_rate_limit: wanted.rate_limit,
    sign_ups_per_network: null,
    sign_ups_per_hour: null,
    ...given(wanted),
    name: wanted.name,
    rate_limit: wanted.rate_limit,
    id: newId(),
    revision: 0,
    total_reserved_rate_limit: 0,
    created_at: now,
    updated_at: now,
    deleted_at: null,
    tokens_from: null,
  };
  await trx.insertInto("stores").values(row).execute();
  return storeOf(row);
}

/** A store that is being deleted is no longer found. */
export async function findStore(of: { db: Database }, storeId: string): Promise<Store | undefined> {
  const store = await findStoreOfOperator(of, storeId);
  return store && !isBeingDeleted(store) ? store : undefined;
}

/** A store that went away between two steps of one request: the token that named it is no longer valid either. */
export async function getStore({ storage }: { storage: Storage }, storeId: string): Promise<Store> {
  const store = await findStore(storage, storeId);
  if (!store) throw new Problem("token_invalid");
  return store;
}

/** Also finds a store that is being deleted. */
export async function findStoreOfOperator(
  { db }: { db: Database },
  storeId: string,
): Promise<Store | undefined> {
  const row = await db.selectFrom("stores").selectAll().where("id", "=", storeId).executeTakeFirst();
  return row && storeOf(row);
}

/**
 * A page of all stores, oldest first, because ids grow with time. Includes stores that are being deleted, so that an
 * operator can see and continue an interrupted deletion.
 */
export async function listStores(
  { db }: { db: Database },
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Store[]> {
  const rows = await db
    .selectFrom("stores")
    .selectAll()
    .where("id", ">", after ?? "")
    .orderBy("id")
    .limit(atMost(limit))
    .execute();
  return rows.map(storeOf);
}

/**
 * Use it for every change of data that caches keep for a store: its keys, limits and revoked tokens. The first
 * statement increments the store's revision and so locks the store's row: changes of one store run one after the other,
 * and a checked total is still right at the commit. After the commit this process drops its caches of the store.
 * Returns undefined if the store is deleted or being deleted.
 */
export async function changeStore<T>(
  { storage }: { storage: Storage },
  storeId: string,
  work: (trx: Trx, store: StoreLimits) => Promise<T>,
): Promise<T | undefined> {
  const result = await storage.transact(async (trx) => {
    const row = await moveRevision.first(trx, { storeId });
    return row && work(trx, limitsOf(row));
  }, storeId);
  storage.changes.announce(storeId);
  return result;
}

/** For a transaction that changes cached data of a store but needs no lock before. Call `announce` after its commit. */
export const touchStore = async (trx: Trx, storeId: string): Promise<void> => {
  await moveRevision.first(trx, { storeId });
};

const moveRevision = statement((db, of: { storeId: string }) =>
  db
    .updateTable("stores")
    .set(({ eb }) => ({ revision: eb("revision", "+", 1) }))
    .where("id", "=", of.storeId)
    .where("deleted_at", "is", null)
    .returning(["rate_limit", "max_rate_limit", "total_reserved_rate_limit"]),
);
