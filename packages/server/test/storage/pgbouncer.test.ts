import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueAccessToken, revokeToken } from "../../src/contract/access-tokens.ts";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { ready } from "../../src/contract/service.ts";
import { getStore } from "../../src/contract/store.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { postgresEngine, UNHURRIED } from "../support/engines.ts";
import { createFederation, SHOP } from "../support/federation.ts";
import { type PooledDatabase, pooledEngine } from "../support/pgbouncer-server.ts";
import { quickest, until } from "../support/until.ts";

/** The service behind PgBouncer in transaction mode, configured as docs/several-instances.md shows it. */
describe("behind PgBouncer", () => {
  const clock = handClock(Date.now());
  let database: PooledDatabase;
  let opened: Storage[];

  beforeEach(async ({ skip }) => {
    if (!pooledEngine.isHere) skip("PgBouncer is not installed");
    database = await pooledEngine.create();
    opened = [];
  });
  afterEach(async () => {
    for (const storage of opened ?? []) await storage.close();
    await database?.drop();
  });

  const open = async (directUrl?: string, limits = UNHURRIED): Promise<Storage> => {
    const storage = await openStorage({ clock }, database.url, { directUrl, ...limits });
    opened.push(storage);
    return storage;
  };
  const newApp = async (directUrl?: string): Promise<TestApp> =>
    createTestApp({ storage: await open(directUrl), clock });
  const codeOf = (work: Promise<unknown>): Promise<string | undefined> =>
    work.then(
      () => undefined,
      (error) => error.code,
    );

  /** Over a connection past PgBouncer. */
  async function witness<T>(text: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: database.directUrl });
    await client.connect();
    const { rows } = await client.query(text);
    await client.end();
    return rows;
  }

  test("two instances that start together create the tables once, and a sign-on works over both", async () => {
    const [here, there] = await Promise.all([newApp(), newApp()]);
    const f = await createFederation({ storage: here.storage, clock });
    const signedOn = await f.signOn();
    expect(signedOn.code).not.toBe("");
    const json = {
      data: {
        type: "token",
        authentication_mechanism: "oidc",
        oauth_authorization_code: signedOn.code,
        oauth_redirect_uri: SHOP,
        oauth_code_verifier: signedOn.pkce.verifier,
      },
    };
    const answers = await Promise.all(
      [here, there, here, there].map(({ app }) => call(app, issueCustomerToken, { token: f.implicit, json })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    await f.idp.close();
    expect(here.storage.pool?.().isPooler).toBe(true);
  });

  test("the server's own time limits apply to a single statement and to one in a transaction", async () => {
    const storage = await open(undefined, { slack: 1 });
    const other = await open(undefined, { slack: 1 });
    await sql`create table held (id integer)`.execute(storage.db);
    await sql`insert into held values (1)`.execute(storage.db);
    const slow = sql`select pg_sleep(3)`;
    // The server cancels the statement before its end: without an error code no server has answered.
    expect(await codeOf(slow.execute(storage.db))).toBe("57014");
    await codeOf(storage.transact(async (trx) => expect(await codeOf(slow.execute(trx))).toBe("57014")));
    const change = sql`update held set id = ${2}`;
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
    const holding = storage.transact(async (trx) => {
      await change.execute(trx);
      hold();
      await isOver;
    });
    await isHeld;
    expect(await codeOf(change.execute(other.db))).toBe("55P03");
    const idle = sql`select current_setting('idle_in_transaction_session_timeout') as idle`;
    expect((await storage.transact((trx) => idle.execute(trx))).rows).toEqual([{ idle: "5s" }]);
    over();
    await holding;
    // A refused statement leaves no transaction open: the next one is served.
    await change.execute(storage.db);
  });

  test("leaves nothing behind on a shared server process: no settings, no statements, no LISTEN", async () => {
    const { app, createStore, storage } = await newApp();
    const store = await createStore();
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 10 }, () => call(app, getStore, { token: "x" })));
    await Promise.all(Array.from({ length: 10 }, () => store.token()));
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(`select current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock, (select count(*)::int from pg_prepared_statements) as prepared,
      (select count(*)::int from pg_listening_channels()) as listening`);
    await client.end();
    expect(rows).toEqual([{ statement: "0", lock: "0", prepared: 0, listening: 0 }]);
    const listening = await witness(
      "select pid from pg_stat_activity where datname = current_database() and query like 'listen%'",
    );
    expect(listening).toEqual([]);
    expect(storage.pool?.().isPooler).toBe(true);
  });

  describe.each(["without", "with"])("%s a direct connection to listen on", (way) => {
    const directUrl = () => (way === "with" ? database.directUrl : undefined);

    test("a token that another instance revokes is refused here within a second (I4)", async () => {
      const [here, there] = [await newApp(directUrl()), await newApp(directUrl())];
      const store = await there.createStore();
      const { clientId: client_id, clientSecret: client_secret } = store.key;
      const round = async () => {
        const form = { grant_type: "client_credentials", client_id, client_secret };
        const token = (await call(there.app, issueAccessToken, { form })).body.access_token;
        const isKnown = async () => (await call(here.app, getStore, { token })).status === 200;
        await until(isKnown);
        await call(there.app, revokeToken, { form: { token, client_id, client_secret } });
        return until(async () => !(await isKnown()));
      };
      expect(await quickest(1000, round)).toBeLessThanOrEqual(1000);
    });

    test("readiness shows whether notices arrive", async () => {
      const { app, storage } = await newApp(directUrl());
      const isDeaf = way === "without";
      await until(async () =>
        isDeaf
          ? storage.pool?.().deafness !== undefined
          : (await witness("select 1 from pg_stat_activity where query like 'listen%' or query = 'select 1'"))
              .length > 0,
      );
      const { body } = await call(app, ready);
      expect(body.degraded).toEqual(
        isDeaf ? [expect.stringContaining("they do not come through a pooler")] : undefined,
      );
    });
  });

  test("a direct address of another database is detected, and no notice is assumed to have arrived", async () => {
    const another = await postgresEngine.create();
    const { app, storage } = await newApp(another.url);
    await until(() => storage.pool?.().deafness !== undefined);
    expect((await call(app, ready)).body.degraded).toEqual([
      expect.stringContaining("LATCHKEY_DATABASE_DIRECT_URL leads to another database"),
    ]);
    const heard: (string | undefined)[] = [];
    storage.changes.listen((storeId) => heard.push(storeId));
    await until(() => heard.length > 1);
    expect(new Set(heard)).toEqual(new Set([undefined]));
    await another.drop();
  });
});
