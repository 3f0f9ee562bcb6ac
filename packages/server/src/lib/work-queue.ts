import type { Clock } from "./clock.ts";

/**
 * Runs a number of tasks at once; further tasks wait for a bounded time. Waiting tasks belong to groups, and a free
 * place goes to the groups in turn, so a backlog delays only its own group. The number that may wait is what can begin
 * in that time, judged by the duration of recent tasks. Beyond it, the group with the most waiting tasks loses its
 * latest, which would have begun last. Unlike fair-places.ts, which keeps places free for sources that come later, one
 * group may use all places: tasks end soon, while a place at a provider may be held for long.
 */
type WorkQueue = {
  /** Rejects with `refusal` when the task does not begin in time, or is no longer wanted at its turn. */
  run<T>(group: string, work: () => Promise<T>, isWanted?: () => boolean): Promise<T>;
  waiting(): number;
};

type Options = {
  clock: Pick<Clock, "monotonicMs">;
  atOnce: number;
  waitMs: number;
  /** The expected duration of a task until some have run. */
  eachMs: number;
  refusal(): Error;
};

type WaitingTask = { sinceMs: number; isWanted(): boolean; begin(): void; refuse(): void };

/** The weight of the latest task in the expected duration. */
const LATEST = 1 / 8;

export function createWorkQueue({ clock, atOnce, waitMs, eachMs, refusal }: Options): WorkQueue {
  /** The next group comes first. A group that gave up its only task stays empty until a task ends. */
  const groups = new Map<string, WaitingTask[]>();
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

  /**
   * The first task of each group has waited longest. Checked when a task ends, which is often enough to need no timer.
   */
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
      const first = members.shift() as WaitingTask;
      waiting--;
      // A group with more waiting tasks moves to the end of the round.
      groups.delete(group);
      if (members.length > 0) groups.set(group, members);
      if (first.isWanted()) first.begin();
      else first.refuse();
    }
  }

  function giveUpLatest(newest: string): void {
    let most = groups.get(newest) as WaitingTask[];
    for (const members of groups.values()) if (members.length > most.length) most = members;
    const latest = most.pop() as WaitingTask;
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
