/** So many pieces of work at a time; the others wait in the order in which they came, for as long as it takes. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns(places: number): Turns {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A place goes straight to who waits for it, so that nobody who comes now is served before.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
