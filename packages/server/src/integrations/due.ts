import { sql } from "kysely";
import { forIds } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Trx } from "../storage/storage.ts";

/** When an integration next has something to do: `due_at`, which only the instance that has its lease moves to a later time. */

const sooner = (now: number) =>
  sql<number>`case when due_at is null or due_at > ${now} then ${now} else due_at end`;

export const markDue = (trx: Trx, of: { storeId: string; id: string; now: number }): Promise<unknown> =>
  markOne.all(trx, of);

const markOne = statement((db, of: { storeId: string; id: string; now: number }) =>
  db
    .updateTable("integrations")
    .set({ due_at: sooner(of.now) })
    .where("store_id", "=", of.storeId)
    .where("id", "=", of.id)
    .where("enabled", "=", 1)
    .returning("id"),
);

/**
 * Events of these stores were numbered: in that transaction, so that no crash can come between. It waits for whoever is just
 * letting one of the integrations go: either that one sees the new numbers, or this comes after it. False: there are none.
 */
export const markStores = async (trx: Trx, storeIds: readonly string[], now: number): Promise<boolean> =>
  (await markSome(trx, storeIds, { now })).length > 0;

/** For six stores at once SQLite reads the whole table. */
const AT_ONCE = 4;

const markSome = forIds(AT_ONCE, (db, storeIds, of: { now: number }) =>
  db
    .updateTable("integrations")
    .set({ due_at: sooner(of.now) })
    .where("store_id", "in", storeIds)
    .where("enabled", "=", 1)
    .returning("id"),
);
