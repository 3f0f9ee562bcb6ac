import { setTimeout as sleep } from "node:timers/promises";
import { CompiledQuery } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createStore } from "../../src/create-store.ts";
import { hashOf } from "../../src/events/chain.ts";
import { byService, type EventRow } from "../../src/events/event.ts";
import { noteEvents } from "../../src/events/note.ts";
import { createSequencer, type Sequencer } from "../../src/events/sequencer.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage, Trx } from "../../src/storage/storage.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { watchStatements } from "../support/statements.ts";
import { until } from "../support/until.ts";

const publicUrl = "https://keys.example";

describe.each(engines)("the log of events on $name", (engine) => {
  let database: TestDatabase;
  let storage: Storage;
  let clock: ReturnType<typeof handClock>;
  let sequencer: Sequencer;
  let storeId: string;
  let others: Storage[];

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    clock = handClock();
    others = [];
    storage = await openStorage({ clock }, database.url, UNHURRIED);
    sequencer = createSequencer({ storage, clock, publicUrl });
    storeId = await newStore();
  });
  afterEach(async () => {
    for (const one of [storage, ...(others ?? [])]) await one?.close();
    await database?.drop();
  });

  /** A store with an empty log. */
  async function newStore(): Promise<string> {
    const { store } = await createStore({ storage, clock }, { name: "s", rate_limit: 1 });
    await storage.db.deleteFrom("event_outbox").execute();
    return store.id;
  }
  const happening = (subject: string) => ({ type: "store.updated" as const, subject, resource: { subject } });
  const note = (trx: Trx, subject: string, of = storeId) =>
    noteEvents(trx, { clock }, byService(of), [happening(subject)]);
  const happen = (subject: string, of = storeId) => storage.transact((trx) => note(trx, subject, of));
  const rows = (of = storeId): Promise<EventRow[]> =>
    storage.db.selectFrom("events").selectAll().where("store_id", "=", of).orderBy("sequence").execute();
  const subjects = async (of = storeId) => (await rows(of)).map(({ subject }) => subject);
  const waiting = async () => (await storage.db.selectFrom("event_outbox").selectAll().execute()).length;

  async function expectChain(of = storeId): Promise<void> {
    const all = await rows(of);
    const head = await storage.db
      .selectFrom("event_heads")
      .selectAll()
      .where("store_id", "=", of)
      .executeTakeFirst();
    let before = "";
    all.forEach((row, at) => {
      expect(row.sequence).toBe(at + 1);
      expect(row.previous_hash).toBe(before);
      expect(hashOf(row)).toBe(row.hash);
      before = row.hash;
    });
    expect([head?.last_sequence ?? 0, head?.last_hash ?? ""]).toEqual([all.length, before]);
  }

  test("has each store's events from 1 on without a gap, in the order of changes, each with the previous hash", async () => {
    const second = await newStore();
    for (let at = 0; at < 30; at++) await happen(`${at}`, at % 3 === 0 ? second : storeId);
    await sequencer.run();
    for (let at = 30; at < 60; at++) await happen(`${at}`, at % 3 === 0 ? second : storeId);
    await sequencer.run();
    const all = Array.from({ length: 60 }, (_, at) => `${at}`);
    expect(await subjects(second)).toEqual(all.filter((_, at) => at % 3 === 0));
    expect(await subjects()).toEqual(all.filter((_, at) => at % 3 !== 0));
    await expectChain();
    await expectChain(second);
    expect(await waiting()).toBe(0);
  });

  test("has a salt for each event, also for events that were numbered together: one salt reveals no other event", async () => {
    for (let at = 0; at < 3; at++) await happen("the same");
    await sequencer.run();
    const salts = (await rows()).map(({ salt }) => Buffer.from(salt ?? "", "base64url"));
    expect(salts.map(({ length }) => length)).toEqual([16, 16, 16]);
    expect(new Set(salts.map((salt) => salt.toString("hex"))).size).toBe(3);
    expect(new Set((await rows()).map(({ digest }) => digest)).size).toBe(3);
  });

  test("has no event of a transaction that was rolled back, and all of a committed one in order", async () => {
    const undone = storage.transact(async (trx) => {
      await note(trx, "undone");
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    const many = Array.from({ length: 1200 }, (_, at) => `${at}`);
    await storage.transact((trx) => noteEvents(trx, { clock }, byService(storeId), many.map(happening)));
    await sequencer.run();
    expect(await subjects()).toEqual(many);
    await expectChain();
  });

  test("loses none and repeats none when the sequencer is killed at any statement", async () => {
    for (let killedAt = 0; ; killedAt++) {
      for (let at = 0; at < 3; at++) await happen(`${killedAt} ${at}`);
      let statements = 0;
      const dying = watchStatements(storage, () => {
        if (statements++ === killedAt) throw new Error("killed");
      });
      const end = await createSequencer({ storage: dying, clock, publicUrl })
        .run()
        .catch((error: Error) => error.message);
      if (end === undefined) {
        expect(killedAt).toBeGreaterThan(3);
        break;
      }
      await sequencer.run();
      expect(await rows()).toHaveLength(3 * (killedAt + 1));
    }
    expect(new Set(await subjects()).size).toBe((await rows()).length);
    await expectChain();
  });

  test("is complete when the clock steps back: numbers and chain continue, each event has its change's time", async () => {
    const start = clock.now();
    for (const step of [0, 5000, -90_000_000, 1000]) {
      clock.set(start + step);
      await happen(`${step}`);
      await sequencer.run();
    }
    expect((await rows()).map((row) => row.time - start)).toEqual([0, 5000, -90_000_000, 1000]);
    expect((await rows()).map((row) => row.latest_time - start)).toEqual([0, 5000, 5000, 5000]);
    await expectChain();
  });

  test("omits drafts of a deleted store, and continues with the others", async () => {
    const gone = await newStore();
    await happen("late", gone);
    await happen("here");
    await storage.db.deleteFrom("stores").where("id", "=", gone).execute();
    await sequencer.run();
    expect(await subjects()).toEqual(["here"]);
    expect(await rows(gone)).toEqual([]);
    expect(await waiting()).toBe(0);
  });

  test("is numbered soon after a commit, without a request", async () => {
    const numbered = Promise.withResolvers<ReadonlyMap<string, number>>();
    const own = createSequencer({ storage, clock, publicUrl, onNumbered: numbered.resolve });
    own.start();
    await happen("soon");
    expect(await numbered.promise).toEqual(new Map([[storeId, 1]]));
    await own.stop();
  });

  if (engine.name === "sqlite") return;

  test("has late commits too: a reader that follows the numbers sees every change, in whatever order they commit", async () => {
    const begun = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const late = storage.transact(async (trx) => {
      await note(trx, "began first");
      begun.resolve();
      await mayCommit.promise;
    });
    await begun.promise;
    await happen("committed first");
    await sequencer.run();
    const seen = (await rows()).at(-1)?.sequence ?? 0;
    expect(await subjects()).toEqual(["committed first"]);
    mayCommit.resolve();
    await late;
    await sequencer.run();
    const then = (await rows()).filter(({ sequence }) => sequence > seen);
    expect(then.map(({ subject }) => subject)).toEqual(["began first"]);
    await expectChain();
  });

  test("has each event once when two instances number at once while others write", async () => {
    const other = await openStorage({ clock }, database.url, UNHURRIED);
    others.push(other);
    const both = [sequencer, createSequencer({ storage: other, clock, publicUrl })];
    let isWriting = true;
    const numbering = both.map(async (one) => {
      while (isWriting) {
        await one.run();
        await sleep(1);
      }
    });
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let at = 0; at < 50; at++) await happen(`${writer} ${at}`);
    });
    await Promise.all(writers);
    isWriting = false;
    await Promise.all(numbering);
    await sequencer.run();
    const all = await subjects();
    expect(all).toHaveLength(200);
    expect(new Set(all).size).toBe(200);
    // The changes of one writer are in the order in which it made them.
    for (let writer = 0; writer < 4; writer++) {
      const own = all.filter((subject) => subject.startsWith(`${writer} `));
      expect(own).toEqual(Array.from({ length: 50 }, (_, at) => `${writer} ${at}`));
    }
    await expectChain();
  });

  test("is taken over within five seconds from an instance that was paused while it numbered", async () => {
    await happen("one");
    const other = await openStorage({ clock }, database.url, UNHURRIED);
    others.push(other);
    const paused = Promise.withResolvers<unknown>();
    const idleLimit = CompiledQuery.raw("show idle_in_transaction_session_timeout");
    // Pauses after its first statements, with the lock, as a stopped process does.
    const stopped = { ...other, db: other.db };
    const hanging = watchStatements(stopped, () => {});
    const executor = hanging.db.getExecutor();
    const provide = executor.provideConnection.bind(executor);
    executor.provideConnection = (consumer, options) =>
      provide(
        (connection) =>
          consumer({
            executeQuery: async (query) => {
              const result = await connection.executeQuery(query);
              if (/^delete from "event_outbox"/.test(query.sql)) {
                paused.resolve((await connection.executeQuery(idleLimit)).rows);
                await new Promise(() => {});
              }
              return result as never;
            },
            streamQuery: (query, size) => connection.streamQuery(query, size),
          }),
        options,
      );
    createSequencer({ storage: hanging, clock, publicUrl })
      .run()
      .catch(() => {});
    // The server's own time limit, which does not depend on the machine; the next look comes a second after it.
    expect(await paused.promise).toEqual([{ idle_in_transaction_session_timeout: "3s" }]);
    await happen("two");
    await until(async () => {
      await sequencer.run();
      return (await rows()).length === 2;
    });
    expect(await subjects()).toEqual(["one", "two"]);
    await expectChain();
  });
});
