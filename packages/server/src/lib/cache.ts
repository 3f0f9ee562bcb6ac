/**
 * Data of a store, kept in memory until the store changes. Entries live in groups, one per store, and a change drops
 * the whole group. The result of a load during which its group was dropped is returned but not kept, because it may be
 * older than the change.
 */
export type GroupCache<T> = {
  get(group: string, key: string): T | undefined;
  getOrLoad(group: string, key: string, load: () => Promise<T>): Promise<T>;
  drop(group: string): void;
  dropAll(): void;
  size(): number;
};

export function createGroupCache<T>(
  maxEntries: number,
  isKept: (value: T) => boolean = () => true,
): GroupCache<T> {
  const groups = new Map<string, Map<string, T>>();
  const loading = new Map<string, Map<string, Promise<T>>>();
  let entries = 0;

  function drop(group: string): void {
    loading.delete(group);
    entries -= groups.get(group)?.size ?? 0;
    groups.delete(group);
  }

  function keep(group: string, key: string, value: T): void {
    if (entries >= maxEntries) {
      // Evicts the oldest group as a whole, which is cheap and bounded. It is loaded again on next use.
      const oldest = groups.keys().next().value;
      if (oldest !== undefined) drop(oldest);
    }
    const members = groups.get(group) ?? new Map<string, T>();
    groups.set(group, members);
    if (!members.has(key)) entries++;
    members.set(key, value);
  }

  function startLoading(group: string, key: string, load: () => Promise<T>): Promise<T> {
    const ofGroup = loading.get(group) ?? new Map<string, Promise<T>>();
    loading.set(group, ofGroup);
    /** Whether the group was not dropped since. */
    const isCurrent = () => loading.get(group)?.get(key) === loaded;
    const loaded: Promise<T> = load()
      .then((value) => {
        if (isCurrent() && isKept(value)) keep(group, key, value);
        return value;
      })
      .finally(() => {
        if (isCurrent()) loading.get(group)?.delete(key);
        if (loading.get(group)?.size === 0) loading.delete(group);
      });
    ofGroup.set(key, loaded);
    return loaded;
  }

  return {
    get: (group, key) => groups.get(group)?.get(key),
    getOrLoad(group, key, load) {
      const known = groups.get(group)?.get(key);
      if (known !== undefined) return Promise.resolve(known);
      return loading.get(group)?.get(key) ?? startLoading(group, key, load);
    },
    drop,
    dropAll() {
      loading.clear();
      groups.clear();
      entries = 0;
    },
    size: () => entries,
  };
}
