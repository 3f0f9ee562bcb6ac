import { type CompiledQuery, sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getStore } from "../../src/contract/store.ts";
import { forgetOldEvents } from "../../src/events/forget.ts";
import { ROUND } from "../../src/storage/delete-old.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { insertCrowd, insertEvents } from "../support/many-rows.ts";
import { planOf, watchStatements } from "../support/statements.ts";

const BACKLOG = 25_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

describe.each(engines)("forgetting on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
    store = await latchkey.createStore();
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const left = async (table: string) => {
    const found = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}`.execute(
      latchkey.storage.db,
    );
    return Number(found.rows[0]?.rows);
  };

  test("of a backlog takes several rounds, a second apart, until nothing is left", async () => {
    const { storage, clock, app } = latchkey;
    const tables = ["sign_on_attempts"];
    await insertCrowd(storage, { storeId: store.store.id, count: BACKLOG, overAt: clock.now(), tables });
    clock.advance(2 * MINUTE);
    await app.tidy();
    const afterOne = await left("sign_on_attempts");
    expect(afterOne).toBeGreaterThan(0);
    expect(afterOne).toBeLessThan(BACKLOG);
    for (let round = 0; round < 20 && (await left("sign_on_attempts")) > 0; round++) {
      clock.advance(1000);
      await app.tidy();
      expect((await store.call(getStore)).status).toBe(200);
    }
    expect(await left("sign_on_attempts")).toBe(0);
  });

  test("of many stores takes the time of one round altogether, so the recorder writes every second", async () => {
    const { storage, clock } = latchkey;
    const stores: string[] = [];
    for (let at = 0; at < 20; at++) stores.push((await latchkey.createStore()).store.id);
    // Each has a log that was written long ago, and no new event.
    await storage.db.deleteFrom("event_outbox").execute();
    for (const storeId of stores) await insertEvents(storage, storeId, 60);
    clock.advance(100 * DAY);
    let elapsedMs = 0;
    // Each read of the clock gives a slightly later time, however fast the machine is.
    const passing = { ...clock, monotonicMs: () => (elapsedMs += 4) };
    expect(await forgetOldEvents({ storage, clock: passing, eventDays: 90 })).toBe(true);
    expect(elapsedMs).toBeLessThan(2 * ROUND.withinMs);
    while (await forgetOldEvents({ storage, clock: passing, eventDays: 90 }));
    expect(await left("events")).toBe(0);
  });

  test("of events ends with the last one that is old enough, to the millisecond, also over several rounds", async () => {
    const { storage, clock } = latchkey;
    const storeId = store.store.id;
    const head = () =>
      storage.db
        .selectFrom("event_heads")
        .select(["first_sequence", "forgotten_hash", "oldest_time"])
        .where("store_id", "=", storeId)
        .executeTakeFirst();
    await storage.db.deleteFrom("event_outbox").execute();
    await insertEvents(storage, storeId, 2000);
    const until = clock.now() - 90 * DAY;
    const ofStore = storage.db.updateTable("events").where("store_id", "=", storeId);
    await ofStore.set({ time: until }).execute();
    await ofStore
      .set({ time: until + 1 })
      .where("sequence", ">", 1500)
      .execute();
    await storage.db.updateTable("event_heads").set({ oldest_time: until }).execute();
    await ofStore.set({ hash: "of the last" }).where("sequence", "=", 1500).execute();
    let elapsedMs = 0;
    // A round has time for one batch.
    const passing = { ...clock, monotonicMs: () => (elapsedMs += ROUND.withinMs / 2) };
    const forget = () => forgetOldEvents({ storage, clock: passing, eventDays: 90 });
    let rounds = 0;
    while (await forget()) rounds++;
    expect(rounds).toBeGreaterThan(1);
    expect(await left("events")).toBe(500);
    const kept = { first_sequence: 1501, forgotten_hash: "of the last", oldest_time: until + 1 };
    expect(await head()).toEqual(kept);
    expect(await forget()).toBe(false);
    expect(await head()).toEqual(kept);
    clock.advance(1);
    while (await forget());
    expect(await left("events")).toBe(0);
    expect(await head()).toMatchObject({ first_sequence: 2001, oldest_time: null });
  });

  test("is left for the next start when the service stops: there is time to write what is in memory, and no more", async () => {
    const { storage, clock, app } = latchkey;
    const tables = ["sign_on_attempts"];
    await insertCrowd(storage, { storeId: store.store.id, count: 100, overAt: clock.now(), tables });
    clock.advance(2 * MINUTE);
    await app.stop();
    expect(await left("sign_on_attempts")).toBe(100);
  });

  test("is not done by an instance whose clock is far ahead: its expired rows are not expired for the others", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("a file has no time of its own");
    const { storage } = latchkey;
    const clock = handClock(Date.now() + 2 * HOUR);
    const ahead = await createTestApp({ storage, clock });
    const [storeId, overAt] = [store.store.id, Date.now() + HOUR];
    await insertCrowd(storage, { storeId, count: 100, overAt, tables: ["sign_on_attempts"] });
    const revocation = { token_id: "revoked", store_id: storeId, expires_at: overAt };
    await storage.db.insertInto("access_token_revocations").values(revocation).execute();
    await storage.db.deleteFrom("event_outbox").execute();
    await insertEvents(storage, storeId, 10);
    await storage.db
      .updateTable("events")
      .set({ time: overAt - 90 * DAY })
      .execute();
    await storage.db
      .updateTable("event_heads")
      .set({ oldest_time: overAt - 90 * DAY })
      .execute();
    clock.advance(2 * MINUTE);
    await ahead.app.tidy();
    for (const [table, rows] of [
      ["sign_on_attempts", 100],
      ["access_token_revocations", 1],
      ["events", 10],
    ] as const)
      expect(await left(table), table).toBe(rows);
  });

  test("keeps rows that have not expired by the slowest instance's clock: a revoked token would be valid there again", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("one process serves a SQLite");
    const { storage } = latchkey;
    const { db } = storage;
    const clock = handClock(Date.now() - MINUTE);
    const { app } = await createTestApp({ storage, clock });
    clock.advance(MINUTE);
    const store_id = store.store.id;
    const none = { store_id, realm_id: "", profile_id: "", client_id: "", client_redirect_uri: "" };
    for (const [name, overForMs] of [
      ["kept", 2 * MINUTE - 1],
      ["gone", 2 * MINUTE],
    ] as const) {
      const over = { store_id, expires_at: clock.now() - overForMs };
      await db
        .insertInto("access_token_revocations")
        .values({ token_id: name, ...over })
        .execute();
      const answer = { key_hash: name, sealed_answer: "", ...over };
      await db.insertInto("idempotent_answers").values(answer).execute();
      const code = { identity: name, code_expires_at: over.expires_at, forget_at: clock.now() + HOUR };
      await db
        .insertInto("sign_on_attempts")
        .values({ id: name, state: "code_issued", ...none, ...code })
        .execute();
    }
    await app.tidy();
    const revocations = await db.selectFrom("access_token_revocations").select("token_id as name").execute();
    const answers = await db.selectFrom("idempotent_answers").select("key_hash as name").execute();
    const codes = db
      .selectFrom("sign_on_attempts")
      .select("identity as name")
      .where("identity", "is not", null);
    for (const rows of [revocations, answers, await codes.execute()])
      expect(rows).toEqual([{ name: "kept" }]);
  });

  test("finds expired rows by an index, and sorts nothing: a table scan would stop the service", async () => {
    const { storage, clock } = latchkey;
    const statements: CompiledQuery[] = [];
    const watched = watchStatements(storage, (statement) => {
      if (/^(delete|update)/.test(statement.sql)) statements.push(statement);
    });
    const watching = await createTestApp({ storage: watched, clock });
    // Earlier drafts are numbered first, so they do not count here.
    await latchkey.app.tidy();
    clock.advance(2 * MINUTE);
    await watching.app.tidy();
    expect(statements).toHaveLength(15);
    for (const statement of statements) {
      const plan = await planOf(storage, statement);
      expect(plan, statement.sql).toMatch(/SEARCH \w+ USING (COVERING )?INDEX|Index (Only )?Scan using/);
      expect(plan, statement.sql).not.toMatch(/SCAN|TEMP B-TREE|Seq Scan|Sort/);
    }
  });
});
