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

/** One piece of work at a time for each owner; those of different owners do not wait for each other. */
type TurnsOf = {
  inTurn<T>(owner: string, work: () => Promise<T>): Promise<T>;
  /** How many pieces of an owner's are under way or wait. */
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
