/** Runs at most `max` pieces of work of one kind at once; one more is not run, and `undefined` comes back immediately. */
export type InFlight = { run<T>(kind: string, work: () => Promise<T>): Promise<T> | undefined };

export function createInFlight(max: number): InFlight {
  const running = new Map<string, number>();
  return {
    run(kind, work) {
      const count = running.get(kind) ?? 0;
      if (count >= max) return undefined;
      running.set(kind, count + 1);
      return work().finally(() => {
        const left = (running.get(kind) ?? 1) - 1;
        if (left === 0) running.delete(kind);
        else running.set(kind, left);
      });
    },
  };
}
