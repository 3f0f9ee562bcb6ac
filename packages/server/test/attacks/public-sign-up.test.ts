import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { createCustomer, listCustomers, updateCustomer } from "../../src/contract/customers.ts";
import { limits } from "../../src/contract/limits.ts";
import { metrics } from "../../src/contract/service.ts";
import { openValkey } from "../../src/counters/valkey.ts";
import { byOperator } from "../../src/events/event.ts";
import { trustedProxies } from "../../src/lib/source-address.ts";
import { createPasswords } from "../../src/passwords/password.ts";
import { updateStoreAsOperator } from "../../src/stores/administer.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type HandClock, handClock } from "../support/clock.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { silentLog } from "../support/silent-log.ts";
import { until } from "../support/until.ts";
import { hasValkey, NO_VALKEY, startValkey } from "../support/valkey-server.ts";

/** The attack: one address signs up without end with a public token: 20 KB each, 185 GB a day at the default limit. */

const PASSWORD = "correct horse";
const HOUR_MS = 3_600_000;
const { signUpsPerNetwork: OF_NETWORK, signUpsPerHour: OF_STORE } = limits;

let made = 0;
const newEmail = () => `stranger${++made}@example.com`;

describe.each(engines)("sign-ups with a public token, on $name", ({ isHere, create }) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;
  let token: string;
  let hashed: number;

  beforeEach(async ({ skip }) => {
    if (!isHere) skip("PostgreSQL is not installed");
    database = await create();
    const clock = handClock();
    hashed = 0;
    const passwords = {
      ...createPasswords({ clock }),
      hash: async () => `hash ${++hashed}`,
      matches: async (_storeId: string, hash: string | null) => hash !== null,
    };
    const proxies = trustedProxies(["10.0.0.0/8"]);
    latchkey = await createTestApp({ databaseUrl: database.url, clock, passwords, proxies });
    store = await latchkey.createStore();
    token = await store.token("implicit");
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const signUp = (peer: string, more: object = {}, headers: Record<string, string> = {}) => {
    const data = { type: "customer", name: "Stranger", email: newEmail(), ...more };
    return call(latchkey.app, createCustomer, { token, peer, headers, json: { data } });
  };
  const countCustomers = async () =>
    (await store.call(listCustomers, { query: "?page[limit]=1" })).body.meta.results.total;

  test(`429 after ${OF_NETWORK} in an hour from one network, before a password is hashed`, async () => {
    const answers = [];
    for (let at = 0; at < OF_NETWORK + 20; at++)
      answers.push(await signUp("203.0.113.9", { password: PASSWORD }));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(OF_NETWORK);
    expect([await countCustomers(), hashed]).toEqual([OF_NETWORK, OF_NETWORK]);
    const refused = answers.at(-1);
    expect(refused?.code).toBe("sign_ups_exceeded");
    expect(refused?.headers.get("retry-after")).toBe("3600");
    expect(refused?.body.errors[0].meta).toMatchObject({ bucket: "network" });
    expect((await signUp("203.0.113.10")).status).toBe(201);
    latchkey.clock.advance(HOUR_MS - 1);
    token = await store.token("implicit");
    expect((await signUp("203.0.113.9")).headers.get("retry-after")).toBe("1");
    latchkey.clock.advance(1);
    expect((await signUp("203.0.113.9")).status).toBe(201);
  });

  test("an IPv6 /64 is one network; a forged X-Forwarded-For is ignored", async () => {
    for (let at = 0; at < OF_NETWORK; at++)
      await signUp(`2001:db8::${at + 1}`, {}, { "X-Forwarded-For": `198.51.100.${at}` });
    expect((await signUp("2001:db8::ffff")).code).toBe("sign_ups_exceeded");
    expect((await signUp("10.0.0.1", {}, { "X-Forwarded-For": "2001:db8::1" })).code).toBe(
      "sign_ups_exceeded",
    );
    expect((await signUp("2001:db8:0:1::1")).status).toBe(201);
    expect((await signUp("10.0.0.1", {}, { "X-Forwarded-For": "198.51.100.7" })).status).toBe(201);
  });

  test(`429 after ${OF_STORE} in an hour of one store, from any number of networks`, async () => {
    await updateStoreAsOperator(latchkey, byOperator(store.store.id), { sign_ups_per_hour: 50 });
    for (let at = 0; at < 50; at++) expect((await signUp(`203.0.113.${at}`)).status).toBe(201);
    const refused = await signUp("203.0.113.99");
    expect([refused.code, refused.body.errors[0].meta.bucket]).toEqual(["sign_ups_exceeded", "store"]);
    const other = await latchkey.createStore();
    token = await other.token("implicit");
    expect((await signUp("203.0.113.99")).status).toBe(201);
  });

  test("the operator's limits hold from the next sign-up on", async () => {
    const set = (perNetwork: number) =>
      updateStoreAsOperator(latchkey, byOperator(store.store.id), { sign_ups_per_network: perNetwork });
    await set(2);
    const statuses = [];
    for (let at = 0; at < 3; at++) statuses.push((await signUp("203.0.113.9")).status);
    await set(4);
    for (let at = 0; at < 3; at++) statuses.push((await signUp("203.0.113.9")).status);
    expect(statuses).toEqual([201, 201, 429, 201, 201, 429]);
  });

  test("a malformed sign-up is not counted, a taken e-mail is; the back office is not limited", async () => {
    await updateStoreAsOperator(latchkey, byOperator(store.store.id), { sign_ups_per_network: 2 });
    for (let at = 0; at < 5; at++) expect((await signUp("203.0.113.9", { name: "" })).status).toBe(400);
    const mine = { email: newEmail(), password: PASSWORD };
    expect((await signUp("203.0.113.9", mine)).status).toBe(201);
    expect((await signUp("203.0.113.9", mine)).code).toBe("email_taken");
    expect((await signUp("203.0.113.9")).code).toBe("sign_ups_exceeded");
    token = await store.token();
    for (let at = 0; at < 5; at++) expect((await signUp("203.0.113.9")).status).toBe(201);
  });

  test("a sign-up that failed with a 500 is not counted", async () => {
    await updateStoreAsOperator(latchkey, byOperator(store.store.id), { sign_ups_per_network: 2 });
    const { transact } = latchkey.storage;
    latchkey.storage.transact = () => Promise.reject(new Error("the disk is full"));
    for (let at = 0; at < 5; at++) expect((await signUp("203.0.113.9")).status).toBe(500);
    latchkey.storage.transact = transact;
    const statuses = [];
    for (let at = 0; at < 3; at++) statuses.push((await signUp("203.0.113.9")).status);
    expect(statuses).toEqual([201, 201, 429]);
  });

  test("the metric of refusals counts refused sign-ups", async () => {
    for (let at = 0; at < OF_NETWORK + 2; at++) await signUp("203.0.113.9");
    const { body } = await call(latchkey.app, metrics);
    expect(body).toMatch(/^latchkey_rate_limit_refusals_total\{bucket="sign_ups"\} 2$/m);
  });

  test("a stranger's external reference is short: a sign-up leaves a few kilobytes", async () => {
    const long = "x".repeat(limits.publicExternalRefLength + 1);
    const refused = await signUp("203.0.113.9", { external_ref: long });
    expect([refused.code, refused.body.errors[0].source.pointer]).toEqual([
      "member_invalid",
      "/data/external_ref",
    ]);
    expect((await signUp("203.0.113.9", { external_ref: long.slice(1) })).status).toBe(201);
    token = await store.token();
    expect((await signUp("203.0.113.9", { external_ref: long })).status).toBe(201);
  });

  test("429 after 60 changes of a customer's own data in an hour", async () => {
    const mine = { email: newEmail(), password: PASSWORD };
    const { id } = (await signUp("203.0.113.9", mine)).body.data;
    const signIn = { type: "token", authentication_mechanism: "password", ...mine };
    const { body } = await call(latchkey.app, issueCustomerToken, { token, json: { data: signIn } });
    const headers = { "X-Customer-Token": body.data.token };
    const change = (at: number) => {
      const json = { data: { type: "customer", name: `Ada ${at}` } };
      return call(latchkey.app, updateCustomer, { token, headers, ids: { id }, json });
    };
    const changes = [];
    for (let at = 0; at < limits.ownChangesPerHour + 1; at++) changes.push(await change(at));
    expect(changes.filter(({ status }) => status === 200)).toHaveLength(limits.ownChangesPerHour);
    expect(changes.at(-1)?.code).toBe("own_changes_exceeded");
  });
});

describe("sign-ups at two instances that count in Valkey", () => {
  const closing: (() => Promise<unknown>)[] = [];
  let clock: HandClock;
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  test("30 are accepted in all; while Valkey is down, at most half of that at each", async ({ skip }) => {
    if (!hasValkey) return skip(NO_VALKEY);
    const server = await startValkey();
    clock = handClock();
    closing.push(server.remove);
    const start = async (more: object) => {
      const nowMs = () => clock.monotonicMs();
      const valkey = await openValkey({ urls: [server.url], log: silentLog, answerWithinMs: 30_000, nowMs });
      const latchkey = await createTestApp({ clock, valkey, ...more });
      return { valkey, latchkey };
    };
    const first = await start({});
    const second = await start({ storage: first.latchkey.storage });
    closing.push(first.latchkey.close, second.latchkey.app.stop, first.valkey.close, second.valkey.close);
    await until(() => first.valkey.instances() === 2 && second.valkey.instances() === 2);
    const store = await first.latchkey.createStore();
    const token = await store.token("implicit");
    const signUps = async (asked: number) => {
      let letIn = 0;
      for (let at = 0; at < asked; at++) {
        const { app } = (at % 2 === 0 ? first : second).latchkey;
        const json = { data: { type: "customer", name: "Stranger", email: newEmail() } };
        if ((await call(app, createCustomer, { token, json })).status === 201) letIn++;
      }
      return letIn;
    };
    expect(await signUps(20)).toBe(20);
    await server.stop();
    // Each instance has 15, of which 10 are used.
    expect(await signUps(30)).toBe(10);
    await server.start();
  });
});
