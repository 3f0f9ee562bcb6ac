/**
 * Passes noted values on without duplicates: the first at once, later ones together when the handler has
 * finished and a pause is over. A busy store has more events than screens can send requests, and each request
 * counts against the store's limit. `rest` gets the handler's duration, so that the pause after a long
 * handler is longer.
 */
export function gather<T>(
  deal: (noted: readonly T[]) => Promise<unknown>,
  rest: (tookMs: number) => Promise<unknown>,
  nowMs = () => performance.now(),
): (one: T) => void {
  const waiting = new Set<T>();
  let isAtIt = false;
  async function work(): Promise<void> {
    isAtIt = true;
    while (waiting.size > 0) {
      const noted = [...waiting];
      waiting.clear();
      const beganMs = nowMs();
      await deal(noted);
      await rest(nowMs() - beganMs);
    }
    isAtIt = false;
  }
  return (one) => {
    waiting.add(one);
    if (!isAtIt) void work();
  };
}
