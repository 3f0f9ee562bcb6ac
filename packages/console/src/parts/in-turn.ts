/** Runs at most `most` of the given works at once; the others wait their turn. */
export function inTurn(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      // The place goes to the next work in line, or is free.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
