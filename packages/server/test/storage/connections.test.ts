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

/** Connections to PostgreSQL through a proxy that the test can break. */
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

  /** The limits of production. */
  const open = async (options?: PostgresOptions): Promise<Storage> => {
    const storage = await connectStorage(proxy.via(database.url), options);
    opened.push(storage);
    return storage;
  };
  /** As often as a busy machine needs: the proxy does not delay anything yet. */
  const newStore = async (storage: Storage): Promise<NewStore> => {
    await until(async () => (await failure(storage.ping())) === undefined);
    return createStore({ storage, clock }, { name: "Shop", rate_limit: 100 });
  };
  const rename = (storage: Storage, storeId: string, name: string) =>
    storage.db.updateTable("stores").set({ name }).where("id", "=", storeId).execute();
  /** The view of another connection. */
  const seenName = async (storeId: string) =>
    (await witness.query("select name from stores where id = $1", [storeId])).rows[0].name;
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error) => error,
    );

  test("a BEGIN that was carried out too late leaves its connection unused: acknowledged writes are there", async () => {
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
    "a transaction without an answer to its %s leaves no lock behind",
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

  test("a BEGIN that the server does not carry out cancels the statement that was sent with it", async () => {
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
    // First by the name of the prepared statement; the name is not trusted any more, so then with the full text.
    const error = await failure(storage.transact((trx) => touch(trx, store.id)));
    expect((error as { code?: string }).code).toBe("42601");
    expect([spoilt, await revision()]).toEqual([2, before]);
    proxy.mend();
    await storage.transact((trx) => touch(trx, store.id));
    expect(await revision()).toBe(before + 1);
  });

  test("a refusal of the server names the caller, not the parser of the answer", async () => {
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

  test("silent connections are all replaced when the first of them is found", async () => {
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
        // On a busy machine a new connection may take longer than a request waits; a silent connection is not used
        // again.
        if (error) expect(String(error)).toMatch(/timeout exceeded when trying to connect/);
        return error === undefined;
      });
    expect(await seenName(store.id)).toBe("name 11");
  });

  test("many requests after a quiet time are served, although the server sent nothing lately", async () => {
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
    // The connection is open, without an answer yet.
    await new Promise(process.nextTick);
    const more = ask(200);
    await new Promise(setImmediate);
    // The requests that were refused at once; a busy machine may take so long for the others that the server did seem
    // silent.
    const atOnce = [...failures];
    expect(atOnce.length).toBeGreaterThan(0);
    for (const error of atOnce) expect((error as Error).message).not.toContain("nothing is heard");
    await Promise.all([...first, ...more]);
  });

  test("a silent server counts as away, not as too busy, however many requests want a connection", async () => {
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
        // A request that was refused at once would give no other request a turn.
        await new Promise(setImmediate);
      }
    });
    await until(() => served > 200);
    proxy.blackHole();
    // More than were under way: no answer came within the time limit of an answer.
    await until(() => failures.filter((error) => !isCrowded(error)).length > 20);
    for (let round = 0; round < 3; round++) {
      const error = await failure(storage.ping());
      expect([isUnavailable(error), isCrowded(error)]).toEqual([true, false]);
    }
    isOver = true;
    await Promise.all(asking);
  });

  test("a server without a free connection counts as away, not as too busy: another instance may have one", async () => {
    // A connection for LISTEN, and another for statements.
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

  test("a server that has removed its Unix socket counts as away, as with a closed port", async () => {
    for (const url of ["postgres:///latchkey?host=/nowhere", "postgres://127.0.0.1:1/latchkey"]) {
      const storage = await connectStorage(url);
      opened.push(storage);
      expect(isUnavailable(await failure(storage.ping())), url).toBe(true);
    }
  });

  test("an instance that is paused inside a transaction blocks its store for less than ten seconds", async () => {
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

  test("an unanswered LISTEN is given up, and the next one receives notices", async () => {
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

  test("two transactions in a deadlock are both carried out", async () => {
    // The limit on locks ends one of them, as in production, before the server looks for deadlocks.
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

  test("the server ends a slow statement before the service stops waiting", async () => {
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
