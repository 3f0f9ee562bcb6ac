import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createStore, type NewStore } from "../../src/create-store.ts";
import { isCrowded, isUnavailable } from "../../src/storage/failures.ts";
import { connectStorage, openStorage } from "../../src/storage/open.ts";
import type { PostgresOptions, Storage, Trx } from "../../src/storage/storage.ts";
import { changeStore } from "../../src/stores/store.ts";
import { handClock } from "../support/clock.ts";
import { postgresEngine, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { until } from "../support/until.ts";

/** The connections to PostgreSQL on a bad day, over a line that we can make worse. */
describe("connections to PostgreSQL", () => {
  const clock = handClock();
  let database: TestDatabase;
  let proxy: FaultProxy;
  let opened: Storage[];
  let witness: pg.Client;

  beforeEach(async ({ skip }) => {
    if (!postgresEngine.isHere) skip("PostgreSQL is not installed");
    database = await postgresEngine.create();
    await (await openStorage({ clock }, database.url, UNHURRIED)).close();
    proxy = await startFaultProxy(Number(new URL(database.url).port));
    opened = [];
    witness = new pg.Client({ connectionString: database.url });
    await witness.connect();
  });
  afterEach(async () => {
    proxy?.mend();
    for (const storage of opened ?? []) await storage.close();
    await witness?.end();
    await proxy?.close();
    await database?.drop();
  });

  /** With the limits of production. */
  const open = async (options?: PostgresOptions): Promise<Storage> => {
    const storage = await connectStorage(proxy.via(database.url), options);
    opened.push(storage);
    return storage;
  };
  /** As often as a busy machine needs: nothing is late on purpose yet. */
  const newStore = async (storage: Storage): Promise<NewStore> => {
    await until(async () => (await failure(storage.ping())) === undefined);
    return createStore({ storage, clock }, { name: "Shop", rateLimit: 100 });
  };
  const rename = (storage: Storage, storeId: string, name: string) =>
    storage.db.updateTable("stores").set({ name }).where("id", "=", storeId).execute();
  /** As a connection of somebody else's sees it. */
  const seenName = async (storeId: string) =>
    (await witness.query("select name from stores where id = $1", [storeId])).rows[0].name;
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error) => error,
    );

  test("a BEGIN that was carried out too late is on no connection that is used again: what is acknowledged is there", async () => {
    const storage = await open();
    const { store } = await newStore(storage);
    proxy.hold();
    expect(isUnavailable(await failure(storage.transact((trx) => touch(trx, store.id))))).toBe(true);
    proxy.mend();
    for (let round = 0; round < 5; round++) {
      await rename(storage, store.id, `name ${round}`);
      expect(await seenName(store.id)).toBe(`name ${round}`);
    }
  });

  test.each(["begin", "update", "commit"])(
    "a transaction whose %s is not answered leaves nothing behind that others wait for",
    async (statement) => {
      const storage = await open();
      const { store } = await newStore(storage);
      proxy.toServer.judge = (piece) => (piece.includes(statement) ? "silence" : "pass");
      expect(isUnavailable(await failure(storage.transact((trx) => touch(trx, store.id))))).toBe(true);
      proxy.toServer.judge = () => "pass";
      await until(async () => (await failure(rename(storage, store.id, "after"))) === undefined);
      expect(await seenName(store.id)).toBe("after");
    },
  );

  test("a begin that the server does not carry out takes the statement that came with it along", async () => {
    const storage = await open();
    const { store } = await newStore(storage);
    const revision = async () =>
      Number((await witness.query("select revision from stores where id = $1", [store.id])).rows[0].revision);
    const before = await revision();
    let spoilt = 0;
    proxy.toServer.judge = (piece) => {
      const at = piece.indexOf("begin");
      if (at >= 0) spoilt += piece.write("begun", at) / 5;
      return "pass";
    };
    // First under the name that it was prepared with; that one is not trusted any more, so then in full.
    const error = await failure(storage.transact((trx) => touch(trx, store.id)));
    expect((error as { code?: string }).code).toBe("42601");
    expect([spoilt, await revision()]).toEqual([2, before]);
    proxy.mend();
    await storage.transact((trx) => touch(trx, store.id));
    expect(await revision()).toBe(before + 1);
  });

  test("what the server refuses says who asked, not how the answer was read", async () => {
    const storage = await open();
    const nowhere = (db: Storage["db"]) =>
      db
        .selectFrom("nowhere" as "stores")
        .select("id")
        .execute();
    const errors = [await failure(nowhere(storage.db)), await failure(storage.transact(nowhere))];
    for (const error of errors) {
      const lines = (error as Error).stack?.split("\n").slice(1, 7).join("\n");
      expect(lines).toContain("postgres/connection.ts");
      expect(lines).not.toContain("pg-protocol");
    }
  });

  test("connections that fell silent are all replaced when the first of them is found out", async () => {
    const storage = await open();
    const { store } = await newStore(storage);
    // All ten are open and idle.
    await Promise.all(
      Array.from({ length: 10 }, () =>
        storage.transact((trx) => trx.selectFrom("stores").select("id").execute()),
      ),
    );
    proxy.silence();
    expect(isUnavailable(await failure(rename(storage, store.id, "lost")))).toBe(true);
    for (let round = 0; round < 12; round++)
      await until(async () => {
        const error = await failure(rename(storage, store.id, `name ${round}`));
        // On a busy machine a new connection may take longer than a request waits for one; a silent one is not met again.
        if (error) expect(String(error)).toMatch(/timeout exceeded when trying to connect/);
        return error === undefined;
      });
    expect(await seenName(store.id)).toBe("name 11");
  });

  test("a crowd after a quiet time is a crowd, although nothing was heard from the server lately", async () => {
    const storage = await open({ connections: 1 });
    const { store } = await newStore(storage);
    await rename(storage, store.id, "it is connected");
    // Longer than an answer may take.
    await sleep(1100);
    const failures: unknown[] = [];
    const ask = (times: number) =>
      Array.from({ length: times }, async () => {
        const error = await failure(storage.ping());
        if (error) failures.push(error);
      });
    const first = ask(1);
    // It has the connection, and no answer yet.
    await new Promise(process.nextTick);
    const more = ask(200);
    await new Promise(setImmediate);
    // Those who were refused at once; a busy machine may take so long to answer the others that nothing was heard indeed.
    const atOnce = [...failures];
    expect(atOnce.length).toBeGreaterThan(0);
    for (const error of atOnce) expect((error as Error).message).not.toContain("nothing is heard");
    await Promise.all([...first, ...more]);
  });

  test("a server that nobody hears from is away, and not too busy, however many want a connection", async () => {
    const storage = await open();
    const { store } = await newStore(storage);
    const failures: unknown[] = [];
    let served = 0;
    let isOver = false;
    const asking = Array.from({ length: 80 }, async () => {
      while (!isOver) {
        const error = await failure(rename(storage, store.id, "asked for"));
        if (error) failures.push(error);
        else served++;
        // Who was refused at once would not let anybody else have a turn.
        await new Promise(setImmediate);
      }
    });
    await until(() => served > 200);
    proxy.blackHole();
    // More than were under way: nothing was heard for the time that an answer may take.
    await until(() => failures.filter((error) => !isCrowded(error)).length > 20);
    for (let round = 0; round < 3; round++) {
      const error = await failure(storage.ping());
      expect([isUnavailable(error), isCrowded(error)]).toEqual([true, false]);
    }
    isOver = true;
    await Promise.all(asking);
  });

  test("a server that has no connection left for us is away, and not too busy: whoever has one may be better off", async () => {
    // One to listen on, and one.
    await witness.query("create role crowded login connection limit 2");
    const url = Object.assign(new URL(database.url), { username: "crowded" }).href;
    const holders = [0, 1].map(() => new pg.Client({ connectionString: url }));
    for (const holder of holders) await holder.connect();
    const storage = await connectStorage(url);
    opened.push(storage);
    await until(async () => {
      const error = await failure(storage.ping());
      expect(isUnavailable(error)).toBe(true);
      return !isCrowded(error);
    });
    for (const holder of holders) await holder.end();
    await until(async () => (await failure(storage.ping())) === undefined);
    await storage.close();
    await witness.query("drop role crowded");
  });

  test("a server that has taken its socket of Unix with it is away, as one whose port is closed", async () => {
    for (const url of ["postgres:///latchkey?host=/nowhere", "postgres://127.0.0.1:1/latchkey"]) {
      const storage = await connectStorage(url);
      opened.push(storage);
      expect(isUnavailable(await failure(storage.ping())), url).toBe(true);
    }
  });

  test("an instance that is paused inside a transaction holds its store for less than ten seconds", async () => {
    const [paused, other] = [await open(), await open()];
    const { store } = await newStore(paused);
    const { promise: pause, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
    const work = failure(
      changeStore({ storage: paused }, store.id, async (trx) => {
        hold();
        await pause;
        await touch(trx, store.id);
      }),
    );
    await isHeld;
    const change = () => failure(changeStore({ storage: other }, store.id, (trx) => touch(trx, store.id)));
    expect(isUnavailable(await change())).toBe(true);
    await until(async () => (await change()) === undefined, 10_000);
    goOn();
    expect(isUnavailable(await work)).toBe(true);
  });

  test("a LISTEN that is never answered is given up, and the next one hears", async () => {
    let isDeaf = true;
    proxy.toServer.judge = (piece) =>
      isDeaf && piece.includes("listen latchkey_changes") ? "silence" : "pass";
    const storage = await open();
    const { store } = await newStore(storage);
    isDeaf = false;
    const heard: (string | undefined)[] = [];
    storage.changes.listen((storeId) => heard.push(storeId));
    await until(async () => {
      await witness.query("update stores set revision = revision + 1 where id = $1", [store.id]);
      return heard.includes(store.id);
    });
  });

  test("two transactions that lock each other out are both carried out", async () => {
    // The limit on locks undoes one of them, as in production, before the server looks for deadlocks.
    await witness.query(
      `alter database ${new URL(database.url).pathname.slice(1)} set deadlock_timeout = '60s'`,
    );
    const storage = await open({ slack: 3 });
    const ids = [(await newStore(storage)).store.id, (await newStore(storage)).store.id];
    let held = 0;
    const { promise: bothHold, resolve } = Promise.withResolvers<void>();
    const crosswise = (first: string, second: string) =>
      storage.transact(async (trx) => {
        await touch(trx, first);
        if (++held === 2) resolve();
        await bothHold;
        await touch(trx, second);
      });
    const [a, b] = ids as [string, string];
    await Promise.all([crosswise(a, b), crosswise(b, a)]);
    const { rows } = await witness.query("select revision from stores");
    expect(rows.map(({ revision }) => Number(revision))).toEqual([2, 2]);
  });

  test("the server itself ends what takes too long, before we stop waiting", async () => {
    const storage = await open();
    const settings = await storage.db
      .selectFrom("pg_settings" as "stores")
      .select(["name", "setting" as "id"])
      .where("name", "in", ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"])
      .orderBy("name")
      .execute();
    const [idle, lock, statement] = settings.map((row) =>
      Number((row as unknown as { setting: string }).setting),
    );
    expect(idle).toBeGreaterThan(0);
    expect(idle).toBeLessThan(10_000);
    expect(lock).toBeGreaterThan(0);
    expect(lock).toBeLessThan(statement as number);
    expect(statement).toBeLessThan(1000);
  });
});

const touch = (trx: Trx, storeId: string) =>
  trx
    .updateTable("stores")
    .set(({ eb }) => ({ revision: eb("revision", "+", 1) }))
    .where("id", "=", storeId)
    .execute();
