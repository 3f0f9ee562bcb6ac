import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import { updateApplicationKey } from "../../src/contract/application-keys.ts";
import { metrics, ready } from "../../src/contract/service.ts";
import { isUnavailable } from "../../src/storage/failures.ts";
import { connectStorage, openStorage } from "../../src/storage/open.ts";
import { statement } from "../../src/storage/statement.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { touchStore } from "../../src/stores/store.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { postgresEngine, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { until } from "../support/until.ts";

const CONNECTIONS = 2;

describe("a pool of PostgreSQL", () => {
  const clock = handClock();
  let database: TestDatabase;
  let storage: Storage;
  let latchkey: TestApp;
  let witness: pg.Client;

  beforeEach(async ({ skip }) => {
    if (!postgresEngine.isHere) skip("PostgreSQL is not installed");
    database = await postgresEngine.create();
    await (await openStorage({ clock }, database.url, UNHURRIED)).close();
    await open();
    witness = new pg.Client({ connectionString: database.url });
    await witness.connect();
  });
  afterEach(async () => {
    await latchkey?.close();
    await witness?.end();
    await database?.drop();
  });

  /** The limits of production, unless the test sets others. */
  const open = async (slack = 1) => {
    storage = await connectStorage(database.url, { connections: CONNECTIONS, slack });
    latchkey = await createTestApp({ storage, clock });
  };
  const pool = () => storage.pool?.() ?? expect.unreachable();
  const sleep = (seconds: number) => sql`select pg_sleep(${seconds})`.execute(storage.db);
  const settled = async (work: Promise<unknown>[]) =>
    (await Promise.allSettled(work)).map((end) => (end.status === "fulfilled" ? undefined : end.reason));

  describe("with more work than connections", () => {
    test("opens no more than its limit, and serves every caller when each is quick", async () => {
      await latchkey.close();
      await open(10);
      await Promise.all(Array.from({ length: 100 }, () => sleep(0)));
      expect(pool()).toMatchObject({ connections: CONNECTIONS, active: 0, waiting: 0, shed: 0 });
      const { rows } = await witness.query(
        "select count(*)::int as open from pg_stat_activity where application_name = 'latchkey' and datname = current_database()",
      );
      expect(rows[0].open).toBeLessThanOrEqual(CONNECTIONS);
    });

    test("queues as many as it can serve within the second, and refuses the rest at once", async () => {
      // Each takes half a second: two connections serve four in a second.
      for (let round = 0; round < 10; round++) await settled([sleep(0.5), sleep(0.5)]);
      const busy = [sleep(0.7), sleep(0.7)];
      await until(() => pool().active === CONNECTIONS);
      const mostWaiting = Math.max(CONNECTIONS, Math.floor((CONNECTIONS * 1000) / 300));
      const asked = settled(Array.from({ length: 40 }, () => sleep(0)));
      expect(await Promise.race([asked, until(() => pool().shed > 0)])).not.toBeInstanceOf(Array);
      expect(pool().waiting).toBeLessThanOrEqual(mostWaiting);
      const failures = (await asked).filter((failure) => failure !== undefined);
      expect(failures.length).toBeGreaterThanOrEqual(40 - mostWaiting);
      for (const failure of failures) expect(isUnavailable(failure)).toBe(true);
      expect(pool().shed).toBe(failures.length);
      await settled(busy);
      await sleep(0);
    });

    test("503 with Retry-After for the refused callers; readiness stays, gives the reason, and counts", async () => {
      const store = await latchkey.createStore();
      const isOver = Promise.withResolvers<true>();
      // Each keeps a connection, and gets answers on it all the time.
      const held = Array.from({ length: CONNECTIONS }, () =>
        storage.transact(async (trx) => {
          for (let rounds = 0; rounds < 200; rounds++) {
            await sql`select 1`.execute(trx);
            if (await Promise.race([isOver.promise, later(50)])) return;
          }
        }),
      );
      await until(() => pool().active === CONNECTIONS);
      const form = { grant_type: "implicit", client_id: store.key.clientId };
      const refused = await call(latchkey.app, issueAccessToken, { form });
      expect([refused.status, refused.code]).toEqual([503, "storage_unavailable"]);
      expect(refused.headers.get("retry-after")).toBe("2");
      const { status, body } = await call(latchkey.app, ready);
      expect([status, body.degraded]).toEqual([
        200,
        [expect.stringMatching(/^all 2 connections to the database are in use and \d+ requests wait$/)],
      ]);
      const { body: figures } = await call(latchkey.app, metrics);
      expect(figures).toMatch(/^latchkey_database_connections\{state="active"\} 2$/m);
      expect(figures).toMatch(/^latchkey_database_connections_max 2$/m);
      expect(figures).toMatch(/^latchkey_database_waiting 0$/m);
      expect(figures).toMatch(/^latchkey_database_shed_total 2$/m);
      isOver.resolve(true);
      await Promise.all(held);
      expect((await call(latchkey.app, issueAccessToken, { form })).status).toBe(200);
    });
  });

  test("503 not_ready on a read-only server, such as a former primary; ready again when it accepts writes", async () => {
    const standby = (is: "on" | "off") =>
      sql.raw(`set default_transaction_read_only = ${is}`).execute(storage.db);
    clock.set(Date.now());
    const look = async () => {
      clock.advance(1000);
      const { status, body } = await call(latchkey.app, ready);
      return [status, body.errors?.[0].meta.reasons];
    };
    expect(await look()).toEqual([200, undefined]);
    // In sequence, so they all use the same connection.
    await standby("on");
    expect(await look()).toEqual([503, [expect.stringContaining("cannot be written to")]]);
    await standby("off");
    expect(await look()).toEqual([200, undefined]);
  });

  test("a connection to a read-only server is replaced after a write: the next one may lead to the new primary", async () => {
    const { store } = await latchkey.createStore();
    const write = () =>
      storage.db.updateTable("stores").set({ name: "x" }).where("id", "=", store.id).execute();
    for (const refused of [write, () => storage.transact((trx) => touchStore(trx, store.id))]) {
      await sql`set default_transaction_read_only = on`.execute(storage.db);
      expect(isUnavailable((await settled([refused()]))[0])).toBe(true);
      await write();
    }
  });

  test("changes of one store queue on one connection: another store's requests are served", async () => {
    await latchkey.close();
    await open(3);
    const [held, other] = [await latchkey.createStore(), await latchkey.createStore()];
    await witness.query("begin");
    await witness.query("select 1 from stores where id = $1 for update", [held.store.id]);
    const rename = (name: string) => {
      const json = { data: { type: "application_key", name } };
      return held.call(updateApplicationKey, { ids: { id: held.key.id }, json });
    };
    const changes = Array.from({ length: 20 }, (_, at) => rename(`n${at}`));
    await until(() => pool().active > 0);
    for (let round = 0; round < 5; round++) {
      const form = { grant_type: "implicit", client_id: other.key.clientId };
      expect((await call(latchkey.app, issueAccessToken, { form })).status).toBe(200);
      expect(pool().waiting).toBe(0);
    }
    const answers = await Promise.all(changes);
    expect(new Set(answers.map(({ status, code }) => `${status} ${code}`))).toEqual(
      new Set(["503 storage_unavailable"]),
    );
    await witness.query("rollback");
    expect((await rename("last")).status).toBe(200);
  });

  const names = async () =>
    (await sql<{ name: string }>`select name from pg_prepared_statements`.execute(storage.db)).rows.map(
      ({ name }) => name,
    );

  describe("with statements that have a name", () => {
    const findAll = statement((db, of: { id: string }) =>
      db
        .selectFrom("altered" as "stores")
        .selectAll()
        .where("id", "=", of.id),
    );
    beforeEach(async () => {
      await witness.query("create table altered (id text primary key, name text)");
      await witness.query("insert into altered values ('a', 'one')");
    });
    /** On each of its connections. */
    const everywhere = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: CONNECTIONS }, work));

    test("prepares each statement once for a connection", async () => {
      await everywhere(() => findAll.first(storage.db, { id: "a" }));
      await everywhere(() => findAll.first(storage.db, { id: "b" }));
      expect((await names()).filter((name) => name.startsWith("latchkey_"))).not.toHaveLength(0);
    });

    test("an altered table between two runs causes no error, alone or in a transaction", async () => {
      const runAlone = () => findAll.first(storage.db, { id: "a" });
      const runWithin = () =>
        storage.transact(async (trx) => {
          const { rows } = await sql<{ id: number }>`select txid_current()::text as id`.execute(trx);
          return { ...(await findAll.first(trx, { id: "a" })), transaction: rows[0]?.id };
        });
      for (let round = 0; round < 3; round++) {
        await everywhere(runAlone);
        await everywhere(runWithin);
        await witness.query(`alter table altered add column "more_${round}" integer default ${round}`);
        const seen = await Promise.all([runAlone(), runWithin(), runAlone(), runWithin()]);
        for (const row of seen) expect(row).toMatchObject({ name: "one", [`more_${round}`]: round });
        await witness.query(`alter table altered alter column "more_${round}" type text`);
        const within = await Promise.all([runWithin(), runWithin(), runWithin()]);
        for (const row of within) expect(row).toMatchObject({ [`more_${round}`]: String(round) });
      }
    });

    test("a server that lost its prepared statements gets statements without names from then on", async () => {
      await everywhere(() => findAll.first(storage.db, { id: "a" }));
      await everywhere(() => sql`deallocate all`.execute(storage.db));
      expect(await storage.transact((trx) => findAll.first(trx, { id: "a" }))).toMatchObject({ name: "one" });
      await everywhere(() => sql`deallocate all`.execute(storage.db));
      for (let round = 0; round < 4; round++)
        expect(await findAll.first(storage.db, { id: "a" })).toMatchObject({ name: "one" });
      expect(await names()).toEqual([]);
    });
  });
});

const later = (ms: number) => new Promise<false>((resolve) => setTimeout(() => resolve(false), ms));
