/** A value that was measured in several rounds: the median, the lowest and the highest round. */
export type Figure = { median: number; low: number; high: number };

/** The median of an even number of rounds is the mean of the two in the middle. */
export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
  return { median, low: sorted[0] as number, high: sorted.at(-1) as number };
}

/** `part` is from 0 up to, but not including, 1: 0.99 gives p99. */
export const quantileOf = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] as number;

/** The order of round `round`: each contestant begins a round in turn, because later ones may find warmer caches. */
export function inTurn<T>(all: readonly T[], round: number): T[] {
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}
