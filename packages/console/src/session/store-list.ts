import { ID, type Keeper, parse } from "./keeper.ts";

/** A store at which this browser has signed in. */
export type KnownStore = { id: string; name: string };

const STORES = "latchkey:console:stores";

/** At most so many stores are listed. The store of the oldest sign-in is dropped first. */
const MOST = 12;

/** The stores at which this browser has signed in, the latest first: ids and names, nothing else. */
export function openStoreList(device: Keeper) {
  /** Leaves out what has another form. */
  const read = (): KnownStore[] => {
    const kept = parse<unknown>(device.getItem(STORES));
    if (!Array.isArray(kept)) return [];
    return kept.flatMap((one: { id?: unknown; name?: unknown } | null) =>
      typeof one?.id === "string" && ID.test(one.id) && typeof one.name === "string"
        ? [{ id: one.id, name: one.name }]
        : [],
    );
  };
  return {
    read,
    /** Lists the store first, under its present name. */
    put({ id, name }: KnownStore): void {
      const list = read();
      if (list[0]?.id === id && list[0].name === name) return;
      const next = [{ id, name }, ...list.filter((one) => one.id !== id)];
      device.setItem(STORES, JSON.stringify(next.slice(0, MOST)));
    },
    drop(store: string): void {
      const left = read().filter(({ id }) => id !== store);
      if (left.length === 0) device.removeItem(STORES);
      else device.setItem(STORES, JSON.stringify(left));
    },
  };
}
