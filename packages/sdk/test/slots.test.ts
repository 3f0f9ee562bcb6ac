import { beforeEach, describe, expect, test } from "vitest";
import { errorOf, newStorage, openShop, REDIRECT, type Shop, signOn } from "./support/shop.ts";

const MINUTE_MS = 60_000;

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});

const begin = async (page = shop.page()) => (await page.beginSignOn(shop.f.profileId, REDIRECT)).state;
const slots = () => [...shop.storage.entries.keys()].filter((name) => name !== "latchkey:open");

describe("slots", () => {
  test("each sign-on has a slot under its state", async () => {
    const states = [await begin(), await begin(), await begin()];
    expect(slots().sort()).toEqual(states.map((state) => `latchkey:${state}`).sort());
    const kept = [...shop.storage.entries].filter(([name]) => slots().includes(name));
    const secrets = kept.flatMap(([, text]) => {
      const { verifier, idempotencyKey } = JSON.parse(text);
      return [verifier, idempotencyKey];
    });
    expect(new Set([...secrets, ...states]).size).toBe(9);
  });

  test("slots older than 15 minutes are deleted when the next sign-on begins", async () => {
    const old = await begin();
    shop.f.latchkey.clock.advance(14 * MINUTE_MS);
    const young = await begin();
    expect(slots()).toHaveLength(2);
    shop.f.latchkey.clock.advance(MINUTE_MS);
    const now = await begin();
    expect(slots().sort()).toEqual([`latchkey:${young}`, `latchkey:${now}`].sort());
    expect(slots()).not.toContain(`latchkey:${old}`);
  });

  test("a slot that is too old is unknown, even before it is deleted", async () => {
    const page = shop.page();
    const back = await signOn(shop, page);
    shop.f.latchkey.clock.advance(15 * MINUTE_MS);
    expect((await errorOf(page.completeSignOn(back))).code).toBe("state_unknown");
    expect(shop.countOf("/v2/customers/tokens")).toBe(0);
  });

  test("storage is empty when the last sign-on has ended", async () => {
    const page = shop.page();
    const backs = [await signOn(shop, page), await signOn(shop, page)];
    for (const back of backs) await page.completeSignOn(back);
    expect([...shop.storage.entries]).toEqual([]);
  });

  test.each(["", "not JSON", "null", "[]", '{"verifier":1}', '"text"'])(
    "one that somebody has written over with %j is unknown",
    async (text) => {
      const page = shop.page();
      const back = await signOn(shop, page);
      const state = new URL(back).searchParams.get("state");
      shop.storage.setItem(`latchkey:${state}`, text);
      expect((await errorOf(page.completeSignOn(back))).code).toBe("state_unknown");
    },
  );

  test.each(["not JSON", "null", "[1]", '"text"', '{"a":"b"}'])(
    "a list that somebody has written over with %j harms nobody",
    async (text) => {
      const page = shop.page();
      const back = await signOn(shop, page);
      shop.storage.setItem("latchkey:open", text);
      await begin();
      expect((await page.completeSignOn(back)).token).toBeTruthy();
    },
  );
});

describe("memory replaces a storage that does not work", () => {
  const refuse = () => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  };
  const ends = async (page: ReturnType<Shop["page"]>) =>
    (await page.completeSignOn(await signOn(shop, page))).token;

  test("a storage that throws at every call", async () => {
    const page = shop.page({ storage: { getItem: refuse, setItem: refuse, removeItem: refuse } });
    expect(await ends(page)).toBeTruthy();
    expect(await ends(page)).toBeTruthy();
  });

  test("a full storage: reading works, writing throws", async () => {
    expect(await ends(shop.page({ storage: { ...newStorage(), setItem: refuse } }))).toBeTruthy();
  });

  test("no storage", async () => {
    expect(await ends(shop.page({ storage: undefined }))).toBeTruthy();
  });

  test("a page on which reading the name localStorage throws", async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
    Object.defineProperty(globalThis, "localStorage", { configurable: true, get: refuse });
    try {
      expect(await ends(shop.page({ storage: undefined }))).toBeTruthy();
    } finally {
      restore(before);
    }
  });

  test("localStorage is used if it exists", async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
    Object.defineProperty(globalThis, "localStorage", { configurable: true, value: shop.storage });
    try {
      const back = await signOn(shop, shop.page({ storage: undefined }));
      expect(slots()).toHaveLength(1);
      expect((await shop.page({ storage: undefined }).completeSignOn(back)).token).toBeTruthy();
      expect(shop.storage.entries.size).toBe(0);
    } finally {
      restore(before);
    }
  });

  function restore(before: PropertyDescriptor | undefined): void {
    if (before) Object.defineProperty(globalThis, "localStorage", before);
    else Reflect.deleteProperty(globalThis, "localStorage");
  }
});
