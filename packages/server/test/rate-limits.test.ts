import { parseList } from "structured-headers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { updateApplicationKey as updateKey } from "../src/application-keys/administer.ts";
import { issueAccessToken } from "../src/contract/access-tokens.ts";
import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "../src/contract/application-keys.ts";
import { getAuthenticationSettings } from "../src/contract/realms.ts";
import { getStore } from "../src/contract/store.ts";
import { byOperator } from "../src/events/event.ts";
import { trustedProxies } from "../src/lib/source-address.ts";
import { ANONYMOUS } from "../src/rate-limit/cap.ts";
import { updateStoreAsOperator } from "../src/stores/administer.ts";
import { createTestApp, getToken, type TestApp, type TestStore } from "./support/app.ts";
import { call } from "./support/call.ts";

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
});
beforeEach(async () => {
  store = await latchkey.createStore(50);
  latchkey.clock.advance(2000);
});
afterAll(() => latchkey.close());

/** A second key of the store. Its token is implicit, so it cannot use the administrator's floor. */
async function newKey(reserved: number) {
  const json = { data: { type: "application_key", name: "Second", reserved_rate_limit: reserved } };
  const { body } = await store.call(createApplicationKey, { json });
  const key = { id: body.data.id, clientId: body.data.client_id, clientSecret: body.data.client_secret };
  return { id: key.id, token: await getToken(latchkey.app, { store: store.store, key }, "implicit") };
}

/** An operation that implicit tokens may call. */
const isServed = async (token: string) =>
  (await call(latchkey.app, getAuthenticationSettings, { token })).status === 200;

async function countServed(token: string, requests: number): Promise<number> {
  let served = 0;
  for (let i = 0; i < requests; i++) if (await isServed(token)) served++;
  return served;
}

test("a key within its floor is not refused while another sends fifty times the limit (T46, I6)", async () => {
  const steady = await newKey(20);
  const flood = await newKey(0);
  for (let tick = 0; tick < 40; tick++) {
    latchkey.clock.advance(50);
    await countServed(flood.token, 25);
    expect(await isServed(steady.token)).toBe(true);
  }
});

test("a flood with a public token from one address takes neither floor nor pool from the others", async () => {
  const { token } = await newKey(20);
  const ask = (peer: string) => call(latchkey.app, getAuthenticationSettings, { token, peer });
  const refused = { one: 0, other: 0 };
  for (let tick = 0; tick < 40; tick++) {
    latchkey.clock.advance(50);
    for (let i = 0; i < 15; i++) await ask("198.51.100.20");
    if (tick % 2 === 0 && (await ask("203.0.113.1")).status !== 200) refused.one++;
    if (tick % 3 === 0 && (await ask("2001:db8:7::1")).status !== 200) refused.other++;
  }
  expect(refused).toEqual({ one: 0, other: 0 });
});

test("a flood with a key's public token takes nothing from the program that holds its secret", async () => {
  const secret = await store.token();
  const token = await store.token("implicit");
  let refused = 0;
  for (let tick = 0; tick < 40; tick++) {
    latchkey.clock.advance(50);
    for (let i = 0; i < 15; i++)
      await call(latchkey.app, getAuthenticationSettings, { token, peer: `198.51.100.${i}` });
    const { status } = await call(latchkey.app, getAuthenticationSettings, { token: secret });
    if (status !== 200) refused++;
  }
  expect(refused).toBe(0);
});

test("the flooding key recovers within a second (T46)", async () => {
  const flood = await newKey(0);
  await countServed(flood.token, 200);
  expect(await isServed(flood.token)).toBe(false);
  latchkey.clock.advance(1000);
  expect(await isServed(flood.token)).toBe(true);
});

test("an administrator is served when everything is reserved and used up", async () => {
  const data = { type: "application_key", name: "Greedy", reserved_rate_limit: 50 };
  const greedy = await newKey(0);
  await store.call(updateApplicationKey, { ids: { id: greedy.id }, json: { data } });
  await countServed(greedy.token, 100);
  expect(await isServed(await store.token("implicit"))).toBe(false);
  latchkey.clock.advance(1000);
  const { status } = await store.call(updateApplicationKey, {
    ids: { id: greedy.id },
    json: { data: { ...data, reserved_rate_limit: 1 } },
  });
  expect(status).toBe(200);
});

