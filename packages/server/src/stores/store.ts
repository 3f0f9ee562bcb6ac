import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** A store is a tenant: everything else belongs to one, and every query names it. */
export type Store = {
  id: string;
  name: string;
  rate_limit: number;
  /** The operator's ceiling for the limit, which the store's administrators cannot pass. */
  max_rate_limit: number;
  /** What its keys have reserved together: a running total, which triggers on the keys' table keep. */
  total_reserved_rate_limit: number;
  signUps: SignUpLimits;
  created_at: number;
  updated_at: number;
  /** Somebody has begun to delete it: it has no keys any more, and takes none. */
  isBeingDeleted: boolean;
};

/** How many customers may be created with public tokens in an hour. */
export type SignUpLimits = { perNetwork: number; perHour: number };

export type StoreLimits = Pick<Store, "rate_limit" | "max_rate_limit" | "total_reserved_rate_limit">;

export const DEFAULT_RATE_LIMIT = 100;

type Row = Tables["stores"];

/** `max_rate_limit` is null where the release before has made the store or changed its limit: then the limit itself is the ceiling. */
const limitsOf = (
  row: Pick<Row, "rate_limit" | "max_rate_limit" | "total_reserved_rate_limit">,
): StoreLimits => ({
  rate_limit: row.rate_limit,
  max_rate_limit: Math.max(row.rate_limit, row.max_rate_limit ?? 0),
  total_reserved_rate_limit: row.total_reserved_rate_limit,
});

/** Null where the operator has set nothing, or the release before has made the store. */
const signUpsOf = (row: Row): SignUpLimits => ({
  perNetwork: row.sign_ups_per_network ?? limits.signUpsPerNetwork,
  perHour: row.sign_ups_per_hour ?? limits.signUpsPerHour,
});

const fromRow = (row: Row): Store => ({
  id: row.id,
  name: row.name,
  ...limitsOf(row),
  signUps: signUpsOf(row),
  created_at: row.created_at,
  updated_at: row.updated_at,
  isBeingDeleted: row.deleted_at !== null,
});

/** Without a ceiling of its own, the limit at creation is the ceiling. */
export type WantedStore = {
  name: string;
  rate_limit: number;
  max_rate_limit?: number | undefined;
  sign_ups_per_network?: number | undefined;
  sign_ups_per_hour?: number | undefined;
};

export async function insertStore(
  trx: Trx,
  { clock }: { clock: Clock },
  {
    name,
    rate_limit: rateLimit,
    max_rate_limit: maxRateLimit = rateLimit,
    sign_ups_per_network: signUpsPerNetwork,
    sign_ups_per_hour: signUpsPerHour,
  }: WantedStore,
): Promise<Store> {
  const now = clock.now();
  const row = {
    id: newId(),
    name,
    rate_limit: rateLimit,
    max_rate_limit: maxRateLimit,
    revision: 0,
    created_at: now,
    updated_at: now,
    deleted_at: null,
    tokens_from: null,
    total_reserved_rate_limit: 0,
    sign_ups_per_network: signUpsPerNetwork ?? null,
    sign_ups_per_hour: signUpsPerHour ?? null,
  };
  await trx.insertInto("stores").values(row).execute();
  return fromRow(row);
}

/** A store that is being deleted is no longer found. */
export async function findStore({ db }: { db: Database }, storeId: string): Promise<Store | undefined> {
  const row = await db
    .selectFrom("stores")
    .selectAll()
    .where("id", "=", storeId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Also one that is being deleted. */
export async function findStoreOfOperator(
  { db }: { db: Database },
  storeId: string,
): Promise<Store | undefined> {
  const row = await db.selectFrom("stores").selectAll().where("id", "=", storeId).executeTakeFirst();
  return row && fromRow(row);
}

/**
 * One part of all stores, oldest first, because ids grow with time. Also those that are being deleted: whoever was interrupted
 * must see what is left to do.
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
  return rows.map(fromRow);
}

/**
 * The one way to change what is kept in memory of a store: its keys, limits and revoked tokens. Moving the revision
 * first takes the lock on the store's row, so that changes of one store follow each other and a total that was checked
 * is still right at the commit. After it, this process's caches of the store are dropped. `undefined`: the store is gone,
 * or is being deleted.
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

/** For a transaction that changes what is kept in memory of a store without depending on it; `announce` comes after its commit. */
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
