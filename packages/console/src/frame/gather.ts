/**
 * Hands over what was noted, each thing once: the first at once, and what comes meanwhile together, when that is dealt with and a rest is
 * over. A busy store has more events than screens can ask questions, and each question takes from the store's limit.
 */
export function gather<T>(
  deal: (noted: readonly T[]) => Promise<unknown>,
  rest: () => Promise<unknown>,
): (one: T) => void {
  const waiting = new Set<T>();
  let isAtIt = false;
  async function work(): Promise<void> {
    isAtIt = true;
    while (waiting.size > 0) {
      const noted = [...waiting];
      waiting.clear();
      await deal(noted);
      await rest();
    }
    isAtIt = false;
  }
  return (one) => {
    waiting.add(one);
    if (!isAtIt) void work();
  };
}
