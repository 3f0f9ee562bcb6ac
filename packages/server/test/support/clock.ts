import type { Clock } from "../../src/lib/clock.ts";

/** A clock that the test sets. */
export type HandClock = Clock & { advance(ms: number): void; set(nowMs: number): void };

export function handClock(startMs = Date.parse("2026-01-01T00:00:00.000Z")): HandClock {
  let nowMs = startMs;
  let monotonicMs = 1_000_000;
  return {
    now: () => nowMs,
    monotonicMs: () => monotonicMs,
    stepMs: () => 0,
    advance(ms) {
      nowMs += ms;
      monotonicMs += ms;
    },
    set(ms) {
      nowMs = ms;
    },
  };
}
