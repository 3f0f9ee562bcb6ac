/**
 * Lets so many pieces of work run at once and so many wait for their turn. Those who wait do so in groups, which are
 * served in turn: one that brings a lot makes its own wait, and not the others.
 */
export type WorkQueue = {
  /** `undefined`, at once, when too many are waiting: whoever would come last hears so now, and not after all others. */
  run<T>(group: string, work: () => Promise<T>): Promise<T> | undefined;
};

type Limits = { maxRunning: number; maxWaiting: number; maxWaitingOfGroup?: number };

export function createWorkQueue({
  maxRunning,
  maxWaiting,
  maxWaitingOfGroup = maxWaiting,
}: Limits): WorkQueue {
  /** The group whose turn it is stands first. */
  const groups = new Map<string, (() => void)[]>();
  let running = 0;
  let waiting = 0;

  async function start<T>(work: () => Promise<T>): Promise<T> {
    running++;
    try {
      return await work();
    } finally {
      running--;
      next();
    }
  }

  function next(): void {
    const [turn] = groups;
    if (!turn) return;
    const [group, members] = turn;
    groups.delete(group);
    waiting--;
    const begin = members.shift();
    if (members.length > 0) groups.set(group, members);
    begin?.();
  }

  return {
    run(group, work) {
      if (running < maxRunning) return start(work);
      const members = groups.get(group) ?? [];
      if (waiting >= maxWaiting || members.length >= maxWaitingOfGroup) return undefined;
      groups.set(group, members);
      waiting++;
      return new Promise((resolve) => members.push(() => resolve(start(work))));
    },
  };
}
