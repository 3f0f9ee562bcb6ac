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
      // The place is handed to the first in the queue without becoming free, so that a newcomer cannot take it first.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
