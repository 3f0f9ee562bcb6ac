import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { deleteOld, ROUND } from "../storage/delete-old.ts";
import type { Storage } from "../storage/storage.ts";
import { countUncounted } from "./add-up-statistics.ts";
import { createTallies } from "./figures.ts";
import type { Recorder } from "./recorder.ts";
import { insertTallies } from "./tallies.ts";

type Deps = { storage: Storage; clock: Clock };

/** Marks unredeemed codes as expired, and deletes records older than `recordDays`. True: more are left. */
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
        // Another instance may have recorded the exchange in between.
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
  const isBehind = await deleteOld(deps, "sign_ons", now - recordDays * 86_400_000);
  return isBehind || !isDone;
}

/** A literal, not a parameter: only with a literal does the planner use the partial index. */
const byStranger = sql<boolean>`by_stranger = 1`;

/**
 * Deletes strangers' records beyond the newest of each store. `storeIds`: the stores with such records since the last
 * call; no other store can have too many. True: more are left.
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
    // On SQLite nothing above yields to the event loop, and there may be thousands of stores.
    await setImmediate();
  }
  return isBehind;
}