test("a new reservation, a new store limit and a deleted key apply to the next request", async () => {
  const key = await newKey(0);
  await countServed(key.token, 200);
  expect(await isServed(key.token)).toBe(false);
  const data = { type: "application_key", name: "Second", reserved_rate_limit: 10 };
  await store.call(updateApplicationKey, { ids: { id: key.id }, json: { data } });
  expect(await isServed(key.token)).toBe(true);
  await countServed(key.token, 20);
  expect(await isServed(key.token)).toBe(false);
  latchkey.clock.advance(10);
  expect(await isServed(key.token)).toBe(false);
  await updateStoreAsOperator(latchkey, byOperator(store.store.id), { rate_limit: 500 });
  expect(await isServed(key.token)).toBe(false);
  // A larger pool fills up at its new rate, its reserve first.
  latchkey.clock.advance(250);
  expect(await isServed(key.token)).toBe(true);
  latchkey.clock.advance(1000);
  await store.call(deleteApplicationKey, { ids: { id: key.id } });
  expect((await call(latchkey.app, getStore, { token: key.token })).status).toBe(401);
});

test("RateLimit and RateLimit-Policy are structured fields that name the same buckets (R145, R146)", async () => {
  const { token } = await newKey(20);
  const { headers } = await call(latchkey.app, getAuthenticationSettings, { token });
  const policies = parseList(headers.get("ratelimit-policy") as string);
  const states = parseList(headers.get("ratelimit") as string);
  expect(policies.map(([name, parameters]) => [name, parameters.get("q"), parameters.get("w")])).toEqual([
    ["reserved", 20, 1],
    ["shared", 30, 1],
  ]);
  expect(states.map(([name]) => name)).toEqual(["reserved", "shared"]);
  for (const [, parameters] of states) {
    expect(parameters.get("r")).toBeGreaterThanOrEqual(0);
    expect(parameters.get("t")).toBeGreaterThanOrEqual(1);
  }
});

test("a key without a reservation sees only the shared bucket", async () => {
  const { headers } = await store.call(getStore);
  expect(headers.get("ratelimit-policy")).toBe('"shared";q=50;w=1');
});

test("429 names the bucket, its reserved, used and free amounts, and Retry-After", async () => {
  const { token } = await newKey(5);
  await countServed(token, 100);
  const answer = await call(latchkey.app, getAuthenticationSettings, { token });
  expect(answer.status).toBe(429);
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(answer.body.errors[0]).toMatchObject({
    code: "rate_limit_exceeded",
    meta: { bucket: "shared", reserved: 5, shared: 45, used: 101, free: 0, retry_after_seconds: 1 },
  });
});

test("Retry-After is spread over two seconds, so that clients do not return at once (R152)", async () => {
  const late = await createTestApp({ random: () => 0.99 });
  const made = await late.createStore(1);
  const token = await made.token("implicit");
  for (let i = 0; i < 10; i++) await call(late.app, getAuthenticationSettings, { token });
  expect((await call(late.app, getAuthenticationSettings, { token })).headers.get("retry-after")).toBe("2");
  await late.close();
});

test("requests without a valid token use no key's quota, and are limited by source (R151)", async () => {
  const peer = "198.51.100.7";
  const left = async () => (await store.call(getStore)).headers.get("ratelimit");
  latchkey.clock.advance(1000);
  const before = await left();
  const statuses = new Set<number>();
  for (let i = 0; i < ANONYMOUS.burst + 5; i++) {
    statuses.add((await call(latchkey.app, getStore, { peer, token: "guess" })).status);
  }
  expect([...statuses]).toEqual([401, 429]);
  latchkey.clock.advance(1000);
  expect(await left()).toBe(before);
});

test("403 costs the store nothing and counts against its source: an implicit token is public (R151)", async () => {
  const { token } = await newKey(0);
  const peer = "198.51.100.9";
  latchkey.clock.advance(1000);
  const before = (await store.call(getStore)).headers.get("ratelimit");
  for (let i = 0; i < ANONYMOUS.burst; i++) await call(latchkey.app, getStore, { token, peer });
  expect((await call(latchkey.app, getStore, { token, peer })).status).toBe(429);
  latchkey.clock.advance(1000);
  expect((await store.call(getStore)).headers.get("ratelimit")).toBe(before);
});

