/**
 * Keeps results computed from a text, for results that never become wrong, such as the claims of a signed token. Two
 * generations: when the young one is full, the old one is dropped, and entries in use move over.
 */
export type Memo<T> = {
  get(text: string): T | undefined;
  keep(text: string, value: T): void;
  size(): number;
};

export function createMemo<T>(maxEntries: number): Memo<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();

  function keep(text: string, value: T): void {
    if (young.size >= maxEntries / 2) {
      old = young;
      young = new Map();
    }
    young.set(text, value);
  }

  return {
    keep,
    get(text) {
      const known = young.get(text);
      if (known !== undefined) return known;
      const older = old.get(text);
      if (older !== undefined) keep(text, older);
      return older;
    },
    size: () => young.size + old.size,
  };
}
