import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { createIntegration } from "../../src/contract/integrations.ts";
import type { TestStore } from "../support/app.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { type Hooks, openHooks } from "../support/hooks.ts";
import { until } from "../support/until.ts";

/** The attack: one store's receivers answer slowly, and hold every place for webhook deliveries. */

describe.each(engines)("slow receivers of webhooks, on $name", ({ isHere, create }) => {
  let database: TestDatabase;
  let hooks: Hooks;
  let made: number;
  /** Receivers that have not answered; `release` answers 200. */
  let held: Map<string, () => void>;

  beforeEach(async ({ skip }) => {
    if (!isHere) skip("PostgreSQL is not installed");
    database = await create();
    hooks = await openHooks({ databaseUrl: database.url });
    made = 0;
    held = new Map();
    hooks.receiver.answer((response, { json }) => {
      const answer = () => void response.writeHead(200).end("ok");
      if (!json.data.resource.name.startsWith("slow")) return answer();
      held.set(`${json.storeid} ${held.size}`, answer);
    });
  });
  afterEach(async () => {
    hooks?.receiver.answer(200);
    release();
    await hooks?.close();
    await database?.drop();
  });

  function release(): void {
    for (const answer of held.values()) answer();
    held.clear();
  }

  /** A store with this many webhooks for customer events. */
  async function shop(webhooks: number): Promise<TestStore> {
    const store = await hooks.latchkey.createStore(1_000_000);
    const data = {
      type: "integration",
      name: "Newsletter",
      integration_type: "webhook",
      observes: ["customer.*"],
      configuration: { url: hooks.receiver.url },
    };
    for (let at = 0; at < webhooks; at++) await store.call(createIntegration, { json: { data } });
    await look();
    return store;
  }

  const signUp = ({ call }: TestStore, name: string) =>
    call(createCustomer, { json: { data: { type: "customer", name, email: `c${++made}@shop.example` } } });
  const arrivedFor = ({ store: { id } }: TestStore) =>
    hooks.receiver.arrived.filter(({ json }) => json.storeid === id).length;
  const isSlow = async () =>
    (await hooks.latchkey.storage.db.selectFrom("integrations").select("is_slow").execute())[0]?.is_slow;
  const look = async () => {
    await hooks.latchkey.app.tidy();
  };

  test("a hundred of one store leave half of the places to others", async () => {
    const slow = await shop(100);
    const quick = await shop(3);
    await signUp(slow, "slow");
    await look();
    await until(() => held.size === 32);
    await signUp(quick, "Ada");
    await look();
    await until(() => arrivedFor(quick) === 3);
    expect([held.size, arrivedFor(slow)]).toEqual([32, 32]);
  });

  test("forty stores with one each do not delay another store", async () => {
    const stores = [];
    for (let at = 0; at < 40; at++) stores.push(await shop(1));
    const quick = await shop(1);
    for (const store of stores) {
      await signUp(store, "slow");
      await look();
    }
    await until(() => held.size === 40);
    await signUp(quick, "Ada");
    await look();
    await until(() => arrivedFor(quick) === 1);
    expect(held.size).toBe(40);
  });

  test("deliveries that wait for a place begin as places come free", async () => {
    const slow = await shop(40);
    await signUp(slow, "slow");
    await look();
    await until(() => held.size === 32);
    hooks.receiver.answer(200);
    release();
    await until(async () => {
      await look();
      return arrivedFor(slow) === 40;
    });
  });

  test("a receiver that has held its place for a second counts as slow until its next quick answer", async () => {
    const slow = await shop(1);
    const answerAfter = async (ms: number) => {
      await signUp(slow, "slow");
      await look();
      await until(() => held.size === 1);
      hooks.latchkey.clock.advance(ms);
      release();
      await hooks.latchkey.app.delivered();
      return isSlow();
    };
    expect(await answerAfter(900)).toBe(0);
    expect(await answerAfter(1900)).toBe(1);
    expect(await answerAfter(10)).toBe(0);
  });

  test("answers of half a second, one after the other, count as slow, too", async () => {
    const slow = await shop(1);
    const { body } = await signUp(slow, "slow");
    for (let at = 0; at < 5; at++) {
      const json = { data: { type: "customer", name: `slow ${at}` } };
      await slow.call(updateCustomer, { ids: { id: body.data.id }, json });
    }
    await look();
    for (let at = 0; at < 2; at++) {
      await until(() => held.size === 1);
      hooks.latchkey.clock.advance(500);
      release();
    }
    await until(async () => (await isSlow()) === 1);
    await until(async () => {
      release();
      await look();
      return arrivedFor(slow) === 6;
    });
  });
});
