/**
 * What we know of a store, kept in memory until the store changes. Entries live in groups (one a store), and a change
 * drops the whole group. A load that was under way when its group was dropped is answered but not kept: it may have
 * read what is no longer so.
 */
export type GroupCache<T> = {
  get(group: string, key: string): T | undefined;
  getOrLoad(group: string, key: string, load: () => Promise<T>): Promise<T>;
  drop(group: string): void;
  dropAll(): void;
  size(): number;
};

export function createGroupCache<T>(maxEntries: number): GroupCache<T> {
  const groups = new Map<string, Map<string, T>>();
  const loading = new Map<string, Promise<T>>();
  let entries = 0;
  let generation = 0;

  function drop(group: string): void {
    generation++;
    loading.clear();
    entries -= groups.get(group)?.size ?? 0;
    groups.delete(group);
  }

  function keep(group: string, key: string, value: T): void {
    if (entries >= maxEntries) {
      // The group that was filled first goes as a whole: cheap, bounded, and it is reloaded if anybody still uses it.
      const oldest = groups.keys().next().value;
      if (oldest !== undefined) drop(oldest);
    }
    let members = groups.get(group);
    if (!members) {
      members = new Map();
      groups.set(group, members);
    }
    if (!members.has(key)) entries++;
    members.set(key, value);
  }

  return {
    get: (group, key) => groups.get(group)?.get(key),
    getOrLoad(group, key, load) {
      const known = groups.get(group)?.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const name = `${group}/${key}`;
      const underWay = loading.get(name);
      if (underWay) return underWay;
      const startedIn = generation;
      const loaded = load()
        .then((value) => {
          if (generation === startedIn) keep(group, key, value);
          return value;
        })
        .finally(() => {
          if (loading.get(name) === loaded) loading.delete(name);
        });
      loading.set(name, loaded);
      return loaded;
    },
    drop,
    dropAll() {
      generation++;
      loading.clear();
      groups.clear();
      entries = 0;
    },
    size: () => entries,
  };
}
