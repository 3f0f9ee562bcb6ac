import { randomBytes } from "node:crypto";
import { decodeProtectedHeader } from "jose";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getCustomer } from "../../src/contract/customers.ts";
import { jwks } from "../../src/contract/sign-on.ts";
import { createKeyring } from "../../src/lib/keyring.ts";
import { addNextKey, replaceKeys } from "../../src/signing-keys/key-rows.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createTestApp, PUBLIC_URL, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { latchkey } from "../support/command.ts";
import { engines, type TestDatabase, UNHURRIED } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { quickest, until } from "../support/until.ts";

/** A signing key is stolen: an operator removes it from another process, beside running instances. */
describe.each(engines)("signing keys that are replaced at once on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  let other: TestApp;
  let operator: Storage;
  const masterKey = randomBytes(32);
  const keyring = createKeyring([masterKey]);

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url, keyring });
    const { storage, clock } = f.latchkey;
    // A SQLite file is served by a single process, so there the second instance shares its connection.
    const shared = engine.name === "sqlite" ? { storage } : { databaseUrl: database.url };
    other = await createTestApp({ ...shared, clock, keyring });
    operator = await openStorage({ clock }, database.url, UNHURRIED);
  });
  afterEach(async () => {
    await operator?.close();
    if (other && other.storage !== f.latchkey.storage) await other.storage.close();
    await f?.close();
    await database?.drop();
  });

  const signIn = async () => (await f.redeem(await f.signOn())).body.data;
  const kidsAt = async ({ app }: TestApp): Promise<string[]> =>
    (await call(app, jwks)).body.keys
      .filter(({ alg }: { alg: string }) => alg === "ES256")
      .map(({ kid }: { kid: string }) => kid);
  const kidOf = ({ token }: { token: string }) => decodeProtectedHeader(token).kid;
  const outcomeAt = async ({ app }: TestApp, session: { token: string; customer_id: string }) => {
    const headers = { "x-customer-token": session.token };
    const request = { token: f.implicit, ids: { id: session.customer_id }, headers };
    const { status, code } = await call(app, getCustomer, request);
    return code ?? status;
  };

  test("403 for every earlier token on every instance within a second, and the old key is in no key set", async () => {
    const { clock } = f.latchkey;
    const instances = [f.latchkey, other];
    const round = async () => {
      const session = await signIn();
      const next = await addNextKey({ storage: operator, clock, keyring });
      for (const instance of instances) expect(await outcomeAt(instance, session)).toBe(200);
      clock.advance(1);
      const { kid, endedTokens } = await replaceKeys({ storage: operator, clock, keyring });
      expect(endedTokens).toBe(1);
      expect([kidOf(session), next]).not.toContain(kid);
      const isKnownTo = (instance: TestApp) => until(async () => (await kidsAt(instance)).join() === kid);
      const tookMs = await Promise.all(instances.map(isKnownTo));
      for (const instance of instances)
        expect(await outcomeAt(instance, session)).toBe("customer_token_invalid");
      return Math.max(...tookMs);
    };
    expect(await quickest(1000, round)).toBeLessThanOrEqual(1000);
  });

  test("the new key signs at once: a later sign-in gets a token that works on every instance", async () => {
    const { clock } = f.latchkey;
    await signIn();
    clock.advance(1);
    const { kid } = await replaceKeys({ storage: operator, clock, keyring });
    await until(async () => (await kidsAt(f.latchkey)).join() === kid);
    const session = await signIn();
    expect(kidOf(session)).toBe(kid);
    for (const instance of [f.latchkey, other]) {
      await until(async () => (await kidsAt(instance)).join() === kid);
      expect(await outcomeAt(instance, session)).toBe(200);
    }
  });

  test("a token is void although its row was restored: its key is gone", async () => {
    const { clock, storage } = f.latchkey;
    const session = await signIn();
    const row = await storage.db.selectFrom("customer_tokens").selectAll().executeTakeFirstOrThrow();
    clock.advance(1);
    const { kid } = await replaceKeys({ storage: operator, clock, keyring });
    await storage.db.insertInto("customer_tokens").values(row).execute();
    await until(async () => (await kidsAt(f.latchkey)).join() === kid);
    expect(await outcomeAt(f.latchkey, session)).toBe("customer_token_invalid");
  });

  test("a slow count of ended tokens does not delay the operator: after a time limit the replacement goes on", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("a statement may take any time there");
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    // While the table is locked, a count of it does not finish within the time limit of a statement.
    await holder.query("begin; lock table customer_tokens");
    const env = {
      LATCHKEY_DATABASE_URL: database.url,
      LATCHKEY_MASTER_KEY: masterKey.toString("base64url"),
      LATCHKEY_PUBLIC_URL: PUBLIC_URL,
    };
    const { stderr } = await latchkey(["rotate-keys", "--signing", "--now"], env);
    await holder.end();
    expect(stderr).toContain("It ends all live customer tokens of all stores");
    expect(stderr).toContain("add --yes to do it without being asked");
  });
});
