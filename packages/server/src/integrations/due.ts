import { sql } from "kysely";
import type { Numbered } from "../events/sequencer.ts";
import { forChange } from "../storage/engine.ts";
import { forIds } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Trx } from "../storage/storage.ts";
import { type IntegrationRow, isMeant } from "./integration.ts";

/** When an integration next has work: `due_at`. Only the holder of its lease moves it to a later time. */

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

/**
 * No integration is further behind than this, however rare its events are: after this many events without a match it
 * moves on.
 */
export const BEHIND = 1000;

/**
 * Runs in the transaction that numbers events, so no crash falls between the two. Marks the integrations that observe
 * one of the events. The locks wait for a transaction that is releasing such an integration or changing its types:
 * either that transaction sees the new numbers, or this one sees its result. Returns false when no integration is due.
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

/** With six stores in one statement SQLite would read the whole table. */
const STORES_AT_ONCE = 4;
const lockEnabled = forIds(STORES_AT_ONCE, (db, storeIds) => forChange(db, enabledOf(db, storeIds)));

/** Most stores have fewer integrations. Unused placeholders are filled with a repeated id. */
const MARKED_AT_ONCE = 8;
const markSome = forIds(MARKED_AT_ONCE, (db, ids, of: { storeId: string; now: number }) =>
  db
    .updateTable("integrations")
    .set({ due_at: sooner(of.now) })
    .where("store_id", "=", of.storeId)
    .where("id", "in", ids)
    .returning("id"),
);
