import { performance } from "node:perf_hooks";
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * V8 keeps the room that its heap has grown into and collects when there is too little of it, so that a service that was busy,
 * or has just started, holds twice what it needs for as long as it is idle. Here the heap is collected in the way that gives
 * room back to the operating system. That stops the process, for longer the more there is to keep (23 ms for a service that has
 * just started, 95 with 20,000 tokens in memory, 700 with 200,000), and drops compiled code, so that the next thousand requests cost two
 * or three times as much. So it is done when the event loop has had next to nothing to do for half a minute (after the start,
 * when little is compiled yet: for five seconds), when the heap has grown by half since the last time, and never above 48 MB of
 * what has been kept for long.
 */
type GiveBack = { look(): void };

type Process = {
  /** The part of the time since it was last asked in which the event loop was busy. */
  busyShare?: () => number;
  heapBytes?: () => number;
  /** What has outlived several collections, and takes the longest to go through. */
  keptBytes?: () => number;
  collect?: () => void;
};

const IDLE_SHARE = 0.02;
const GROWN = 1.5;
const MAX_KEPT_BYTES = 48 * 1024 * 1024;
const LOOK_EVERY_MS = 5000;
const IDLE_LOOKS = 6;

export function createGiveBack({
  busyShare = measureBusyShare(),
  heapBytes = () => getHeapStatistics().total_heap_size,
  keptBytes = measureKept,
  collect = collectAll,
}: Process = {}): GiveBack {
  let idleLooks = 0;
  let leftBytes: number | undefined;
  return {
    look() {
      idleLooks = busyShare() > IDLE_SHARE ? 0 : idleLooks + 1;
      const isDue = leftBytes === undefined ? idleLooks > 0 : idleLooks >= IDLE_LOOKS;
      if (!isDue || heapBytes() < (leftBytes ?? 0) * GROWN || keptBytes() > MAX_KEPT_BYTES) return;
      collect();
      leftBytes = heapBytes();
      idleLooks = 0;
    },
  };
}

/** Looks every five seconds, for as long as the process lives. */
export function giveBackWhenIdle(): void {
  setInterval(createGiveBack().look, LOOK_EVERY_MS).unref();
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

const measureKept = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;

/** `gc` is there for contexts that are made after the flag is set. No other flavor makes V8 shrink its young generation. */
function collectAll(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")({ type: "major", flavor: "last-resort" });
}
