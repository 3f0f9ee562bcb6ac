import { setImmediate } from "node:timers/promises";
import { type SqlBool, sql } from "kysely";
import { limits } from "../contract/limits.ts";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/sign-ons.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { STEPS, type StatisticsStep, startOf } from "./add-up-statistics.ts";
import { percentile, type SignOnFigures } from "./figures.ts";

type StatisticsQuery = Input<typeof contract.getSignOnStatistics>["query"];
type Statistics = Output<typeof contract.getSignOnStatistics>;

/** The range without `from`. */
const USUAL_STEPS = 60;

/** Reads ready sums. The cost depends on the number of steps and profiles, not of sign-ons. */
export async function readStatistics(
  { storage, clock }: { storage: Storage; clock: Clock },
  storeId: string,
  { step, from, to = clock.now() + 1 }: StatisticsQuery,
): Promise<Statistics> {
  const { lengthMs, keptMs } = STEPS[step];
  const range = toRange(step, from ?? to - USUAL_STEPS * lengthMs, to);
  const data: Statistics["data"] = [];
  for await (const row of readCells(storage, { storeId, step, ...range })) {
    const figures: SignOnFigures = JSON.parse(row.figures);
    // Empty: its only sign-on has moved to another step, when the time of its beginning was known.
    if (Object.keys(figures.outcomes).length === 0) continue;
    if (data.length === limits.statisticsRows)
      throw unfit(`This range has more than ${limits.statisticsRows} figures`, step);
    data.push({
      from: toIso(row.starts_at),
      profile_id: row.profile_id === "" ? null : row.profile_id,
      outcomes: figures.outcomes,
      reasons: figures.reasons,
      idp_ms: { p50: percentile(figures.idpMs, 0.5), p95: percentile(figures.idpMs, 0.95) },
    });
  }
  const keptFrom = toIso(startOf(step, clock.now() - keptMs));
  return { data, meta: { step, from: toIso(range.from), to: toIso(range.to), kept_from: keptFrom } };
}

type StatisticsRange = { from: number; to: number };

function toRange(step: StatisticsStep, from: number, to: number): StatisticsRange {
  if (from >= to) {
    const detail = "`from` does not come before `to`. Exchange them, or ask for a later `to`.";
    throw new Problem("statistics_range_unfit", { detail, source: { parameter: "from" } });
  }
  const { lengthMs } = STEPS[step];
  const first = startOf(step, from);
  const steps = Math.ceil((to - first) / lengthMs);
  if (steps > limits.statisticsSteps)
    throw unfit(`This range has ${steps} steps; at most ${limits.statisticsSteps} are answered`, step);
  return { from: first, to: first + steps * lengthMs };
}

function unfit(what: string, step: StatisticsStep): Problem {
  const longer = { minute: "`step=hour` or ", hour: "`step=day` or ", day: "" }[step];
  const detail = `${what}. Ask for ${longer}a shorter range.`;
  return new Problem("statistics_range_unfit", { detail, source: { parameter: "step" } });
}

/** Rows per statement. SQLite blocks the event loop while a statement runs. */
const SLICE = 1000;

type Slice = StatisticsRange & { storeId: string; step: string; profileId: string };

async function* readCells({ db }: Storage, of: Omit<Slice, "profileId">) {
  let [from, profileId] = [of.from, ""];
  for (let isFirst = true; ; isFirst = false) {
    const rows = await (isFirst ? readFirst : readNext).all(db, { ...of, from, profileId });
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < SLICE) return;
    [from, profileId] = [last.starts_at, last.profile_id];
    await setImmediate();
  }
}

const cellsOf = (isFirst: boolean) =>
  statement(
    (db, of: Slice) =>
      db
        .selectFrom("sign_on_statistics")
        .select(["starts_at", "profile_id", "figures"])
        .where("store_id", "=", of.storeId)
        .where("step", "=", of.step)
        .where(
          isFirst
            ? sql<SqlBool>`starts_at >= ${of.from}`
            : sql<SqlBool>`(starts_at, profile_id) > (${of.from}, ${of.profileId})`,
        )
        .where("starts_at", "<", of.to)
        .orderBy("starts_at")
        .orderBy("profile_id")
        .limit(atMost(SLICE)),
    { isNamed: false },
  );

const [readFirst, readNext] = [cellsOf(true), cellsOf(false)];
