/** Runs a number of tasks at once; the others wait in order, without a time limit. */
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
      // The place passes to the first in the queue without becoming free, so a newcomer cannot take it.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

/** Runs one task at a time for each owner; different owners do not wait for each other. */
type TurnsOf = {
  inTurn<T>(owner: string, work: () => Promise<T>): Promise<T>;
  /** The number of an owner's tasks that run or wait. */
  count(owner: string): number;
};

export function createTurnsOf(): TurnsOf {
  const owners = new Map<string, { inTurn: Turns; count: number }>();
  return {
    async inTurn(owner, work) {
      const turns = owners.get(owner) ?? { inTurn: createTurns(1), count: 0 };
      owners.set(owner, turns);
      turns.count++;
      try {
        return await turns.inTurn(work);
      } finally {
        if (--turns.count === 0) owners.delete(owner);
      }
    },
    count: (owner) => owners.get(owner)?.count ?? 0,
  };
}
