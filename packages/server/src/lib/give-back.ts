import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock } from "./clock.ts";

/**
 * V8 keeps the room that its heap has grown into and collects when there is too little of it, so that a service that was busy,
 * or has just started, holds twice what it needs for as long as it is idle. Here the heap is collected in the way that gives
 * room back to the operating system. That stops the process for some 50 ms, so it is done when the event loop has had
 * next to nothing to do, at most once a minute, and only when the heap has grown by half since the last time.
 */
type GiveBack = { look(): void };

type Deps = {
  clock: Pick<Clock, "monotonicMs">;
  /** The part of the time since it was last asked in which the event loop was busy. */
  busyShare?: () => number;
  heapBytes?: () => number;
  collect?: () => void;
};

const IDLE_SHARE = 0.02;
const EVERY_MS = 60_000;
const GROWN = 1.5;
const LOOK_EVERY_MS = 5000;

export function createGiveBack({
  clock,
  busyShare = measureBusyShare(),
  heapBytes = () => getHeapStatistics().total_heap_size,
  collect = collectAll,
}: Deps): GiveBack {
  let last: { atMs: number; bytes: number } | undefined;
  return {
    look() {
      // Asked each time, because it measures from the time before.
      if (busyShare() > IDLE_SHARE) return;
      if (last && (clock.monotonicMs() - last.atMs < EVERY_MS || heapBytes() < last.bytes * GROWN)) return;
      collect();
      last = { atMs: clock.monotonicMs(), bytes: heapBytes() };
    },
  };
}

/** Looks every five seconds, for as long as the process lives. */
export function giveBackWhenIdle(deps: Deps): void {
  setInterval(createGiveBack(deps).look, LOOK_EVERY_MS).unref();
}

function measureBusyShare(): () => number {
  let since = performance.eventLoopUtilization();
  return () => {
    const until = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(until, since);
    since = until;
    return utilization;
  };
}

/** `gc` is there for contexts that are made after the flag is set. No other flavor makes V8 shrink its young generation. */
function collectAll(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")({ type: "major", flavor: "last-resort" });
}
