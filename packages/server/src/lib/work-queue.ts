import type { Clock } from "./clock.ts";

/**
 * Runs so many pieces of work at once; who finds no place waits, for a bounded time. Waiting work belongs to groups, and a
 * free place goes to the next group in turn, so that one group's backlog delays only that group. As many may wait as can be
 * begun in that time, judged by how long the latest pieces took. When more come, the group with the most waiting gives up
 * its latest: that one would have been begun last, and so waited in vain.
 */
type WorkQueue = {
  /** Rejects with the queue's `refusal` where the work is not begun in time, or nobody wants it any more at its turn. */
  run<T>(group: string, work: () => Promise<T>, isWanted?: () => boolean): Promise<T>;
  waiting(): number;
};

type Options = {
  clock: Pick<Clock, "monotonicMs">;
  atOnce: number;
  waitMs: number;
  /** What a piece of work takes, until some have been seen. */
  eachMs: number;
  refusal(): Error;
};

type Waiter = { sinceMs: number; isWanted(): boolean; begin(): void; refuse(): void };

/** How much the latest piece counts in what a piece is expected to take. */
const LATEST = 1 / 8;

export function createWorkQueue({ clock, atOnce, waitMs, eachMs, refusal }: Options): WorkQueue {
  /** The group whose turn it is stands first. One that has given up its only one is empty until a piece ends. */
  const groups = new Map<string, Waiter[]>();
  let expectedMs = eachMs;
  let running = 0;
  let waiting = 0;

  const mayWait = () => Math.floor(waitMs / Math.max(1, expectedMs)) * atOnce;

  async function start<T>(work: () => Promise<T>): Promise<T> {
    running++;
    const startedMs = clock.monotonicMs();
    try {
      return await work();
    } finally {
      running--;
      const nowMs = clock.monotonicMs();
      expectedMs += (nowMs - startedMs - expectedMs) * LATEST;
      refuseLate(nowMs);
      next();
    }
  }

  /** In each group the first has waited longest. It is looked for when a piece ends, which is often enough, and no timer. */
  function refuseLate(nowMs: number): void {
    for (const [group, members] of groups) {
      const inTime = members.findIndex(({ sinceMs }) => nowMs - sinceMs < waitMs);
      const late = members.splice(0, inTime === -1 ? members.length : inTime);
      waiting -= late.length;
      if (members.length === 0) groups.delete(group);
      for (const { refuse } of late) refuse();
    }
  }

  function next(): void {
    while (running < atOnce) {
      const [turn] = groups;
      if (!turn) return;
      const [group, members] = turn;
      const first = members.shift() as Waiter;
      waiting--;
      // To the end of the round, if more of this group wait.
      groups.delete(group);
      if (members.length > 0) groups.set(group, members);
      if (first.isWanted()) first.begin();
      else first.refuse();
    }
  }

  function giveUpLatest(newest: string): void {
    let most = groups.get(newest) as Waiter[];
    for (const members of groups.values()) if (members.length > most.length) most = members;
    const latest = most.pop() as Waiter;
    waiting--;
    latest.refuse();
  }

  return {
    run(group, work, isWanted = () => true) {
      if (running < atOnce) return start(work);
      return new Promise((resolve, reject) => {
        const members = groups.get(group) ?? [];
        groups.set(group, members);
        members.push({
          sinceMs: clock.monotonicMs(),
          isWanted,
          begin: () => resolve(start(work)),
          refuse: () => reject(refusal()),
        });
        waiting++;
        if (waiting > mayWait()) giveUpLatest(group);
      });
    },
    waiting: () => waiting,
  };
}
