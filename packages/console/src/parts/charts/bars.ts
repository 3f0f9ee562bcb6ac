import type { TimeTick } from "./scale.ts";

/** The bars of a chart, and what they say. */

/** A part of every bar, such as the sign-ons that failed. The first part is at the bottom. */
export type ChartPart = { key: "good" | "middling" | "bad"; label: string };

export type ChartBar = {
  from: number;
  to: number;
  /** The bar's time in words. */
  when: string;
  values: readonly number[];
  /** The total one period earlier; undefined where no figures are kept. */
  before: number | undefined;
  /** The time is not over. */
  isUnderWay: boolean;
  /** Opens the bar's entries. Undefined: nothing lists them. */
  href?: string;
  /** Opens the entries of each part. Undefined: the parts are no stops of the arrow keys. */
  partHrefs?: readonly string[];
};

export type ChartProps = {
  /** Names the list of bars. */
  name: string;
  /** The whole chart in a sentence. */
  summary: string;
  parts: readonly ChartPart[];
  bars: readonly ChartBar[];
  ticks: readonly TimeTick[];
  /** Names the earlier period, such as "the 24 hours before". Undefined: the chart compares nothing. */
  beforeName?: string | undefined;
  /** A dashed line. */
  limit?: number | undefined;
  /** The chart is lower, to fit beside others. */
  isLow?: boolean;
};

export const sumOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** A bar's values in a sentence. */
export function wordsOf(
  bar: ChartBar,
  { parts, beforeName }: Pick<ChartProps, "parts" | "beforeName">,
): string {
  const counts = parts.map(({ label }, at) => `${(bar.values[at] ?? 0).toLocaleString("en")} ${label}`);
  const before = bar.before === undefined ? "" : `. In ${beforeName}: ${bar.before.toLocaleString("en")}`;
  return `${bar.when}${bar.isUnderWay ? ", so far" : ""}: ${counts.join(", ")}${before}`;
}
