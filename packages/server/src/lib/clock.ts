/**
 * Two clocks. `now()` is the time of day, in milliseconds since 1970: what we write down and promise to others.
 * `monotonicMs()` only ever moves forward, at one speed: what rates and deadlines are measured with.
 */
export type Clock = {
  now(): number;
  monotonicMs(): number;
  /** How far the machine's time of day has moved away from ours: 0 unless somebody set the clock. */
  stepMs(): number;
};

type TimeSource = { wallMs(): number; monotonicMs(): number };

const machine: TimeSource = { wallMs: Date.now, monotonicMs: () => performance.now() };

const NOTICEABLE_STEP_MS = 60_000;
const ADOPT_STEP_AFTER_MS = 5 * 60_000;

/**
 * The time of day, carried forward by the monotonic clock. A machine whose clock jumps by an hour (an operator's
 * slip, a bad time server) would otherwise refuse every token at once. A small step is adopted at once; a large one
 * is reported by `stepMs` (readiness shows it) and adopted only when it has stood for five minutes, so that a laptop
 * that slept, or a clock that was wrong when we started, is believed in the end.
 */
export function steadyClock(source: TimeSource = machine): Clock {
  let offset = source.wallMs() - source.monotonicMs();
  let stepSince: number | undefined;
  let stepOffset = offset;

  function now(): number {
    const monotonic = source.monotonicMs();
    const seen = source.wallMs() - monotonic;
    if (Math.abs(seen - offset) < NOTICEABLE_STEP_MS) {
      offset = seen;
      stepSince = undefined;
    } else if (stepSince === undefined || Math.abs(seen - stepOffset) >= NOTICEABLE_STEP_MS) {
      stepSince = monotonic;
      stepOffset = seen;
    } else if (monotonic - stepSince >= ADOPT_STEP_AFTER_MS) {
      offset = seen;
      stepSince = undefined;
    }
    return Math.round(monotonic + offset);
  }

  return {
    now,
    monotonicMs: source.monotonicMs,
    stepMs() {
      const own = now();
      const step = Math.round(source.wallMs() - own);
      return Math.abs(step) < NOTICEABLE_STEP_MS ? 0 : step;
    },
  };
}

export const toIso = (instantMs: number): string => new Date(instantMs).toISOString();
