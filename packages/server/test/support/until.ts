import { setTimeout as sleep } from "node:timers/promises";

/** Waits for a condition, and not longer than it may take. */
export async function until(condition: () => unknown, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not so within ${withinMs} ms`);
    await sleep(10);
  }
}
