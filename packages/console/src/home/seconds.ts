import type { ChartBar } from "../parts/charts/bars.ts";
import type { TimeTick } from "../parts/charts/scale.ts";
import { counted } from "../parts/text/counts.ts";

/** Live requests, second by second. */

type Totals = { asked: readonly number[]; refused: readonly number[] };

/**
 * A bar's place is how long ago its second was, not the second. New figures change the values of the places, so the
 * focus stays where it is.
 */
export const secondsOf = ({ asked, refused }: Totals): ChartBar[] =>
  asked.map((count, at) => {
    const ago = asked.length - at;
    const no = refused[at] ?? 0;
    return {
      from: -ago,
      to: 1 - ago,
      when: `${counted(ago, "second")} ago`,
      values: [count - no, no],
      before: undefined,
      isUnderWay: false,
    };
  });

const APART = 30;

export const secondTicks = (seconds: number): TimeTick[] =>
  Array.from({ length: Math.floor(seconds / APART) }, (_, at) => {
    const ago = (Math.floor(seconds / APART) - at) * APART;
    return { at: -ago, label: `${ago} s ago` };
  });
