import { onParentLost } from "./parent-lost.ts";

/** In which a balancer can notice that we are not ready any more. */
export const DRAIN_MS = 1500;
export const EXIT_WITHIN_MS = 9500;
/** A signal to the group of processes arrives twice under bin/launch.js, which gets it as well and hands it on. */
const SAME_SIGNAL_MS = 500;

/** The first signal, or the loss of npm, stops in good order; a second signal, half a second later, means now. */
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

/** Begins to stop, and says whether this was the first time. */
export function stopOnce(stop: () => Promise<void>): () => boolean {
  let stopping = false;
  return () => {
    if (stopping) return false;
    stopping = true;
    // Whatever hangs (a database that does not answer) must not keep the process from ending.
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
