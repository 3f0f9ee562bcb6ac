import { onParentLost } from "./parent-lost.ts";

/** Time for load balancers to notice that the instance is not ready. */
export const DRAIN_MS = 1500;
export const EXIT_WITHIN_MS = 9500;
/**
 * Under bin/launch.js a signal to the process group arrives twice, because launch.js receives it as well and passes it
 * on.
 */
const SAME_SIGNAL_MS = 500;

/**
 * The first signal, or the loss of npm, stops in order. A second signal, half a second later, ends the process at once.
 */
export function stopOnSignal(stop: () => Promise<void>, now: () => void = () => {}): void {
  const begin = stopOnce(stop);
  let firstMs = 0;
  const onSignal = () => {
    if (begin()) firstMs = performance.now();
    if (performance.now() - firstMs < SAME_SIGNAL_MS) return;
    now();
    process.exit(1);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  onParentLost(process.env, begin);
}

/** Begins to stop. Returns whether this was the first call. */
export function stopOnce(stop: () => Promise<void>): () => boolean {
  let stopping = false;
  return () => {
    if (stopping) return false;
    stopping = true;
    // A blocked part, such as a database without an answer, must not keep the process from ending.
    setTimeout(() => process.exit(1), EXIT_WITHIN_MS).unref();
    stop().then(
      () => process.exit(0),
      (error) => {
        console.error("latchkey: stopping failed:", error);
        process.exit(1);
      },
    );
    return true;
  };
}
