/** Lets so many pieces of work run at once and so many wait for their turn, first come, first served. */
export type WorkQueue = {
  /** `undefined`, at once, when too many are waiting: whoever would come last hears so now, and not after all others. */
  run<T>(work: () => Promise<T>): Promise<T> | undefined;
};

export function createWorkQueue({
  maxRunning,
  maxWaiting,
}: {
  maxRunning: number;
  maxWaiting: number;
}): WorkQueue {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function start<T>(work: () => Promise<T>): Promise<T> {
    running++;
    try {
      return await work();
    } finally {
      running--;
      waiting.shift()?.();
    }
  }

  return {
    run(work) {
      if (running < maxRunning) return start(work);
      if (waiting.length >= maxWaiting) return undefined;
      return new Promise((resolve) => waiting.push(() => resolve(start(work))));
    },
  };
}
