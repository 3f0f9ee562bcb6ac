import { type Admin, ApiError, type SignOnStatistics, type SignOnStatisticsByKey } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useAdmin } from "../session/session.ts";
import type { Period, Step } from "./period.ts";

/** Figures of shoppers' sign-ons in one step, at one provider or by one key. */
export type Entry = {
  at: number;
  /** The profile or the key; null if it was not known. */
  id: string | null;
  outcomes: Record<string, number>;
  idpMs: { p50: number | null; p95: number | null };
};

/** The figures of a period and, `shiftMs` earlier, of the time before. */
export type Figures = {
  step: Step;
  from: number;
  to: number;
  /** The end of the last step that is over. */
  doneTo: number;
  shiftMs: number;
  /** Undefined: the service keeps no figures of the time before. */
  hasBefore: boolean;
  /** Figures of this step are kept from here on. */
  keptFrom: number;
  entries: readonly Entry[];
};

export type Grouping = "profile" | "key";

export const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

type Read = (
  admin: Pick<Admin, "signOns">,
  period: Period,
  grouping: Grouping,
  nowMs: number,
) => Promise<Figures>;

/** A single request reads the period and the time before it, so both are read at the same moment. */
export const readFigures: Read = async ({ signOns }, period, grouping, nowMs) => {
  const { step } = period;
  const stepMs = STEP_MS[step];
  const ask = (from: number, to?: number): Promise<SignOnStatistics | SignOnStatisticsByKey> =>
    signOns.statistics({
      step,
      group: grouping,
      from: new Date(from).toISOString(),
      ...(to !== undefined && { to: new Date(to).toISOString() }),
    });
  if (period.id === "dates") {
    const shiftMs = period.to - period.from;
    // Not into the future: the steps there would be empty.
    const to = Math.min(period.to, Math.ceil((nowMs + 1) / stepMs) * stepMs);
    const answer = await ask(period.from - shiftMs, to).catch((error) => {
      if (!isUnfit(error)) throw error;
      return ask(period.from, to);
    });
    const doneTo = Math.min(to, Math.floor(nowMs / stepMs) * stepMs);
    return figuresOf(answer, { from: period.from, doneTo, shiftMs });
  }
  const { lengthMs } = period;
  const end = Math.ceil((nowMs + 1) / stepMs) * stepMs;
  const first = await ask(end - 2 * lengthMs).catch((error) => {
    if (!isUnfit(error)) throw error;
    return signOns.statistics({ step, group: grouping });
  });
  // The reader's clock may be wrong; the answer has the end of the service's current step.
  const to = Date.parse(first.meta.to);
  const isRight = Date.parse(first.meta.from) === to - 2 * lengthMs;
  const answer = isRight ? first : await ask(to - 2 * lengthMs).catch(() => ask(to - lengthMs));
  return figuresOf(answer, { from: to - lengthMs, doneTo: to - stepMs, shiftMs: lengthMs });
};

const isUnfit = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "statistics_range_unfit";

function figuresOf(
  { data, meta }: SignOnStatistics | SignOnStatisticsByKey,
  { from, doneTo, shiftMs }: Pick<Figures, "from" | "doneTo" | "shiftMs">,
): Figures {
  const keptFrom = Date.parse(meta.kept_from);
  const stepMs = STEP_MS[meta.step];
  // The service rounds down to a step; a zone with a quarter of an hour begins its days within one.
  const start = Math.floor(from / stepMs) * stepMs;
  const readFrom = Date.parse(meta.from);
  return {
    step: meta.step,
    from: start,
    to: Date.parse(meta.to),
    doneTo,
    shiftMs,
    hasBefore: readFrom < start && keptFrom <= start - shiftMs,
    keptFrom,
    entries: data.map((entry) => ({
      at: Date.parse(entry.from),
      id: "key_id" in entry ? entry.key_id : entry.profile_id,
      outcomes: entry.outcomes,
      idpMs: entry.idp_ms,
    })),
  };
}

export function useFigures(period: Period, grouping: Grouping) {
  const admin = useAdmin();
  const { id, step } = period;
  const place = period.id === "dates" ? [period.from, period.to] : [];
  return useQuery({
    queryKey: ["sign-ons", "figures", id, step, ...place, grouping],
    queryFn: () => readFigures(admin, period, grouping, Date.now()),
    refetchInterval: 10_000,
  });
}
