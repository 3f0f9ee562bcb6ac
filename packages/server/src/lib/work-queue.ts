/**
 * Runs so many pieces of work at once and lets so many wait. Waiting work belongs to groups, and a free place goes to the
 * next group in turn, so that one group's backlog delays only that group.
 */
type WorkQueue = {
  /** `undefined` immediately when the queue is full, instead of queueing behind everybody. */
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
