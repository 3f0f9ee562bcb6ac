import { type Entry, type Figures, STEP_MS } from "./figures.ts";

/** The counts of sign-ons that the figures add up to. */
type Counts = { signedIn: number; unfinished: number; failed: number };

export type Bar = Counts & {
  from: number;
  to: number;
  /** All sign-ons one period earlier. Undefined: no figures are kept of that time. */
  before: number | undefined;
  isUnderWay: boolean;
};

const NONE: Counts = { signedIn: 0, unfinished: 0, failed: 0 };

const countsOf = ({ outcomes }: Pick<Entry, "outcomes">): Counts => ({
  signedIn: outcomes.exchanged ?? 0,
  unfinished: (outcomes.code_issued ?? 0) + (outcomes.expired ?? 0),
  failed: outcomes.failed ?? 0,
});

const add = (one: Counts, other: Counts): Counts => ({
  signedIn: one.signedIn + other.signedIn,
  unfinished: one.unfinished + other.unfinished,
  failed: one.failed + other.failed,
});

export const totalOf = ({ signedIn, unfinished, failed }: Counts): number => signedIn + unfinished + failed;

export const sumOf = (bars: readonly Counts[]): Counts => bars.reduce(add, NONE);

const MOST_BARS = 62;
/** Steps in a bar: divisors of a day of hours, and weeks of days. */
const STEPS_IN_BAR = { minute: [1], hour: [1, 2, 3, 4, 6, 12, 24], day: [1, 7, 14] } as const;

/** A bar has several steps if there would be too many bars to tell apart. */
export function stepsInBar({ step, from, to }: Pick<Figures, "step" | "from" | "to">): number {
  const steps = (to - from) / STEP_MS[step];
  const fits = STEPS_IN_BAR[step].find((count) => steps / count <= MOST_BARS);
  return fits ?? STEPS_IN_BAR[step].at(-1) ?? 1;
}

/** `id`: of one provider or key alone. Every step is in a bar, also a step without sign-ons. */
export function barsOf(figures: Figures, id?: string): Bar[] {
  const { step, from, to, doneTo, shiftMs, hasBefore } = figures;
  const barMs = stepsInBar(figures) * STEP_MS[step];
  const bars = Array.from({ length: Math.max(0, Math.ceil((to - from) / barMs)) }, (_, at): Bar => {
    const start = from + at * barMs;
    const end = Math.min(to, start + barMs);
    return { ...NONE, from: start, to: end, before: hasBefore ? 0 : undefined, isUnderWay: end > doneTo };
  });
  for (const entry of figures.entries) {
    if (id !== undefined && entry.id !== id) continue;
    const counts = countsOf(entry);
    const bar = bars[Math.floor((entry.at - from) / barMs)];
    if (bar) Object.assign(bar, add(bar, counts));
    const later = entry.at < from ? bars[Math.floor((entry.at + shiftMs - from) / barMs)] : undefined;
    if (later?.before !== undefined) later.before += totalOf(counts);
  }
  return bars;
}

/** All sign-ons of the steps that are over, and of the same steps one period earlier. */
export function comparedOf(figures: Figures, id?: string): { now: number; before: number } | undefined {
  const { from, doneTo, shiftMs, hasBefore } = figures;
  if (!hasBefore || doneTo <= from) return undefined;
  const between = (start: number, end: number) =>
    figures.entries
      .filter((entry) => entry.at >= start && entry.at < end && (id === undefined || entry.id === id))
      .reduce((sum, entry) => sum + totalOf(countsOf(entry)), 0);
  return { now: between(from, doneTo), before: between(from - shiftMs, doneTo - shiftMs) };
}

/** "12 % more than in the 24 hours before" */
export function changeInWords({ now, before }: { now: number; before: number }, beforeName: string): string {
  if (before === 0) return now === 0 ? `None in ${beforeName} either` : `None in ${beforeName}`;
  if (now === before) return `As many as in ${beforeName}`;
  if (now >= 3 * before) return `${times(now / before)} times as many as in ${beforeName}`;
  const percent = (Math.abs(now - before) / before) * 100;
  const word = now > before ? "more" : "fewer";
  if (percent < 0.5) return `Almost as many as in ${beforeName}`;
  const isNearlyAll = now < before && now > 0 && percent > 99;
  return `${isNearlyAll ? "Over 99" : Math.round(percent)} % ${word} than in ${beforeName}`;
}

const times = (factor: number): string =>
  (factor < 10 ? Math.round(factor * 10) / 10 : Math.round(factor)).toLocaleString("en");
