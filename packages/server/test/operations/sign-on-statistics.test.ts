import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getSignOnStatistics } from "../../src/contract/sign-ons.ts";
import { deleteStore } from "../../src/delete-store.ts";
import { addUpTallies } from "../../src/sign-on-records/add-up-statistics.ts";
import { Recorder } from "../../src/sign-on-records/recorder.ts";
import { startTrail } from "../../src/sign-on-records/trail.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { insertCrowd } from "../support/many-rows.ts";

/** Counts of sign-ons by outcome and reason (wire 19). */

const DAY = 86_400_000;

type Entry = {
  from: string;
  profile_id: string | null;
  outcomes: Record<string, number>;
  reasons: Record<string, number>;
  idp_ms: { p50: number | null; p95: number | null };
};

describe.each(engines)("statistics of sign-ons on $name", (engine) => {
  let database: TestDatabase;
  let idp: HostileIdp;
  let f: Federation;
  let second: TestApp;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    idp = await startHostileIdp();
    f = await createFederation({ databaseUrl: database.url, idp });
    const { storage, clock } = f.latchkey;
    const shared = engine.name === "sqlite" ? { storage } : { databaseUrl: database.url };
    second = await createTestApp({ ...shared, clock, allowedOrigins: [idp.origin] });
  });
  afterEach(async () => {
    for (const storage of new Set([f?.latchkey.storage, second?.storage])) await storage?.close();
    await idp?.close();
    await database?.drop();
  });

  const ask = async (query = "") =>
    f.store.call(getSignOnStatistics, { query, token: await f.store.token() });
  async function entries(query = ""): Promise<Entry[]> {
    await f.latchkey.app.tidy();
    await second.app.tidy();
    return (await ask(query)).body.data;
  }
  const outcomes = async (query = "") => (await entries(query)).map((entry) => entry.outcomes);

  test("have one entry for each step and provider with sign-ons, oldest first", async () => {
    await f.redeem(await f.signOn());
    await f.redeem(await f.signOn());
    idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    await f.signOn();
    await f.signOn({ parameters: { profile: undefined, scope: "openid" } });
    const other = await f.addProfile({ name: "Second" });
    f.latchkey.clock.advance(61_000);
    await f.signOn({ parameters: { profile: other } });

    const [early, late] = ["2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.000Z"];
    const asked = { p50: expect.any(Number), p95: expect.any(Number) };
    const minutes = await entries("step=minute");
    expect(minutes).toEqual([
      {
        from: early,
        profile_id: null,
        outcomes: { failed: 1 },
        reasons: { scope_incomplete: 1 },
        idp_ms: { p50: null, p95: null },
      },
      {
        from: early,
        profile_id: f.profileId,
        outcomes: { exchanged: 2, failed: 1, started: 3 },
        reasons: { "id_token.aud": 1 },
        idp_ms: asked,
      },
      {
        from: late,
        profile_id: other,
        outcomes: { failed: 1, started: 1 },
        reasons: { "id_token.aud": 1 },
        idp_ms: asked,
      },
    ]);
    for (const step of ["hour", "day"])
      expect((await entries(`step=${step}`)).map((entry) => [entry.from, entry.outcomes])).toEqual([
        [early, { failed: 1 }],
        [early, { exchanged: 2, failed: 1, started: 3 }],
        [early, { failed: 1, started: 1 }],
      ]);
    const other_store = await f.latchkey.createStore();
    expect((await other_store.call(getSignOnStatistics)).body.data).toEqual([]);
  });

  test("`from` is rounded down to its step, and `to` is exclusive", async () => {
    await f.signOn();
    f.latchkey.clock.advance(120_000);
    await f.signOn();
    expect(await outcomes("step=minute&from=2026-01-01T00:00:30Z&to=2026-01-01T00:02:00Z")).toHaveLength(1);
    expect(await outcomes("step=minute&from=2026-01-01T00:00:00Z&to=2026-01-01T00:02:01Z")).toHaveLength(2);
    expect(await outcomes("step=minute&from=2026-01-01T00:01:00Z&to=2026-01-01T00:02:00Z")).toEqual([]);
    const { meta } = (await ask("step=day&from=2025-12-30&to=2026-01-01T12:00:00Z")).body;
    expect(meta).toEqual({
      step: "day",
      from: "2025-12-30T00:00:00.000Z",
      to: "2026-01-02T00:00:00.000Z",
      kept_from: "2022-12-28T00:00:00.000Z",
    });
  });

  test("count a sign-on once, under its last outcome", async () => {
    const signedOn = await f.signOn();
    await f.signOn();
    expect(await outcomes()).toEqual([{ code_issued: 2 }]);
    await f.redeem(signedOn);
    expect(await outcomes()).toEqual([{ code_issued: 1, exchanged: 1 }]);
    f.latchkey.clock.advance(120_000);
    expect(await entries()).toMatchObject([
      { outcomes: { exchanged: 1, expired: 1 }, reasons: { code_expired: 1 } },
    ]);
  });

  test("count a sign-on once, whichever instance writes its exchange first", async () => {
    const [one, other] = [new Recorder(f.latchkey), new Recorder(second)];
    const { clock } = f.latchkey;
    const trails = Array.from({ length: 60 }, (_, index) => ({
      ...startTrail(
        `01890000-0000-7000-8000-${String(index).padStart(12, "0")}`,
        { storeId: f.store.store.id, realmId: f.realmId, isOfMembers: false },
        { startedAt: clock.now(), source: "192.0.2.1" },
      ),
      profile: { id: f.profileId, name: "Hostile" },
      checks: [{ check: "id_token.signature", passed: true }],
      timings: { token: 20, identify: 4 },
    }));
    for (const trail of trails) one.note(trail, { outcome: "code_issued", reason: null });
    // The redeeming instance knows the time of the exchange only, not the beginning of the sign-on.
    const exchanged_at = clock.now() + 65_000;
    const used = { profile_id: f.profileId, exchanged_at, code_expires_at: null, forget_at: 0 };
    const exchanged = { outcome: "exchanged", reason: null, isOfMembers: false } as const;
    for (const { id, storeId: store_id, realmId: realm_id } of trails)
      other.noteExchange({ ...used, id, store_id, realm_id }, exchanged);
    await Promise.all([one.flush(), other.flush()]);
    expect((await entries("step=minute")).map((entry) => [entry.from, entry.outcomes])).toEqual([
      ["2026-01-01T00:00:00.000Z", { exchanged: 60 }],
    ]);
    await Promise.all([one.flush(), other.flush()]);
    expect(await outcomes()).toEqual([{ exchanged: 60 }]);
  });

  test("add up tallies once when several instances do so at the same time", async () => {
    for (let i = 0; i < 5; i++) await f.signOn();
    await f.latchkey.app.tidy();
    const { storage } = f.latchkey;
    const figures = JSON.stringify({ outcomes: { exchanged: 1 }, reasons: {}, idpMs: {} });
    const tally = {
      store_id: f.store.store.id,
      profile_id: f.profileId,
      minute: f.latchkey.clock.now(),
      figures,
    };
    for (let i = 0; i < 10; i++)
      await storage.db.insertInto("sign_on_tallies").values(Array(50).fill(tally)).execute();
    await Promise.all([addUpTallies(f.latchkey), addUpTallies(second), addUpTallies(f.latchkey)]);
    expect(await outcomes()).toEqual([{ code_issued: 5, exchanged: 500 }]);
  });

  test("count records from before there were statistics, before the records are forgotten", async () => {
    const { storage, clock } = f.latchkey;
    const crowd = {
      storeId: f.store.store.id,
      count: 3000,
      overAt: clock.now() + 3000,
      tables: ["sign_ons"],
    };
    await insertCrowd(storage, crowd);
    clock.advance(31 * DAY);
    for (let round = 0; round < 50 && (await recordsLeft()) > 0; round++) {
      await f.latchkey.app.tidy();
      clock.advance(1000);
    }
    expect(await recordsLeft()).toBe(0);
    expect(await outcomes("step=day&from=2025-12-01")).toEqual([{ exchanged: 3000 }]);
  });

  async function recordsLeft(): Promise<number> {
    const { rows } = await sql<{ rows: number }>`select count(*) as rows from sign_ons`.execute(
      f.latchkey.storage.db,
    );
    return Number(rows[0]?.rows);
  }

  test("are kept after their records: minutes for 8 days, hours for 100 and days for 1,100", async () => {
    const { storage, clock } = f.latchkey;
    // The database's clock follows the test's clock, so that retention sees the time pass.
    Object.assign(storage, { ping: async () => ({ nowMs: clock.now(), otherInstances: 0 }) });
    await f.redeem(await f.signOn());
    const kept = async (days: number) => {
      clock.advance(days * DAY);
      const found = [];
      for (const step of ["minute", "hour", "day"]) {
        const range = "from=2026-01-01&to=2026-01-01T01:00:00Z";
        found.push((await outcomes(`step=${step}&${range}`)).length);
      }
      return found;
    };
    expect(await kept(7)).toEqual([1, 1, 1]);
    expect(await kept(2)).toEqual([0, 1, 1]);
    expect(await kept(90)).toEqual([0, 1, 1]);
    expect(await kept(2)).toEqual([0, 0, 1]);
    expect(await kept(998)).toEqual([0, 0, 1]);
    expect(await kept(3)).toEqual([0, 0, 0]);
  });

  test("are deleted with their store", async () => {
    await f.signOn();
    await f.latchkey.app.tidy();
    await f.signOn();
    await f.latchkey.app.tidy();
    await deleteStore(f.latchkey, f.store.store.id);
    const { db } = f.latchkey.storage;
    const tables = ["sign_on_statistics", "sign_on_statistics_parts", "sign_on_tallies_by_key"] as const;
    for (const table of tables) expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
  });

  test("200 for 1,000 steps", async () => {
    expect((await ask("step=day&from=2023-04-08&to=2026-01-02")).status).toBe(200);
  });

  test.each([
    ["step=day&from=2023-04-06&to=2026-01-01", /1001 steps; at most 1000/, /a shorter range/],
    ["step=hour&from=2025-10-01&to=2026-01-01", /2208 steps/, /`step=day` or a shorter range/],
    ["step=minute&from=2025-12-01&to=2026-01-01", /44640 steps/, /`step=hour` or a shorter range/],
    ["from=2026-01-02&to=2026-01-01", /does not come before/, /Exchange them/],
    ["from=2026-01-01&to=2026-01-01", /does not come before/, /Exchange them/],
  ])("422 for %s, with the remedy in the detail", async (query, what, remedy) => {
    const answer = await ask(query);
    expect([answer.status, answer.code]).toEqual([422, "statistics_range_unfit"]);
    expect(answer.body.errors[0].detail).toMatch(what);
    expect(answer.body.errors[0].detail).toMatch(remedy);
  });

  test.each(["step=week", "from=yesterday", "to=2026-02-31", "from="])("400 for %s", async (query) => {
    expect((await ask(query)).code).toBe("parameter_invalid");
  });
});
