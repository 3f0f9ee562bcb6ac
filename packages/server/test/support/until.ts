import { setTimeout as sleep } from "node:timers/promises";

/** Far longer than anything takes on a busy machine: the end of a wait for what never comes. */
const PATIENCE_MS = 60_000;

/** Waits for a condition. Says how many milliseconds it took. */
export async function until(condition: () => unknown, withinMs = PATIENCE_MS): Promise<number> {
  const startedMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedMs > withinMs) throw new Error(`not so within ${withinMs} ms`);
    await sleep(10);
  }
  return performance.now() - startedMs;
}

/** The quickest of some rounds, or the first that is quick enough: a busy machine is slow now and then, not always. */
export async function quickest(enoughMs: number, round: () => Promise<number>): Promise<number> {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let rounds = 0; rounds < 10 && bestMs > enoughMs; rounds++) bestMs = Math.min(bestMs, await round());
  return bestMs;
}

/** Asks again while the database is too busy, as `Retry-After` tells a client to: a race is not about who is quick. */
export async function untilServed<T extends { status: number }>(ask: () => Promise<T>): Promise<T> {
  let answer = await ask();
  for (let tries = 0; answer.status === 503 && tries < 30; tries++) answer = await ask();
  return answer;
}
