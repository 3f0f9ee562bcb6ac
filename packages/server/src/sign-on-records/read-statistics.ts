import { limits } from "../contract/limits.ts";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/sign-ons.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";
import { STEPS, type StatisticsStep, startOf } from "./add-up-statistics.ts";
import { dropNegative, percentile } from "./figures.ts";
import { type GroupSum, readByKey, readByProfile, type SumsRange } from "./read-sums.ts";

type StatisticsQuery = Input<typeof contract.getSignOnStatistics>["query"];
type Statistics = Output<typeof contract.getSignOnStatistics>;

/** The range without `from`. */
const USUAL_STEPS = 60;

/** Reads ready sums. The cost depends on the number of steps, profiles and keys, not of sign-ons. */
export async function readStatistics(
  { storage, clock }: { storage: Storage; clock: Clock },
  storeId: string,
  { step, from, to = clock.now() + 1, purpose, group }: StatisticsQuery,
): Promise<Statistics> {
  const { lengthMs, keptMs } = STEPS[step];
  const range = toRange(step, from ?? to - USUAL_STEPS * lengthMs, to);
  const keptFrom = toIso(startOf(step, clock.now() - keptMs));
  const meta = { step, from: toIso(range.from), to: toIso(range.to), kept_from: keptFrom };
  const of: SumsRange = {
    storeId,
    step,
    purpose,
    ...range,
    mostRows: limits.statisticsRows,
    onMoreRows: () => unfit(`This range has more than ${limits.statisticsRows} figures`, step),
  };
  if (group === "key") {
    const data = await entriesOf(readByKey(storage.db, of), (key_id) => ({ key_id }));
    return { data, meta };
  }
  const data = await entriesOf(readByProfile(storage.db, of), (profile_id) => ({ profile_id }));
  return { data, meta };
}

/** Leaves out a group without sign-ons: its only sign-on has moved to another step or group. */
async function entriesOf<T>(sums: AsyncIterable<GroupSum>, named: (id: string | null) => T) {
  const entries = [];
  for await (const { startsAt, groupId, figures } of sums) {
    const { outcomes, reasons, idpMs } = dropNegative(figures);
    if (Object.keys(outcomes).length === 0) continue;
    const idp_ms = { p50: percentile(idpMs, 0.5), p95: percentile(idpMs, 0.95) };
    entries.push({
      from: toIso(startsAt),
      ...named(groupId === "" ? null : groupId),
      outcomes,
      reasons,
      idp_ms,
    });
  }
  return entries;
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
