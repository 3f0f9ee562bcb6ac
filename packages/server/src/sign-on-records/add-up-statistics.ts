import { type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { deleteOld, ROUND } from "../storage/delete-old.ts";
import { forChange } from "../storage/engine.ts";
import { tryHold } from "../storage/hold.ts";
import { insertRows } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { addFigures, createTallies, type MinuteTally, type SignOnFigures } from "./figures.ts";

/**
 * Figures of sign-ons by minute, hour and day. A record is written together with a tally of what it changes
 * (`sign_on_tallies`), without a lock. One instance at a time adds the tallies up in the background, so a request reads
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

const insertTallyRows = insertRows("sign_on_tallies", ["store_id", "profile_id", "minute", "figures"]);

export const insertTallies = (trx: Trx, tallies: readonly MinuteTally[]): Promise<unknown> =>
  insertTallyRows(
    trx,
    tallies.map((tally) => ({ ...tally, figures: JSON.stringify(tally.figures) })),
  );

const HELD = "sign-on statistics";
/** A paused instance loses the lock after this time. */
const PAUSED_MS = 3000;
const LEAST_ROWS = 100;

/** Adds up the tallies, unless another instance holds the lock. True: more are left. */
export async function addUpTallies(deps: Deps): Promise<boolean> {
  if (!(await findTally.first(deps.storage.db, {}))) return false;
  let isMore = true;
  const addSome = async (limit: number) => {
    const taken = isMore ? await deps.storage.transact((trx) => addUpSome(trx, deps, limit)) : 0;
    isMore = taken === limit;
    return taken;
  };
  return !(await inBatches(deps, addSome, { ...ROUND, leastRows: LEAST_ROWS })).isDone;
}

const findTally = statement((db, _: object) =>
  db.selectFrom("sign_on_tallies").select("position").orderBy("position").limit(atMost(1)),
);

const takeTallies = statement((db, of: { limit: number }) =>
  db
    .deleteFrom("sign_on_tallies")
    .where(
      "position",
      "in",
      db.selectFrom("sign_on_tallies").select("position").orderBy("position").limit(atMost(of.limit)),
    )
    .returningAll(),
);

type StatisticsCell = Omit<Tables["sign_on_statistics"], "figures"> & { figures: SignOnFigures };
const KEY = ["store_id", "step", "starts_at", "profile_id"] as const;

/** One transaction deletes the tallies and adds them, so a crash loses nothing and counts nothing twice. */
async function addUpSome(trx: Trx, { clock }: Pick<Deps, "clock">, limit: number): Promise<number> {
  if (!(await tryHold(trx, HELD, PAUSED_MS))) return 0;
  const taken = await takeTallies.all(trx, { limit });
  const living = await findLivingStores(trx, [...new Set(taken.map((row) => row.store_id))]);
  const cells = new Map<string, StatisticsCell>();
  for (const { store_id, profile_id, minute, figures } of taken.filter((row) => living.has(row.store_id))) {
    const added: SignOnFigures = JSON.parse(figures);
    for (const step of Object.keys(STEPS) as StatisticsStep[]) {
      const starts_at = startOf(step, minute);
      const forget_at = starts_at + STEPS[step].lengthMs + STEPS[step].keptMs;
      // Figures of a step that is no longer kept are left out.
      if (forget_at <= clock.now()) continue;
      const key = { store_id, step, starts_at, profile_id };
      const name = nameOf(key);
      const cell = cells.get(name);
      if (cell) addFigures(cell.figures, added);
      else cells.set(name, { ...key, figures: structuredClone(added), forget_at });
    }
  }
  if (cells.size === 0) return taken.length;
  for (const known of await readCells(trx, [...cells.values()])) {
    const cell = cells.get(nameOf(known));
    if (cell) addFigures(cell.figures, JSON.parse(known.figures));
  }
  await trx
    .insertInto("sign_on_statistics")
    .values([...cells.values()].map((cell) => ({ ...cell, figures: JSON.stringify(cell.figures) })))
    .onConflict((conflict) =>
      conflict.columns(KEY).doUpdateSet(({ ref }) => ({ figures: ref("excluded.figures") })),
    )
    .execute();
  return taken.length;
}

const nameOf = (cell: Pick<StatisticsCell, (typeof KEY)[number]>): string =>
  `${cell.store_id} ${cell.step} ${cell.starts_at} ${cell.profile_id}`;

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

/** Looks up key by key along the index. For a list of keys SQLite would compare each column with all its values. */
async function readCells(
  trx: Trx,
  cells: readonly StatisticsCell[],
): Promise<Tables["sign_on_statistics"][]> {
  const keys = cells.map(
    ({ store_id, step, starts_at, profile_id }) =>
      sql`(${store_id}, ${step}, cast(${starts_at} as bigint), ${profile_id})`,
  );
  const { rows } = await sql<Tables["sign_on_statistics"]>`
    with wanted (store_id, step, starts_at, profile_id) as (values ${sql.join(keys)})
    select known.* from wanted cross join sign_on_statistics as known
    where known.store_id = wanted.store_id and known.step = wanted.step
      and known.starts_at = wanted.starts_at and known.profile_id = wanted.profile_id`.execute(trx);
  return rows;
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

/** True: more are left. */
export const forgetOldStatistics = (deps: Deps): Promise<boolean> =>
  deleteOld(deps, "sign_on_statistics", deps.clock.now());
