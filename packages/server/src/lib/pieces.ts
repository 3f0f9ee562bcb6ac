/**
 * Calls `end` when the pieces end, fail, or their reader has gone. Unlike that of a generator, `return` does not wait
 * for the piece under way, and works before the first piece.
 */
export function withEnd(
  pieces: AsyncGenerator<string, void>,
  end: () => void,
): AsyncIterableIterator<string> {
  const all: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => all,
    next: async () => {
      try {
        const piece = await pieces.next();
        if (piece.done) end();
        return piece;
      } catch (error) {
        end();
        throw error;
      }
    },
    return: async () => {
      end();
      return { done: true, value: undefined };
    },
  };
  return all;
}