test("an IPv6 subscriber with many networks is one source of a key's public requests: other sources are served", async () => {
  const { token } = await newKey(0);
  const ask = async (peer: string) =>
    (await call(latchkey.app, getAuthenticationSettings, { token, peer })).status;
  for (let n = 0; n < 300; n++) await ask(`2001:db8:1:${n.toString(16)}::1`);
  expect(await ask("2001:db8:1:ffff::1")).toBe(429);
  expect(await ask("198.51.100.5")).toBe(200);
  expect(await ask("2001:db8:2::1")).toBe(200);
});

test("changing a reservation back and forth adds no requests: the limit holds", async () => {
  const key = await newKey(0);
  let served = 0;
  for (let i = 0; i < 20; i++) {
    const data = { type: "application_key", name: "n", reserved_rate_limit: i % 2 === 0 ? 40 : 0 };
    await updateKey(latchkey, byOperator(store.store.id), key.id, {
      name: data.name,
      reserved_rate_limit: data.reserved_rate_limit,
    });
    served += await countServed(key.token, 100);
  }
  expect(served).toBeLessThanOrEqual(60 + 48 + 2);
});

test("a valid token is served from an address whose invalid ones are refused with bucket and time", async () => {
  const peer = "198.51.100.8";
  for (let i = 0; i < ANONYMOUS.burst + 1; i++) await call(latchkey.app, getStore, { peer, token: "guess" });
  const { status, headers } = await call(latchkey.app, getStore, { peer });
  expect(status).toBe(429);
  const wait = headers.get("retry-after");
  expect(headers.get("ratelimit-policy")).toBe(`"source";q=${ANONYMOUS.rate};w=1`);
  expect(headers.get("ratelimit")).toBe(`"source";r=0;t=${wait}`);
  expect((await store.call(getStore, { peer })).status).toBe(200);
});

test("a thousand X-Forwarded-For values from an untrusted peer are one source, with one window (T35)", async () => {
  const ask = (i: number) =>
    call(latchkey.app, issueAccessToken, {
      form: { grant_type: "implicit", client_id: store.key.clientId },
      headers: { "x-forwarded-for": `203.0.113.${i % 250}` },
      peer: "192.0.2.77",
    });
  let served = 0;
  for (let i = 0; i < 1000; i++) if ((await ask(i)).status === 200) served++;
  expect(served).toBe(ANONYMOUS.burst);
  latchkey.clock.advance(1000);
  expect((await ask(0)).status).toBe(200);
});

test("without a token, each client behind a trusted proxy is a source, IPv6 clients by /64 (A62)", async () => {
  const own = await createTestApp({ proxies: trustedProxies(["10.0.0.0/8"]) });
  const ask = async (client: string) =>
    (await call(own.app, getStore, { peer: "10.0.0.1", headers: { "x-forwarded-for": client } })).status;
  for (let i = 0; i < ANONYMOUS.burst; i++) await ask(`2001:db8:0:1::${(i + 1).toString(16)}`);
  expect(await ask("2001:db8:0:1:ffff::1")).toBe(429);
  expect(await ask("[2001:db8:0:1:ffff::1]:443")).toBe(429);
  expect(await ask("203.0.113.6:5678")).toBe(401);
  expect(await ask("2001:db8:0:2::1")).toBe(401);
  expect(await ask("203.0.113.5")).toBe(401);
  await own.close();
});

test("a wall clock that jumps by an hour neither frees nor refuses requests (T48)", async () => {
  const { token } = await newKey(0);
  await countServed(token, 200);
  expect(await isServed(token)).toBe(false);
  latchkey.clock.set(latchkey.clock.now() + 1_800_000);
  expect(await isServed(token)).toBe(false);
  latchkey.clock.set(latchkey.clock.now() - 3_600_000);
  expect(await isServed(token)).toBe(false);
  latchkey.clock.advance(1000);
  expect(await isServed(token)).toBe(true);
});
