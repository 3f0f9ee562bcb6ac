import { sql } from "kysely";
import type { Numbered } from "../events/sequencer.ts";
import { forChange } from "../storage/engine.ts";
import { forIds } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Trx } from "../storage/storage.ts";
import { type IntegrationRow, isMeant } from "./integration.ts";

/** When an integration next has something to do: `due_at`, which only the instance that has its lease moves to a later time. */

const sooner = (now: number) =>
  sql<number>`case when due_at is null or due_at > ${now} then ${now} else due_at end`;

export const markDue = statement((db, of: { storeId: string; id: string; now: number }) =>
  db
    .updateTable("integrations")
    .set({ due_at: sooner(of.now) })
    .where("store_id", "=", of.storeId)
    .where("id", "=", of.id)
    .where("enabled", "=", 1)
    .returning("id"),
);

/** Nobody is this far behind, however rare what it observes is: the log is looked through from there when something of it comes. */
export const BEHIND = 1000;

/**
 * Events were numbered: in that transaction, so that no crash can come between. Those are marked that observe one of them. All are
 * locked first, so it waits for whoever is just letting one of them go, or changing what it observes: either that one sees the
 * new numbers, or this comes after it. False: there is nothing to do for any.
 */
export async function markStores(
  trx: Trx,
  numberedOf: ReadonlyMap<string, Numbered>,
  now: number,
): Promise<boolean> {
  const enabled = await lockEnabled(trx, [...numberedOf.keys()]);
  const due = enabled.filter((row) => isConcerned(row, numberedOf.get(row.store_id)));
  const isMarked = ({ due_at }: Enabled) => due_at !== null && due_at <= now;
  const unmarked = due.filter((row) => !isMarked(row));
  for (const [storeId, rows] of Map.groupBy(unmarked, (row) => row.store_id)) {
    const ids = rows.map(({ id }) => id);
    await markSome(trx, ids, { storeId, now });
  }
  return due.length > 0;
}

type Enabled = Pick<IntegrationRow, "id" | "store_id" | "observes" | "sequence" | "due_at">;

function isConcerned({ observes, sequence }: Enabled, numbered: Numbered | undefined): boolean {
  if (!numbered) return false;
  const patterns: string[] = JSON.parse(observes);
  const isObserved = (type: string) => patterns.some((pattern) => isMeant(pattern, type));
  return numbered.last - sequence >= BEHIND || [...numbered.types].some(isObserved);
}

const enabledOf = (db: Database, storeIds: readonly string[]) =>
  db
    .selectFrom("integrations")
    .select(["id", "store_id", "observes", "sequence", "due_at"])
    .where("store_id", "in", storeIds)
    .where("enabled", "=", 1);

/** For six stores at once SQLite reads the whole table. */
const STORES_AT_ONCE = 4;
const lockEnabled = forIds(STORES_AT_ONCE, (db, storeIds) => forChange(db, enabledOf(db, storeIds)));

/** Few stores have more integrations; one id that fills up a place costs nothing. */
const MARKED_AT_ONCE = 8;
const markSome = forIds(MARKED_AT_ONCE, (db, ids, of: { storeId: string; now: number }) =>
  db
    .updateTable("integrations")
    .set({ due_at: sooner(of.now) })
    .where("store_id", "=", of.storeId)
    .where("id", "in", ids)
    .returning("id"),
);
