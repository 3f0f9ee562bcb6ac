import { CompiledQuery, sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { revokeCustomerTokens } from "../../src/contract/customer-tokens.ts";
import {
  createCustomer,
  deleteCustomer,
  eraseCustomer,
  getCustomer,
  updateCustomer,
} from "../../src/contract/customers.ts";
import { backchannelLogout } from "../../src/contract/sign-on.ts";
import { newId } from "../../src/lib/ids.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Tables } from "../../src/storage/tables.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";
import { watchDatabase, watchStatements } from "../support/statements.ts";
import { until } from "../support/until.ts";

const TOKENS = 2000;

/** An account with a sign-in a minute by a program has half a million, where tokens live for a year. */
describe.each(engines)("thousands of tokens of one customer, on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;
  let customer: string;
  let deletions: number;
  let limited: CompiledQuery[];

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    const clock = handClock();
    const storage = watchStatements(await openStorage({ clock }, database.url, UNHURRIED), (statement) => {
      if (/^delete from "customer_tokens"/.test(statement.sql)) deletions++;
      if (/from "customer_tokens".* limit /.test(statement.sql)) limited.push(statement);
    });
    latchkey = await createTestApp({ storage, clock });
    store = await latchkey.createStore();
    const data = {
      type: "customer",
      name: "Monitor",
      email: "monitor@shop.example",
      password: "a long password",
    };
    customer = (await store.call(createCustomer, { json: { data } })).body.data.id;
    await insertTokens();
    deletions = 0;
    limited = [];
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  async function insertTokens(): Promise<void> {
    const { storage, clock } = latchkey;
    const times = { created_at: clock.now(), expires_at: clock.now() + 60_000 };
    const of = { store_id: store.store.id, customer_id: customer, mechanism: "password" };
    const rows = Array.from({ length: TOKENS }, () => ({ id: newId(), ...of, ...times }));
    for (let from = 0; from < TOKENS; from += 500)
      await storage.db
        .insertInto("customer_tokens")
        .values(rows.slice(from, from + 500))
        .execute();
  }

  const count = async (table: "customer_tokens" | "event_outbox") =>
    (await latchkey.storage.db.selectFrom(table).select("id").execute()).length;

  test("204 revokes them in batches, with an event for each", async () => {
    const noted = await count("event_outbox");
    expect((await store.call(revokeCustomerTokens, { ids: { customer } })).status).toBe(204);
    expect(await count("customer_tokens")).toBe(0);
    expect((await count("event_outbox")) - noted).toBe(TOKENS);
    expect(deletions).toBeGreaterThanOrEqual(TOKENS / 200);
  });

  test("204 revokes all of them, also where another request is ending one of them", async ({ skip }) => {
    if (engine.name === "sqlite") skip("one transaction at a time writes to a SQLite");
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query("begin");
    const oldest = "select id from customer_tokens order by created_at, id limit 1";
    await other.query(`delete from customer_tokens where id in (${oldest})`);
    const revoking = store.call(revokeCustomerTokens, { ids: { customer } });
    const waits = sql`select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like 'delete from "customer_tokens"%'`;
    await until(async () => (await waits.execute(latchkey.storage.db)).rows.length === 1);
    await other.query("commit");
    await other.end();
    expect((await revoking).status).toBe(204);
    expect(await count("customer_tokens")).toBe(0);
  });

  test("they are found by the index of a customer's tokens, not by a scan", async ({ skip }) => {
    if (engine.name === "sqlite") skip("SQLite reads no table whole that has an index for it");
    const { db } = latchkey.storage;
    await sql`analyze customer_tokens`.execute(db);
    const json = { data: { type: "customer", password: "another long one" } };
    await store.call(updateCustomer, { ids: { id: customer }, json });
    await store.call(revokeCustomerTokens, { ids: { customer } });
    const plans: string[] = [];
    for (const statement of limited.splice(0)) {
      const explain = CompiledQuery.raw(`explain ${statement.sql}`, [...statement.parameters]);
      plans.push(JSON.stringify((await db.executeQuery(explain)).rows));
    }
    expect(plans).toHaveLength(TOKENS / 200 + 3);
    for (const plan of plans) expect(plan).toContain("customer_tokens_by_age");
  });

  test("200: a new password ends them in batches, with an event for each", async () => {
    const noted = await count("event_outbox");
    const json = { data: { type: "customer", password: "another long one" } };
    expect((await store.call(updateCustomer, { ids: { id: customer }, json })).status).toBe(200);
    expect(await count("customer_tokens")).toBe(0);
    // And the event of the change of the customer.
    expect((await count("event_outbox")) - noted).toBe(TOKENS + 1);
    expect(deletions).toBeGreaterThanOrEqual(TOKENS / 200);
  });

  test.each([
    ["based on what was read", {}],
    ["with a new address", { email: "new@shop.example" }],
  ])("200: a new password %s ends them in batches too", async (_, members) => {
    const read = await store.call(getCustomer, { ids: { id: customer } });
    const json = { data: { type: "customer", password: "another long one", ...members } };
    const headers = { "if-match": read.headers.get("etag") ?? "" };
    const changed = await store.call(updateCustomer, { ids: { id: customer }, json, headers });
    expect(changed.status).toBe(200);
    expect(await count("customer_tokens")).toBe(0);
    expect(deletions).toBeGreaterThanOrEqual(TOKENS / 200);
  });

  test("409: a new password that is refused because the customer has changed since ends none of them", async () => {
    const json = { data: { type: "customer", password: "another long one" } };
    const headers = { "if-match": '"2020-01-01T00:00:00.000Z"' };
    const refused = await store.call(updateCustomer, { ids: { id: customer }, json, headers });
    expect(refused.code).toBe("customer_changed");
    expect(await count("customer_tokens")).toBe(TOKENS);
  });

  test("409: a new password that is refused because the address is another customer's ends none of them", async () => {
    const other = {
      type: "customer",
      name: "Other",
      email: "other@shop.example",
      password: "a long password",
    };
    await store.call(createCustomer, { json: { data: other } });
    const json = { data: { type: "customer", password: "another long one", email: other.email } };
    expect((await store.call(updateCustomer, { ids: { id: customer }, json })).code).toBe("email_taken");
    expect(await count("customer_tokens")).toBe(TOKENS);
  });

  test.each([
    ["204", deleteCustomer],
    ["200", eraseCustomer],
  ] as const)("%s: they are deleted in batches before the customer", async (status, operation) => {
    const answer = await store.call(operation, { ids: { id: customer } });
    expect(String(answer.status)).toBe(status);
    expect(await count("customer_tokens")).toBe(0);
    expect(deletions).toBeGreaterThan(1);
  });
});

