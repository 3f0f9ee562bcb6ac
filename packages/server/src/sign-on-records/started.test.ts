import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { createStartedCounts } from "./started.ts";

let storage: Storage;
const clock = handClock(60_000);
beforeEach(async () => {
  storage = await openStorage({ clock }, "sqlite::memory:");
});
afterEach(() => storage.close());

const at = (profileId: string, startedAt = 60_000, storeId = "store") => ({
  storeId,
  profile: { id: profileId, name: "Practice" },
  keyId: null,
  isOfMembers: false,
  startedAt,
});
const away = Object.assign(new Error("away"), { code: "ECONNREFUSED" });
/** A storage that fails until `isAway` is false. */
const failing = () => {
  const state = { isAway: true };
  const transact: Storage["transact"] = (work) => {
    if (state.isAway) throw away;
    return storage.transact(work);
  };
  return { state, storage: Object.assign(Object.create(storage) as Storage, { transact }) };
};
async function written(): Promise<[string, number, number][]> {
  const rows = await storage.db
    .selectFrom("sign_on_tallies_by_key")
    .selectAll()
    .orderBy("profile_id")
    .orderBy("minute")
    .execute();
  return rows.map((row) => [row.profile_id, row.minute, JSON.parse(row.figures).outcomes.started]);
}

test("redirects of one minute at one profile become one row", async () => {
  const counts = createStartedCounts({ storage, clock });
  for (const startedAt of [60_000, 119_999, 120_000]) counts.note(at("a", startedAt));
  counts.note(at("b"));
  await counts.flush();
  await counts.flush();
  expect(await written()).toEqual([
    ["a", 60_000, 2],
    ["a", 120_000, 1],
    ["b", 60_000, 1],
  ]);
});

test("what the database refuses is kept, and written with what came since", async () => {
  const { state, storage: unreliable } = failing();
  const counts = createStartedCounts({ storage: unreliable, clock });
  counts.note(at("a"));
  await expect(counts.flush()).rejects.toThrow("away");
  counts.note(at("a"));
  state.isAway = false;
  await counts.flush();
  expect(await written()).toEqual([["a", 60_000, 2]]);
});

describe("beyond the bound", () => {
  /** The bound is 20 tallies, so that of one store is 2. */
  const newCounts = (of = storage) => createStartedCounts({ storage: of, clock }, 20);

  test("of a store its new profiles and minutes are dropped and counted, and known ones count on", async () => {
    const counts = newCounts();
    for (const profileId of ["a", "b", "c", "c", "a"]) counts.note(at(profileId));
    expect(counts.dropped()).toBe(2);
    await counts.flush();
    expect(await written()).toEqual([
      ["a", 60_000, 2],
      ["b", 60_000, 1],
    ]);
  });

  test("of a store the others still count, and the store counts again after a write", async () => {
    const counts = newCounts();
    for (const profileId of ["a", "b", "c"]) counts.note(at(profileId));
    counts.note(at("other", 60_000, "other store"));
    expect(counts.dropped()).toBe(1);
    await counts.flush();
    counts.note(at("c"));
    expect(counts.dropped()).toBe(1);
    await counts.flush();
    expect((await written()).map(([profileId]) => profileId)).toEqual(["a", "b", "c", "other"]);
  });

  test("of all stores the redirects of further stores are dropped and counted", () => {
    const counts = newCounts();
    for (let store = 0; store < 25; store++) counts.note(at("a", 60_000, `store ${store}`));
    expect(counts.dropped()).toBe(5);
  });

  test("nothing more is kept while the database is away", async () => {
    const counts = newCounts(failing().storage);
    for (let minute = 1; minute <= 5; minute++) {
      counts.note(at("a", minute * 60_000));
      await expect(counts.flush()).rejects.toThrow("away");
    }
    expect(counts.dropped()).toBe(3);
  });
});
