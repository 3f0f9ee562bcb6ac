import { describe, expect, test } from "vitest";
import { findStore, openPlaces, storeIn } from "./places.ts";

const SHOP = "019a0000-0000-7000-8000-000000000001";
const OTHER = "019a0000-0000-7000-8000-000000000002";

const newKeeper = (given: Iterable<[string, string]> = []) => {
  const kept = new Map(given);
  return {
    kept,
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
};

/** A browser with a clock that moves with each reading, and its tabs. */
function newBrowser() {
  const device = newKeeper();
  let ms = 1000;
  const open = (tab = newKeeper()) => ({ tab, ...openPlaces(tab, device, () => ms++) });
  return { device, open };
}

const leaving = { state: "s", store: SHOP, back: "/keys?role=viewer", isSilent: true };

describe("a silent sign-on", () => {
  test("begins at the store where this browser has signed in, in any tab", () => {
    const { open } = newBrowser();
    const first = open();
    expect(first.silent()).toBeUndefined();
    first.signedIn(SHOP);
    expect([first.silent(), open().silent()]).toEqual([SHOP, SHOP]);
  });

  test("begins at the tab's own store when another tab has signed in elsewhere", () => {
    const { open } = newBrowser();
    const [first, second] = [open(), open()];
    first.signedIn(SHOP);
    second.signedIn(OTHER);
    expect([first.silent(), second.silent(), open().silent()]).toEqual([SHOP, OTHER, OTHER]);
  });

  test("never begins at a store that the tab has only left for", () => {
    const { open } = newBrowser();
    open().signedIn(SHOP);
    const tab = open();
    tab.leave(OTHER, { ...leaving, store: OTHER });
    tab.comeBack("s");
    expect([tab.remembered(), tab.silent()]).toEqual([OTHER, SHOP]);
  });

  test("does not begin while one is under way, and again when that one is given up", () => {
    const { open } = newBrowser();
    const tab = open();
    tab.signedIn(SHOP);
    tab.leave(SHOP, leaving);
    expect(tab.silent()).toBeUndefined();
    tab.giveUpLeaving();
    expect(tab.silent()).toBe(SHOP);
  });

  test("does not begin after a sign-out, in any tab, until the next sign-in in any tab", () => {
    const { open } = newBrowser();
    const [first, second] = [open(), open()];
    first.signedIn(SHOP);
    second.signedOut(SHOP);
    expect([first, second, open()].map((tab) => tab.silent())).toEqual([undefined, undefined, undefined]);
    expect(first.isKnown(SHOP)).toBe(false);
    first.signedIn(SHOP);
    expect([first, second, open()].map((tab) => tab.silent())).toEqual([SHOP, SHOP, SHOP]);
  });

  test("does not begin at another store in a tab that has just signed out", () => {
    const { open } = newBrowser();
    const [first, second] = [open(), open()];
    first.signedIn(SHOP);
    second.signedIn(OTHER);
    first.signedOut(SHOP);
    expect([first.silent(), second.silent()]).toEqual([undefined, OTHER]);
  });

  test("does not begin in a tab that signed out with a key; other tabs stay signed in", () => {
    const { open } = newBrowser();
    const [first, second] = [open(), open()];
    first.signedIn(SHOP);
    second.signedOut(undefined);
    expect([first.silent(), second.silent(), first.isKnown(SHOP)]).toEqual([SHOP, undefined, true]);
  });

  test("does not begin after a refusal, which is no sign-out for other tabs", () => {
    const { open } = newBrowser();
    const [first, second] = [open(), open()];
    first.signedIn(SHOP);
    second.refused(SHOP);
    expect([second.silent(), first.isKnown(SHOP)]).toEqual([undefined, true]);
    second.refused(OTHER);
    expect(second.isKnown(OTHER)).toBe(false);
  });
});

describe("a return", () => {
  test("finds the path to go back to by its state, once", () => {
    const tab = newBrowser().open();
    tab.leave(SHOP, leaving);
    expect([tab.comeBack("other"), tab.comeBack("s"), tab.comeBack("s")]).toEqual([
      undefined,
      leaving,
      undefined,
    ]);
  });

  test("a copy of a tab's notes does not disturb the return of the tab, nor of the copy", () => {
    const { open } = newBrowser();
    const first = open();
    first.leave(SHOP, leaving);
    const copy = open(newKeeper(first.tab.kept));
    copy.leave(SHOP, { ...leaving, state: "t", back: "/events" });
    expect([first.comeBack("s")?.back, copy.comeBack("s"), copy.comeBack("t")?.back]).toEqual([
      "/keys?role=viewer",
      undefined,
      "/events",
    ]);
  });
});

describe("a remembered store", () => {
  test("that is gone is forgotten, in the tab and for later tabs", () => {
    const { open } = newBrowser();
    const tab = open();
    tab.signedIn(SHOP);
    tab.forget(SHOP);
    expect([tab.remembered(), tab.silent(), open().remembered()]).toEqual([undefined, undefined, undefined]);
  });

  test("that is gone in the tab leaves the store of the device", () => {
    const { open } = newBrowser();
    open().signedIn(SHOP);
    const tab = open();
    tab.leave(OTHER, { ...leaving, store: OTHER });
    tab.comeBack("s");
    tab.forget(OTHER);
    expect([tab.remembered(), tab.silent()]).toEqual([SHOP, SHOP]);
  });

  test.each(["{", "null", "7", '"x"', '{"store":7}', '{"store":"../x"}', "[]"])(
    "stored as %j counts as none",
    (text) => {
      const { open } = newBrowser();
      const broken = open(newKeeper([["latchkey:console:place", text]]));
      expect([broken.remembered(), broken.silent()]).toEqual([undefined, undefined]);
    },
  );

  test("stored by an earlier release, with a realm, still counts", () => {
    const text = JSON.stringify({ store: SHOP, realm: OTHER });
    expect(
      newBrowser()
        .open(newKeeper([["latchkey:console:place", text]]))
        .remembered(),
    ).toBe(SHOP);
  });
});

describe("the list of stores", () => {
  test("has the store of the latest sign-in first, each store once, under its latest name", () => {
    const { open, device } = newBrowser();
    const tab = open();
    tab.named({ id: SHOP, name: "Alder" });
    tab.named({ id: OTHER, name: "Birch" });
    tab.named({ id: SHOP, name: "Alder & Pine" });
    expect(open().listed()).toEqual([
      { id: SHOP, name: "Alder & Pine" },
      { id: OTHER, name: "Birch" },
    ]);
    expect(device.kept.get("latchkey:console:stores")).toBe(JSON.stringify(tab.listed()));
  });

  test("stays after a sign-out, and loses a store that is forgotten with all that is kept of it", () => {
    const { open, device } = newBrowser();
    const tab = open();
    tab.signedIn(SHOP);
    tab.named({ id: SHOP, name: "Alder" });
    tab.signedOut(SHOP);
    expect(tab.listed()).toHaveLength(1);
    tab.forget(SHOP);
    expect([tab.listed(), [...device.kept.keys()]]).toEqual([[], []]);
  });

  test("drops the store of the oldest sign-in when it is full", () => {
    const tab = newBrowser().open();
    const ids = Array.from(
      { length: 13 },
      (_, at) => `019a0000-0000-7000-8000-${String(at).padStart(12, "0")}`,
    );
    for (const id of ids) tab.named({ id, name: id });
    expect(tab.listed().map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 12));
  });

  test.each(["{", "null", "7", "{}", "[null]", '[{"id":"x","name":"y"}]', `[{"id":"${SHOP}","name":7}]`])(
    "stored as %j counts as empty",
    (text) => {
      const device = newKeeper([["latchkey:console:stores", text]]);
      expect(openPlaces(newKeeper(), device).listed()).toEqual([]);
    },
  );
});

test.each([
  [SHOP, SHOP],
  [` ${SHOP.toUpperCase()}\n`, SHOP],
  [`https://keys.example/console/sign-in?store=${SHOP}&realm=${OTHER}`, SHOP],
  [`https://keys.example/console/sign-in?realm=${OTHER}&store=${SHOP}#x`, SHOP],
  ["", undefined],
  ["my shop", undefined],
  [`https://keys.example/console/keys/${SHOP}`, undefined],
])("the store in %j", (typed, store) => {
  expect(findStore(typed)).toBe(store);
});

test("only the address of the sign-in screen names a store", () => {
  const search = `?store=${SHOP}&realm=${OTHER}`;
  expect(["/sign-in", "/sign-in/"].map((path) => storeIn(path, search))).toEqual([SHOP, SHOP]);
  expect(["/", "/providers/add", "/keys", "/signed-in"].map((path) => storeIn(path, search))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
