import { setTimeout as sleep } from "node:timers/promises";

/** Far longer than any step takes on a busy machine: the end of a wait that would not end. */
const PATIENCE_MS = 60_000;

/** Waits for a condition. Returns how many milliseconds it took. */
export async function until(condition: () => unknown, withinMs = PATIENCE_MS): Promise<number> {
  const startedMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedMs > withinMs) throw new Error(`not so within ${withinMs} ms`);
    await sleep(10);
  }
  return performance.now() - startedMs;
}

/** The fastest of some rounds, or the first that is fast enough: a busy machine is slow sometimes, not always. */
export async function quickest(enoughMs: number, round: () => Promise<number>): Promise<number> {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let rounds = 0; rounds < 10 && bestMs > enoughMs; rounds++) bestMs = Math.min(bestMs, await round());
  return bestMs;
}

/**
 * Repeats the call while the database is too busy: a race is not about speed. Surplus calls are refused at once, so
 * each waits a little before the next attempt, as with `Retry-After`.
 */
export async function untilServed<T extends { status: number }>(ask: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  let answer = await ask();
  while (answer.status === 503 && performance.now() - startedMs < PATIENCE_MS) {
    await sleep(20 + Math.random() * 200);
    answer = await ask();
  }
  return answer;
}
