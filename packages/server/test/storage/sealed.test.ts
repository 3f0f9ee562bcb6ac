import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { refuseMissingKeys } from "../../src/sealed.ts";
import { createTestApp, type TestApp, testKeyring } from "../support/app.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { watchStatements } from "../support/statements.ts";

const WEBHOOKS = 6000;

/**
 * A statement over a million rows, which ten thousand stores may have, exceeds PostgreSQL's time limit, and the service
 * would not start.
 */
describe.each(engines)("the check of sealed values at the start, on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  test("reads in batches, up to the last value that is sealed with another master key", async () => {
    const { storage } = latchkey;
    const { store } = await latchkey.createStore();
    const texts = { name: "n", description: "", observes: "[]", url: "u", format: "cloudevents" };
    const numbers = { enabled: 0, sequence: 0, lease_until: 0, is_slow: 0, created_at: 0, updated_at: 0 };
    const known = `${testKeyring.current("webhook-secret").keyId.toString("hex")}.sealed`;
    const rows = Array.from({ length: WEBHOOKS }, (_, at) => ({
      id: String(at).padStart(5, "0"),
      store_id: store.id,
      sealed_secret: at === WEBHOOKS - 1 ? "0badf00d.sealed" : known,
      ...texts,
      ...numbers,
    }));
    for (let from = 0; from < WEBHOOKS; from += 500)
      await storage.db
        .insertInto("integrations")
        .values(rows.slice(from, from + 500))
        .execute();
    let statements = 0;
    const watched = watchStatements(storage, ({ sql }) => {
      if (/from "integrations"/.test(sql)) statements++;
    });
    const looking = refuseMissingKeys({ storage: watched, keyring: testKeyring });
    await expect(looking).rejects.toThrow("(key id 0badf00d)");
    expect(statements).toBeGreaterThan(1);
  });
});
