import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { createCustomer } from "../../src/contract/customers.ts";
import { limits } from "../../src/contract/limits.ts";
import { createProfile } from "../../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../../src/contract/realms.ts";
import { jwks } from "../../src/contract/sign-on.ts";
import { openValkey, type Valkey } from "../../src/counters/valkey.ts";
import { egressFault } from "../../src/egress/egress-message.ts";
import { ANONYMOUS } from "../../src/rate-limit/cap.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type HandClock, handClock } from "../support/clock.ts";
import { silentLog } from "../support/silent-log.ts";
import { until } from "../support/until.ts";
import { hasValkey, NO_VALKEY, startValkey, type ValkeyServer } from "../support/valkey-server.ts";

/** Two instances on one database and one Valkey, called in turn as by a balancer. */

const EMAIL = "ada@shop.example";
const PASSWORD = "correct horse";
const STRANGER = "198.51.100.66";

let server: ValkeyServer;
let closing: (() => Promise<unknown>)[];
let instances: TestApp[];
let counters: Valkey[];
let store: TestStore;
let implicit: string;
let clock: HandClock;

beforeEach(async ({ skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  server = await startValkey();
  closing = [server.remove];
});
afterEach(async () => {
  server?.resume();
  for (const close of closing?.splice(0).reverse() ?? []) await close();
});

/** A long time limit, except in tests of late answers: a busy machine must not look like a server that is away. */
async function start(answerWithinMs = 30_000): Promise<void> {
  clock = handClock();
  const first = await createTestApp({ clock, valkey: await connect(answerWithinMs), egress: NOBODY });
  const { storage } = first;
  const second = await createTestApp({
    storage,
    clock,
    valkey: await connect(answerWithinMs),
    egress: NOBODY,
  });
  closing.push(first.close, second.app.stop);
  instances = [first, second];
  counters = counters.slice(-2);
  await until(() => counters.every((valkey) => valkey.instances() === 2));
  store = await first.createStore();
  implicit = await store.token("implicit");
  const json = { data: { type: "customer", name: "Ada", email: EMAIL, password: PASSWORD } };
  await store.call(createCustomer, { json });
}

const NOBODY = {
  send: async () => {
    throw egressFault("connect_failed");
  },
};

async function connect(answerWithinMs: number): Promise<Valkey> {
  const log = silentLog;
  const nowMs = clock.monotonicMs;
  const valkey = await openValkey({ urls: [server.url], log, answerWithinMs, nowMs });
  closing.push(valkey.close);
  counters = [...(counters ?? []), valkey];
  return valkey;
}

let asked = 0;
const next = () => (instances[asked++ % 2] as TestApp).app;

async function signIn(password: string, { app = next(), peer = STRANGER } = {}): Promise<string> {
  const json = { data: { type: "token", email: EMAIL, password } };
  const { status, code } = await call(app, issueCustomerToken, { token: implicit, json, peer });
  return status === 200 ? "signed in" : (code as string);
}

/** The number of guesses that are checked. */
async function guess(times: number, peer = STRANGER): Promise<number> {
  let looked = 0;
  for (let time = 0; time < times; time++)
    if ((await signIn("wrong horse", { peer })) === "credentials_wrong") looked++;
  return looked;
}

const allAway = () => until(() => counters.every((valkey) => valkey.isAway()));
const allThere = () => until(() => counters.every((valkey) => !valkey.isAway()));

describe("guesses of a password", () => {
  test("are five over all instances, then 429 on each, and one more after ten seconds (wire 20)", async () => {
    await start();
    expect(await guess(20)).toBe(5);
    for (const { app } of instances)
      expect(await signIn(PASSWORD, { app })).toBe("sign_in_attempts_exceeded");
    clock.advance(10_000);
    expect(await guess(5)).toBe(1);
  });

  test("leave no address, e-mail or password in plain text in Valkey", async () => {
    await start();
    await guess(3);
    await signIn(PASSWORD);
    const keys = (await server.say("KEYS *sign-in*")).split("\r\n").filter((line) => line.startsWith("lk:"));
    expect(keys.length).toBeGreaterThan(2);
    for (const key of keys)
      expect(key).toMatch(/^lk:\{[\w-]+\}:sign-in:(familiar|(pair|source|account):[0-9a-f]{32})$/);
  });

  test("a source that signed in on one instance is not affected on the other by strangers' attempts at the account", async () => {
    await start();
    const home = "203.0.113.7";
    const [here, there] = instances as [TestApp, TestApp];
    expect(await signIn(PASSWORD, { app: here.app, peer: home })).toBe("signed in");
    let looked = 0;
    for (let stranger = 0; stranger < 15; stranger++) looked += await guess(4, `198.51.100.${stranger}`);
    expect(looked).toBeGreaterThanOrEqual(50);
    expect(await signIn(PASSWORD, { app: there.app, peer: "198.51.100.99" })).toBe(
      "sign_in_attempts_exceeded",
    );
    expect(await signIn(PASSWORD, { app: there.app, peer: home })).toBe("signed in");
  });

  test("get no new five when Valkey is stopped, comes back empty or is flushed", async () => {
    await start();
    expect(await guess(10)).toBe(5);
    await server.stop();
    await allAway();
    expect(await guess(10)).toBe(0);
    await server.start();
    await allThere();
    // This instance has counted two of the five, which is not yet its half.
    expect(await guess(10)).toBeLessThanOrEqual(1);
    await server.say("FLUSHALL");
    expect(await guess(10)).toBe(0);
  });

  test("are divided among the instances while Valkey is paused, without waiting", async () => {
    await start(50);
    await until(() => counters.every((valkey) => valkey.instances() === 2));
    server.pause();
    // Two and a half for each instance.
    expect(await guess(20)).toBe(4);
    server.resume();
    await allThere();
    expect(await guess(20)).toBeLessThanOrEqual(1);
  });

  test("an owner who mistyped has all attempts again after a success, on whichever instance the mistakes were", async () => {
    await start();
    const [here, there] = instances as [TestApp, TestApp];
    for (let time = 0; time < 4; time++) await signIn("wrong horse", { app: there.app });
    expect(await signIn(PASSWORD, { app: here.app })).toBe("signed in");
    for (let time = 0; time < 5; time++)
      expect(await signIn("wrong horse", { app: there.app })).toBe("credentials_wrong");
  });
});

describe("requests without a good token", () => {
  const ask = async () =>
    (await call(next(), jwks, { peer: STRANGER, ids: { store: store.store.id, realm: "" } })).status;
  const served = async (times: number) => {
    let count = 0;
    for (let time = 0; time < times; time++) if ((await ask()) !== 429) count++;
    return count;
  };

  test("of one source have one burst over all instances, also when Valkey comes back empty or is flushed", async () => {
    await start();
    expect(await served(300)).toBe(ANONYMOUS.burst);
    // An instance that misses beats on a busy machine is not counted by the other, which then takes the whole limit.
    await until(() => counters.every((valkey) => valkey.instances() === 2));
    await server.stop();
    await allAway();
    expect(await served(20)).toBe(0);
    clock.advance(100);
    expect(await served(20)).toBe(ANONYMOUS.rate / 10);
    await server.start();
    await allThere();
    expect(await served(20)).toBe(0);
    await server.say("FLUSHALL");
    expect(await served(20)).toBe(0);
    clock.advance(1000);
    expect(await served(300)).toBe(ANONYMOUS.rate);
  });
});

test("attempts at discovery addresses are counted per store over all instances", async () => {
  await start();
  const realm = (await store.call(getAuthenticationSettings)).body.data.realm_id;
  const token = await store.token();
  const data = {
    type: "oidc-profile",
    name: "n",
    discovery_url: "https://idp.example/",
    client_id: "c",
    client_secret: "s",
  };
  let tried = 0;
  for (let time = 0; time < 2 * limits.discoveryTries; time++) {
    const answer = await call(next(), createProfile, { token, ids: { realm }, json: { data } });
    if (answer.code !== "discovery_tries_exceeded") tried++;
  }
  expect(tried).toBe(limits.discoveryTries);
});
