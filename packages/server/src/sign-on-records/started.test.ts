import { afterEach, beforeEach, expect, test } from "vitest";
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

test("beyond the bound a new profile or minute is dropped and counted, and known ones count on", async () => {
  const counts = createStartedCounts({ storage, clock }, 2);
  for (const profileId of ["a", "b", "c", "c", "a"]) counts.note(at(profileId));
  expect(counts.dropped()).toBe(2);
  await counts.flush();
  expect(await written()).toEqual([
    ["a", 60_000, 2],
    ["b", 60_000, 1],
  ]);
});

test("the bound holds while the database is away", async () => {
  const counts = createStartedCounts({ storage: failing().storage, clock }, 2);
  for (let minute = 1; minute <= 5; minute++) {
    counts.note(at("a", minute * 60_000));
    await expect(counts.flush()).rejects.toThrow("away");
  }
  expect(counts.dropped()).toBe(3);
});
