import { type Admin, ApiError, type SignOnStatistics } from "@latchkey/sdk/admin";
import { useSearchParams } from "wouter";

/**
 * The time range of a chart. The URL contains the range, so that the URL shows the same chart to another
 * person.
 */
export const RANGES = {
  hour: { label: "last hour", step: "minute", ms: 3_600_000 },
  day: { label: "last 24 hours", step: "hour", ms: 86_400_000 },
  week: { label: "last 7 days", step: "hour", ms: 604_800_000 },
  month: { label: "last 30 days", step: "day", ms: 2_592_000_000 },
} as const;

export type Range = keyof typeof RANGES;

export function useRange(): [Range, (range: string) => void] {
  const [search, setSearch] = useSearchParams();
  const asked = search.get("range") ?? "";
  const range = Object.hasOwn(RANGES, asked) ? (asked as Range) : "day";
  return [range, (next) => setSearch({ range: next }, { replace: true })];
}

export async function readStatistics(
  { signOns }: Pick<Admin, "signOns">,
  range: Range,
  purpose: "customers" | "members" = "customers",
): Promise<SignOnStatistics> {
  const { step, ms } = RANGES[range];
  const before = (nowMs: number) =>
    signOns.statistics({ step, purpose, from: new Date(nowMs - ms).toISOString() });
  const answer = await before(Date.now()).catch((error) => {
    if (!(error instanceof ApiError && error.code === "statistics_range_unfit")) throw error;
    return signOns.statistics({ step, purpose });
  });
  // The local clock may be wrong; the answer has the service's time. Ranges are rounded to a step, which is
  // less than a twentieth.
  const toMs = Date.parse(answer.meta.to);
  const isOff = Math.abs(toMs - Date.parse(answer.meta.from) - ms) > ms / 20;
  return isOff ? before(toMs) : answer;
}