describe.each(engines)("thousands of tokens of one subject, on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
  });
  afterEach(async () => {
    await f?.close();
    await database?.drop();
  });

  test("200: a logout token that names the subject alone ends them in batches, and no other subject's", async () => {
    const { storage, clock } = f.latchkey;
    const mine = (await f.redeem(await f.signOn())).body.data;
    const [row] = await storage.db.selectFrom("customer_tokens").selectAll().execute();
    const copies = Array.from(
      { length: TOKENS },
      () => ({ ...row, id: newId() }) as Tables["customer_tokens"],
    );
    for (let from = 0; from < TOKENS; from += 500)
      await storage.db
        .insertInto("customer_tokens")
        .values(copies.slice(from, from + 500))
        .execute();
    f.idp.person = { ...ADA, sub: "bea", email: "bea@shop.example" };
    const other = (await f.redeem(await f.signOn())).body.data;
    expect(other.customer_id).not.toBe(mine.customer_id);
    let deletions = 0;
    storage.db = watchDatabase(storage.db, ({ sql }) => {
      if (/^delete from "customer_tokens"/.test(sql)) deletions++;
    });
    const iat = Math.floor(clock.now() / 1000);
    const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
    const claims = { iss: f.idp.issuer, aud: f.idp.clientId, iat, exp: iat + 120, jti: "one", events };
    const answer = await call(f.latchkey.app, backchannelLogout, {
      ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
      form: { logout_token: f.idp.signToken({ ...claims, sub: ADA.sub }) },
    });
    expect(answer.status).toBe(200);
    const left = await storage.db.selectFrom("customer_tokens").select("id").execute();
    expect(left).toEqual([{ id: other.id }]);
    expect(deletions).toBeGreaterThanOrEqual(TOKENS / 200);
  });
});
