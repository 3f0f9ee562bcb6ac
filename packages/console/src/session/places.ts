import { ID, type Keeper, parse } from "./keeper.ts";
import { openStoreList } from "./store-list.ts";

/**
 * The console's notes in the browser's storage. None of them is a token. ADR 34 has the reasons.
 *
 * For the tab: the store of its latest sign-on; a sign-on that is under way; the time of the latest sign-out.
 * For later tabs: the store of the latest sign-in, for each store the time of the latest sign-in, and the ids
 * and names of the stores for the person to choose from.
 */
const STORE = "latchkey:console:place";
const LEAVING = "latchkey:console:leaving";
const SIGNED_OUT = "latchkey:console:signed-out";
const SIGNED_IN = "latchkey:console:signed-in:";

/** The name of the note of first-hour/notes.ts. */
export const firstStepsOf = (store: string): string => `latchkey:console:first-steps:${store}`;

/** In place of the time of a sign-in: the provider has another account's session, which is no member. */
const REFUSED = "refused";

export function openPlaces(tab: Keeper, device: Keeper, now: () => number = Date.now) {
  const list = openStoreList(device);
  const signedInAt = (store: string): number => Number(device.getItem(SIGNED_IN + store) ?? Number.NaN);

  /** False after a sign-out in this tab, and after a sign-out from this store in any tab. */
  const isSignedIn = (store: string): boolean =>
    signedInAt(store) > Number(tab.getItem(SIGNED_OUT) ?? Number.NEGATIVE_INFINITY);

  // The tab's own store first, because another tab may use another store.
  const stores = (): string[] => [readStore(tab), readStore(device)].filter((store) => store !== undefined);

  return {
    /** The stores that the person can choose from, the latest first. */
    listed: list.read,

    /** The person is signed in at this store. */
    named: list.put,

    /** The store that the sign-in page offers. */
    remembered: (): string | undefined => stores()[0],

    /**
     * The store at which a sign-on may begin without a click. The person has signed in there with this browser,
     * and has not signed out. An address may come from anyone, so it never adds a store.
     */
    silent: (): string | undefined => (tab.getItem(LEAVING) === null ? stores().find(isSignedIn) : undefined),

    /** Whether any tab has signed in at this store, and no tab has signed out since. */
    isKnown: (store: string): boolean => device.getItem(SIGNED_IN + store) !== null,

    /** The tab leaves for a sign-on. `state` names it in the answer. */
    leave(store: string, leaving: Leaving): void {
      writeStore(tab, store);
      tab.setItem(LEAVING, JSON.stringify(leaving));
    },

    /**
     * The sign-on of this answer. Another one may be noted: the browser copies the notes of a tab into tabs that
     * are opened from it.
     */
    comeBack(state: string | null): Leaving | undefined {
      const leaving = parse<Leaving>(tab.getItem(LEAVING));
      if (!leaving || leaving.state !== state) return undefined;
      tab.removeItem(LEAVING);
      return leaving;
    },

    /** The sign-on that the tab left for did not come back, so the next one may begin. */
    giveUpLeaving: (): void => tab.removeItem(LEAVING),

    signedIn(store: string): void {
      for (const storage of [tab, device]) writeStore(storage, store);
      device.setItem(SIGNED_IN + store, String(now()));
      tab.removeItem(SIGNED_OUT);
    },

    /** `store` is undefined for an application key: the tab then waits for a click, other tabs do not. */
    signedOut(store: string | undefined): void {
      if (store !== undefined) device.removeItem(SIGNED_IN + store);
      tab.setItem(SIGNED_OUT, String(now()));
    },

    /** The person is known to the provider, but not as a member: do not ask again without a click. */
    refused(store: string): void {
      if (device.getItem(SIGNED_IN + store) !== null) device.setItem(SIGNED_IN + store, REFUSED);
    },

    /**
     * The store is gone, or no longer has a sign-in for members; or the person has removed it from the list. Tabs
     * in which a member of the store is signed in sign out.
     */
    forget(store: string): void {
      for (const storage of [tab, device]) if (readStore(storage) === store) storage.removeItem(STORE);
      for (const name of [SIGNED_IN + store, firstStepsOf(store)]) device.removeItem(name);
      list.drop(store);
    },
  };
}

/** `back` is the path of the screen to return to. `isSilent`: no person has pressed a button. */
type Leaving = { state: string; store: string; back: string; isSilent: boolean };

/** Undefined if the text has another form. An error here would leave the page empty. */
function readStore(storage: Keeper): string | undefined {
  const kept = parse<{ store?: unknown }>(storage.getItem(STORE));
  return typeof kept?.store === "string" && ID.test(kept.store) ? kept.store : undefined;
}

const writeStore = (storage: Keeper, store: string): void =>
  storage.setItem(STORE, JSON.stringify({ store }));

/** The store in a typed or pasted text: its id, or an address that names it. */
export function findStore(typed: string): string | undefined {
  const text = typed.trim();
  const store = (/[?&]store=([^&#]*)/.exec(text)?.[1] ?? text).toLowerCase();
  return ID.test(store) ? store : undefined;
}

/** The store that an address names. Only the sign-in screen's address can name one. */
export const storeIn = (path: string, search: string): string | undefined =>
  path.replace(/\/$/, "") === "/sign-in"
    ? findStore(new URLSearchParams(search).get("store") ?? "")
    : undefined;
