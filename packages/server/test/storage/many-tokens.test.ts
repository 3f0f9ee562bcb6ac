import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { revokeCustomerTokens } from "../../src/contract/customer-tokens.ts";
import { createCustomer, deleteCustomer, eraseCustomer } from "../../src/contract/customers.ts";
import { newId } from "../../src/lib/ids.ts";
import { openStorage } from "../../src/storage/open.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { handClock } from "../support/clock.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { watchStatements } from "../support/statements.ts";

const TOKENS = 2000;

/** An account that a program signs in to once a minute has half a million, where tokens live for a year. */
describe.each(engines)("thousands of tokens of one customer, on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;
  let customer: string;
  let deletions: number;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    const clock = handClock();
    const storage = watchStatements(await openStorage({ clock }, database.url), ({ sql }) => {
      if (/^delete from "customer_tokens"/.test(sql)) deletions++;
    });
    latchkey = await createTestApp({ storage, clock });
    store = await latchkey.createStore();
    const data = { type: "customer", name: "Monitor", email: "monitor@shop.example" };
    customer = (await store.call(createCustomer, { json: { data } })).body.data.id;
    await insertTokens();
    deletions = 0;
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

  test("204 revokes them some at a time, with an event for each", async () => {
    const noted = await count("event_outbox");
    expect((await store.call(revokeCustomerTokens, { ids: { customer } })).status).toBe(204);
    expect(await count("customer_tokens")).toBe(0);
    expect((await count("event_outbox")) - noted).toBe(TOKENS);
    expect(deletions).toBeGreaterThanOrEqual(TOKENS / 200);
  });

  test.each([
    ["204", deleteCustomer],
    ["200", eraseCustomer],
  ] as const)("%s: they go some at a time before the customer does", async (status, operation) => {
    const answer = await store.call(operation, { ids: { id: customer } });
    expect(String(answer.status)).toBe(status);
    expect(await count("customer_tokens")).toBe(0);
    expect(deletions).toBeGreaterThan(1);
  });
});
