import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createStore } from "../../src/create-store.ts";
import { addUpTallies } from "../../src/sign-on-records/add-up-statistics.ts";
import { tidyRecords } from "../../src/sign-on-records/forget-records.ts";
import { readStatistics } from "../../src/sign-on-records/read-statistics.ts";
import { Recorder } from "../../src/sign-on-records/recorder.ts";
import { startTrail, type Trail } from "../../src/sign-on-records/trail.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";

/** Random histories of records at two instances: the sums are those of the records that are left at the end. */

const idOf = (run: number, n: number) =>
  `01890000-0000-7000-8000-${String(run * 1000 + n).padStart(12, "0")}`;
const DAY = 86_400_000;

/** The sign-ons of a history. Each has a fixed realm, profile and client. */
const RECORDS = 6;
const index = fc.nat(RECORDS - 1);
const instance = fc.nat(1);
const sort = fc.record({
  isOfMembers: fc.boolean(),
  profileId: fc.constantFrom(null, "profile 1", "profile 2"),
  clientKeyId: fc.constantFrom(null, "key 1", "key 2"),
});
const move = fc.oneof(
  fc.record({ kind: fc.constant("callback" as const), index, instance, isFailed: fc.boolean() }),
  fc.record({
    kind: fc.constant("exchange" as const),
    index,
    instance,
    redeemedBy: fc.constantFrom(null, "key 1", "key 2", "key 3"),
    ending: fc.constantFrom("exchanged", "failed", "replayed"),
  }),
  fc.record({ kind: fc.constant("flush" as const), instance }),
  fc.record({ kind: fc.constant("add up" as const) }),
  fc.record({ kind: fc.constant("expire" as const) }),
);
type Sort = Parameters<Parameters<typeof sort.map>[0]>[0];
type Move = Parameters<Parameters<typeof move.map>[0]>[0];

describe.each(engines)("sums of sign-ons on $name", (engine) => {
  let database: TestDatabase;
  let storage: Storage;
  const clock = handClock();
  let runs = 0;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    storage = await openStorage({ clock }, database.url, UNHURRIED);
  });
  afterEach(async () => {
    await storage?.close();
    await database?.drop();
  });

  async function live(sorts: readonly Sort[], moves: readonly Move[]): Promise<string> {
    const { store } = await createStore({ storage, clock }, { name: "Shop", rate_limit: 10 });
    const run = runs++;
    const recorders = [new Recorder({ storage, clock }), new Recorder({ storage, clock })];
    const at = (instance: number) => recorders[instance] as Recorder;
    const trailOf = (n: number): Trail => {
      const { isOfMembers, profileId, clientKeyId } = sorts[n] as Sort;
      const place = { storeId: store.id, realmId: "realm", isOfMembers };
      // Members' realms know no application key.
      const keyId = isOfMembers ? null : clientKeyId;
      const profile = profileId === null ? undefined : { id: profileId, name: profileId };
      const begun = { startedAt: clock.now(), source: "192.0.2.1", keyId, profile };
      const checks = [{ check: "id_token.signature", passed: true }];
      return { ...startTrail(idOf(run, n), place, begun), checks, timings: { token: 20 } };
    };
    for (const move of moves) {
      clock.advance(1000);
      if (move.kind === "callback") {
        const outcome = move.isFailed
          ? ({ outcome: "failed", reason: "id_token.aud" } as const)
          : ({ outcome: "code_issued", reason: null } as const);
        at(move.instance).note(trailOf(move.index), outcome);
      } else if (move.kind === "exchange") {
        const { id, storeId: store_id, realmId: realm_id, isOfMembers, profile } = trailOf(move.index);
        // A sign-on that was refused before its profile was known has no code.
        if (!profile) continue;
        const attempt = { id, store_id, realm_id, profile_id: profile.id };
        const times = { exchanged_at: clock.now(), code_expires_at: null, forget_at: 0 };
        const keyId = isOfMembers || move.ending === "replayed" ? undefined : (move.redeemedBy ?? undefined);
        const outcome = move.ending === "failed" ? ("failed" as const) : ("exchanged" as const);
        const reason = { exchanged: null, failed: "verifier_mismatch", replayed: "code_replayed" } as const;
        const ended = { outcome, reason: reason[move.ending as keyof typeof reason], isOfMembers, keyId };
        at(move.instance).noteExchange({ ...attempt, ...times }, ended);
      } else if (move.kind === "flush") await at(move.instance).flush();
      else if (move.kind === "add up") await addUpTallies({ storage, clock });
      else {
        clock.advance(80_000);
        await tidyRecords({ storage, clock, recorder: at(0), codeSeconds: 60, recordDays: 1000 });
      }
    }
    for (const recorder of recorders) await recorder.flush();
    await addUpTallies({ storage, clock });
    return store.id;
  }

  type Sums = Record<string, Record<string, number>>;
  const add = (sums: Sums, group: string, outcomes: Record<string, number>) => {
    sums[group] ??= {};
    for (const [outcome, times] of Object.entries(outcomes))
      sums[group][outcome] = (sums[group][outcome] ?? 0) + times;
  };
  async function read(storeId: string, purpose: "customers" | "members", group: "profile" | "key") {
    const query = { step: "day", from: clock.now() - 900 * DAY, purpose, group } as const;
    const sums: Sums = {};
    for (const entry of (await readStatistics({ storage, clock }, storeId, query)).data)
      add(sums, ("key_id" in entry ? entry.key_id : entry.profile_id) ?? "none", entry.outcomes);
    return sums;
  }
  async function recount(storeId: string, purpose: "customers" | "members", group: "profile" | "key") {
    const rows = await storage.db
      .selectFrom("sign_ons")
      .selectAll()
      .where("store_id", "=", storeId)
      .execute();
    const sums: Sums = {};
    for (const row of rows)
      if ((row.of_members === 1) === (purpose === "members"))
        add(sums, (group === "key" ? row.key_id : row.profile_id) ?? "none", { [row.outcome]: 1 });
    return sums;
  }

  /** The API leaves out what is below zero, so the stored figures are checked, too. */
  async function readStored(storeId: string): Promise<Record<string, number>[]> {
    const stored: Record<string, number>[] = [];
    for (const table of ["sign_on_statistics", "sign_on_statistics_parts"] as const) {
      const rows = await storage.db
        .selectFrom(table)
        .select("figures")
        .where("store_id", "=", storeId)
        .execute();
      for (const { figures } of rows) stored.push(...Object.values(JSON.parse(figures) as Sums));
    }
    return stored;
  }

  test("by profile and by key, of shoppers and of members, are those of the records, and never negative", async () => {
    const history = fc.tuple(
      fc.array(sort, { minLength: RECORDS, maxLength: RECORDS }),
      fc.array(move, { minLength: 10, maxLength: 60, size: "max" }),
    );
    await fc.assert(
      fc.asyncProperty(history, async ([sorts, moves]) => {
        const storeId = await live(sorts, moves);
        for (const purpose of ["customers", "members"] as const)
          for (const group of ["profile", "key"] as const)
            expect(await read(storeId, purpose, group)).toEqual(await recount(storeId, purpose, group));
        for (const counts of await readStored(storeId))
          for (const times of Object.values(counts)) expect(times).toBeGreaterThan(0);
      }),
      { numRuns: 40 },
    );
  });
});
