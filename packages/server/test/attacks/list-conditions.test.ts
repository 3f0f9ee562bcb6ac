import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listApplicationKeys } from "../../src/contract/application-keys.ts";
import { listCustomers } from "../../src/contract/customers.ts";
import { listDeliveries } from "../../src/contract/deliveries.ts";
import { listEvents } from "../../src/contract/events.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { listSignOns } from "../../src/contract/sign-ons.ts";
import { getStore } from "../../src/contract/store.ts";
import { newId } from "../../src/lib/ids.ts";
import { openStorage } from "../../src/storage/open.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { insertCrowd } from "../support/many-rows.ts";

/** High, because the clock stands still while the other store calls as often as it can. */
const RATE = 100_000;
/** Each row costs a comparison of 128 letters at each of 127 positions. */
const ROWS = 500;
const LONG = "a".repeat(250);
const PATTERN = `*${"a".repeat(127)}b`;
const filterOf = (...conditions: string[]) => `filter=${conditions.join(":")}`;

describe.each(engines)("a store with costly searches, on $name", (engine) => {
  const engineTest = test.skipIf(!engine.isHere);
  let database: TestDatabase;
  let latchkey: TestApp;
  let shop: TestStore;
  let other: TestStore;
  /** The time of each slice of a search, from its turn to its answer. */
  const slices: number[] = [];

  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    const clock = handClock();
    const storage = await openStorage({ clock }, database.url, UNHURRIED);
    const { searches } = storage;
    const timed: typeof searches = {
      ...searches,
      slice: (storeId, read) =>
        searches.slice(storeId, async () => {
          const begunAt = performance.now();
          return read().finally(() => slices.push(performance.now() - begunAt));
        }),
    };
    latchkey = await createTestApp({ clock, storage: { ...storage, searches: timed } });
    [shop, other] = [await latchkey.createStore(RATE), await latchkey.createStore(RATE)];
    await insertCrowd(storage, {
      storeId: shop.store.id,
      count: ROWS,
      overAt: clock.now(),
      tables: ["customers"],
    });
    await storage.db
      .updateTable("customers")
      .set({ name: LONG, email: LONG })
      .where("store_id", "=", shop.store.id)
      .execute();
  }, 120_000);
  afterAll(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  /** The longest time that the other store waited for an answer during the work. */
  async function longestWait(work: Promise<unknown>): Promise<number> {
    let isDone = false;
    const ended = work.finally(() => {
      isDone = true;
    });
    let longest = 0;
    while (!isDone) {
      const askedAt = performance.now();
      expect((await other.call(getStore)).status).toBe(200);
      longest = Math.max(longest, performance.now() - askedAt);
      await setImmediate();
    }
    await ended;
    return longest;
  }

  const lists: [Operation, string, Record<string, string>][] = [
    [listCustomers, "name", {}],
    [listSignOns, "reason", {}],
    [listApplicationKeys, "client_id", {}],
    [listDeliveries, "status", { id: newId() }],
    [listEvents, "subject", {}],
  ];
  engineTest.each(lists)("400 for a second condition on one field: %o", async (operation, field, ids) => {
    const query = filterOf(`eq(${field},x)`, `eq(${field},y)`);
    const { status, body } = await shop.call(operation, { query, ids });
    expect(status).toBe(400);
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0]).toMatchObject({ code: "parameter_invalid", source: { parameter: "filter" } });
    expect(body.errors[0].detail).toContain(`\`${field}\` may be in one condition`);
  });

  engineTest("400 for the 29 patterns that once stopped all stores for 89 s", async () => {
    const query = filterOf(...Array.from({ length: 29 }, () => `like(name,${PATTERN})`));
    const { status, body } = await shop.call(listCustomers, { query });
    expect(status).toBe(400);
    expect(body.errors[0].detail).toContain("at most 8 conditions");
  });

  engineTest("400 for nine conditions on different fields", async () => {
    const eight = ["reference", "email", "profile_id", "outcome", "reason", "customer_id"]
      .map((field) => `eq(${field},x)`)
      .concat("gt(started_at,2026-01-01)", "lt(started_at,2026-02-01)");
    expect((await shop.call(listSignOns, { query: filterOf(...eight) })).status).toBe(200);
    const { status } = await shop.call(listSignOns, { query: filterOf(...eight, "eq(request_id,x)") });
    expect(status).toBe(400);
  });

  engineTest.each([
    ["longer than a name", `like(name,${"a".repeat(255)}*)`],
    ["longer than an address", `like(email,${"a".repeat(254)}*)`],
    ["of stars alone", `like(name,${"*".repeat(256)})`],
  ])("400 for a pattern %s", async (_, condition) => {
    const { status, body } = await shop.call(listCustomers, { query: filterOf(condition) });
    expect(status).toBe(400);
    expect(body.errors[0].detail).toMatch(/at most 25[45] characters/);
  });

  engineTest(
    "a slice of the costliest search takes about 5 ms, and other stores run in between",
    async () => {
      slices.length = 0;
      const query = `${filterOf(`like(name,${PATTERN})`, `like(email,${PATTERN})`)}&sort=created_at`;
      const search = shop.call(listCustomers, { query });
      const longest = await longestWait(search);
      expect((await search).status).toBe(200);
      expect(slices.length).toBeGreaterThan(3);
      // The median: another program may have the processor during a single slice.
      expect(slices.toSorted((a, b) => a - b)[slices.length >> 1]).toBeLessThan(50);
      expect(longest).toBeLessThan(2000);
    },
  );

  engineTest("a hundred searches at once delay another store no more than one does", async () => {
    const query = `${filterOf(`like(name,${PATTERN})`, `like(email,${PATTERN})`)}&sort=created_at`;
    const searches = Promise.all(Array.from({ length: 100 }, () => shop.call(listCustomers, { query })));
    expect(await longestWait(searches)).toBeLessThan(2000);
    const answers = Map.groupBy(await searches, ({ status }) => status);
    expect([...answers.keys()].toSorted()).toEqual([200, 503]);
    expect(answers.get(200)?.length).toBeGreaterThanOrEqual(20);
  });
});
