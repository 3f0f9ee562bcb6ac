import { type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { deleteOld, ROUND } from "../storage/delete-old.ts";
import { forChange } from "../storage/engine.ts";
import { tryHold } from "../storage/hold.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { createTallies } from "./figures.ts";
import { createSums } from "./sums.ts";
import { hasTallies, insertTallies, takeTallies } from "./tallies.ts";

/**
 * Figures of sign-ons by minute, hour and day. A record is written together with a tally of what it changes
 * (tallies.ts), without a lock. One instance at a time adds the tallies up in the background, so a request reads
 * ready sums.
 */

type Deps = { storage: Storage; clock: Clock };
export type StatisticsStep = keyof typeof STEPS;

const DAY_MS = 86_400_000;

/** The length of a step, and how long its figures are kept. */
export const STEPS = {
  minute: { lengthMs: 60_000, keptMs: 8 * DAY_MS },
  hour: { lengthMs: 3_600_000, keptMs: 100 * DAY_MS },
  day: { lengthMs: DAY_MS, keptMs: 1100 * DAY_MS },
} as const;

/** Steps are in UTC, so each begins at a multiple of its length. */
export const startOf = (step: StatisticsStep, at: number): number =>
  Math.floor(at / STEPS[step].lengthMs) * STEPS[step].lengthMs;

const HELD = "sign-on statistics";
/** A paused instance loses the lock after this time. */
const PAUSED_MS = 3000;
const LEAST_ROWS = 100;

/** Adds up the tallies, unless another instance holds the lock. True: more are left. */
export async function addUpTallies(deps: Deps): Promise<boolean> {
  if (!(await hasTallies(deps.storage.db))) return false;
  let isMore = true;
  const addSome = async (limit: number) => {
    const taken = isMore ? await deps.storage.transact((trx) => addUpSome(trx, deps, limit)) : 0;
    isMore = taken === limit;
    return taken;
  };
  return !(await inBatches(deps, addSome, { ...ROUND, leastRows: LEAST_ROWS })).isDone;
}

/**
 * One transaction deletes the tallies and adds them, so a crash loses nothing and counts nothing twice. It adds the
 * parts with their whole, so a part is never more than its whole.
 */
async function addUpSome(trx: Trx, { clock }: Pick<Deps, "clock">, limit: number): Promise<number> {
  if (!(await tryHold(trx, HELD, PAUSED_MS))) return 0;
  const taken = await takeTallies(trx, limit);
  const living = await findLivingStores(trx, [...new Set(taken.map(({ store_id }) => store_id))]);
  const sums = createSums("sign_on_statistics");
  const parts = createSums("sign_on_statistics_parts");
  for (const { store_id, profile_id, key_id, of_members, minute, figures } of taken) {
    if (!living.has(store_id)) continue;
    for (const step of Object.keys(STEPS) as StatisticsStep[]) {
      const starts_at = startOf(step, minute);
      const forget_at = starts_at + STEPS[step].lengthMs + STEPS[step].keptMs;
      // Figures of a step that is no longer kept are left out.
      if (forget_at <= clock.now()) continue;
      const at = { store_id, step, starts_at, forget_at };
      sums.add({ ...at, profile_id }, figures);
      // No application key is a client of the members' realm.
      if (of_members === 1) parts.add({ ...at, kind: "members", part_id: profile_id }, figures);
      else if (key_id !== "") parts.add({ ...at, kind: "key", part_id: key_id }, figures);
    }
  }
  await sums.write(trx);
  await parts.write(trx);
  return taken.length;
}

/** Deleted stores, and stores being deleted, get no figures. */
async function findLivingStores(trx: Trx, storeIds: readonly string[]): Promise<Set<string>> {
  if (storeIds.length === 0) return new Set();
  const rows = await trx
    .selectFrom("stores")
    .select("id")
    .where("id", "in", storeIds)
    .where("deleted_at", "is", null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** A literal, not a parameter: only with a literal does the planner use the partial index. */
const isUncounted = sql<SqlBool>`counted is null`;

/** Counts the records of an earlier release. True: more are left, and none may be deleted before it is counted. */
export async function countUncounted(deps: Deps): Promise<boolean> {
  const { storage } = deps;
  const countSome = async (limit: number) => {
    const some = await storage.db
      .selectFrom("sign_ons")
      .select("id")
      .where(isUncounted)
      .orderBy("id")
      .limit(atMost(limit))
      .execute();
    const ids = some.map(({ id }) => id);
    if (ids.length > 0) await storage.transact((trx) => countThese(trx, ids));
    return ids.length;
  };
  return !(await inBatches(deps, countSome, ROUND)).isDone;
}

async function countThese(trx: Trx, ids: readonly string[]): Promise<void> {
  const some = trx.selectFrom("sign_ons").selectAll().where("id", "in", ids).orderBy("id");
  const rows = await forChange(trx, some).execute();
  const tallies = createTallies();
  // Another instance may have counted a row in between.
  for (const row of rows.filter(({ counted }) => counted === null)) tallies.note(undefined, row);
  await insertTallies(trx, tallies.all());
  await trx.updateTable("sign_ons").set({ counted: 1 }).where("id", "in", ids).execute();
}

/** Parts go after their whole, so a part is never missing from a whole that is there. True: more are left. */
export async function forgetOldStatistics(deps: Deps): Promise<boolean> {
  const now = deps.clock.now();
  return (
    (await deleteOld(deps, "sign_on_statistics", now)) ||
    (await deleteOld(deps, "sign_on_statistics_parts", now))
  );
}
