/** The keys of the simulation, and the figures of their requests. */

/** A key and the requests it makes a second. `isSteady`: never more than `asks` in any second. */
export type Asker = { name: string; reserved: number; asks: number; isSteady: boolean };

export const ASKERS: readonly Asker[] = [
  ...Array.from({ length: 9 }, (_, i) => ({ name: `floor ${i}`, reserved: 30, asks: 27, isSteady: true })),
  { name: "greedy with a floor", reserved: 30, asks: 200, isSteady: false },
  ...Array.from({ length: 5 }, (_, i) => ({ name: `flood ${i}`, reserved: 0, asks: 400, isSteady: false })),
  ...Array.from({ length: 5 }, (_, i) => ({ name: `small ${i}`, reserved: 0, asks: 10, isSteady: true })),
];
export const TOTAL_RESERVED = ASKERS.reduce((sum, { reserved }) => sum + reserved, 0);

export type Tally = {
  /** Requests by second: served, and made. */
  served: number[];
  asked: number[];
  /** Refused requests of keys that made no more requests than their floor allows. */
  floorsRefused: number;
  /**
   * Jain's index by second, among equal keys without a reservation: 1 is equal shares, 1/n is everything for one of n.
   */
  fairness: number[];
  /** The share of served requests of keys with few requests and no reservation. */
  smallServed: number;
  /** The wait for a decision, by second. */
  waitedP99Ms: number[];
  waitedMostMs: number;
};

export function createTally(seconds: number) {
  const zeros = () => new Array<number>(seconds).fill(0);
  const [served, asked] = [zeros(), zeros()];
  const floods = ASKERS.filter(({ name }) => name.startsWith("flood"));
  const byFlood = new Map(floods.map(({ name }) => [name, zeros()]));
  const small = { asked: 0, served: 0 };
  const waited: number[][] = Array.from({ length: seconds }, () => []);
  let floorsRefused = 0;
  let waitedMostMs = 0;
  return {
    note(asker: Asker, atMs: number, decidedMs: number, isServed: boolean): void {
      const second = Math.floor(atMs / 1000);
      const add = (counts: number[] | undefined) => {
        if (counts) counts[second] = (counts[second] as number) + 1;
      };
      add(asked);
      waited[second]?.push(decidedMs - atMs);
      waitedMostMs = Math.max(waitedMostMs, decidedMs - atMs);
      if (asker.name.startsWith("small")) small.asked++;
      if (!isServed && asker.isSteady && asker.reserved > 0) floorsRefused++;
      if (!isServed) return;
      add(served);
      add(byFlood.get(asker.name));
      if (asker.name.startsWith("small")) small.served++;
    },
    end: (): Tally => ({
      served,
      asked,
      floorsRefused,
      fairness: served.map((_, second) =>
        jain([...byFlood.values()].map((counts) => counts[second] as number)),
      ),
      smallServed: small.served / small.asked,
      waitedP99Ms: waited.map((times) => quantile(times, 0.99)),
      waitedMostMs,
    }),
  };
}

/** Jain's fairness index. */
function jain(values: number[]): number {
  const sum = values.reduce((all, value) => all + value, 0);
  const squares = values.reduce((all, value) => all + value * value, 0);
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}

const quantile = (values: number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0;
