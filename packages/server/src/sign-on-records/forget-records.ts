import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { deleteOld, ROUND } from "../storage/delete-old.ts";
import type { Storage } from "../storage/storage.ts";
import { countUncounted, insertTallies } from "./add-up-statistics.ts";
import { createTallies } from "./figures.ts";
import type { Recorder } from "./recorder.ts";

type Deps = { storage: Storage; clock: Clock };

/**
 * A code that nobody redeemed in time has expired; what is older than the operator wants is forgotten. True: there are
 * more.
 */
export async function tidyRecords(
  deps: Deps & { recorder: Pick<Recorder, "count">; codeSeconds: number; recordDays: number },
): Promise<boolean> {
  const { codeSeconds, recordDays } = deps;
  const now = deps.clock.now();
  const { db } = deps.storage;
  const expireSome = async (limit: number) => {
    const over = db
      .selectFrom("sign_ons")
      .select("id")
      .where("outcome", "=", "code_issued")
      .where("updated_at", "<", now - codeSeconds * 1000 - 10_000)
      .orderBy("updated_at")
      .limit(atMost(limit));
    const expired = await deps.storage.transact(async (trx) => {
      const rows = await trx
        .updateTable("sign_ons")
        .set({ outcome: "expired", reason: "code_expired", updated_at: now })
        .where("id", "in", over)
        // Another instance may have written since that the code was redeemed.
        .where("outcome", "=", "code_issued")
        .returningAll()
        .execute();
      const tallies = createTallies();
      for (const row of rows.filter(({ counted }) => counted))
        tallies.note({ ...row, outcome: "code_issued", reason: null }, row);
      await insertTallies(trx, tallies.all());
      return rows.length;
    });
    if (expired > 0) deps.recorder.count("expired", "code_expired", expired);
    return expired;
  };
  const { isDone } = await inBatches(deps, expireSome, ROUND);
  if (await countUncounted(deps)) return true;
  const isBehind = await deleteOld(deps, "sign_ons", ["id"], "started_at", now - recordDays * 86_400_000);
  return isBehind || !isDone;
}

/** A literal, not a parameter: only so does the planner know that the index over strangers' records will do. */
const byStranger = sql<boolean>`by_stranger = 1`;

/**
 * Of the refusals that strangers may have caused the newest are kept, so many for each store. Only the stores that have had
 * some since the last time are looked at: no other can have too many. True: there are more.
 */
export async function forgetStrangers(deps: Deps, storeIds: readonly string[]): Promise<boolean> {
  const { db } = deps.storage;
  let isBehind = false;
  for (const storeId of storeIds) {
    const deleteSome = async (limit: number) => {
      const oldest = db
        .selectFrom("sign_ons")
        .select("id")
        .where("store_id", "=", storeId)
        .where(byStranger)
        .orderBy("started_at", "desc")
        .orderBy("id", "desc")
        .limit(atMost(limit))
        .offset(limits.strangerRecordsKept);
      const { numDeletedRows } = await db.deleteFrom("sign_ons").where("id", "in", oldest).executeTakeFirst();
      return Number(numDeletedRows);
    };
    const { isDone } = await inBatches(deps, deleteSome, ROUND);
    isBehind ||= !isDone;
    // There may be thousands of stores, and on SQLite nothing above waits where there is nothing to delete.
    await setImmediate();
  }
  return isBehind;
}
