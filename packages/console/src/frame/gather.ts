/**
 * Hands over what was noted, each thing once: the first at once, and what comes meanwhile together, when that is dealt with and a rest is
 * over. A busy store has more events than screens can ask questions, and each question takes from the store's limit. The rest is told how
 * long the dealing took: one that was long, as a hundred pages of keys are, is worth a longer one.
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
