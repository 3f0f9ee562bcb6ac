import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkProfile, createProfile, getProfile } from "../../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../../src/contract/realms.ts";
import { ready } from "../../src/contract/service.ts";
import { openValkey, type Valkey } from "../../src/counters/valkey.ts";
import { createHealth, type Health } from "../../src/profiles/health/health.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type HandClock, handClock } from "../support/clock.ts";
import { startHostileIdp } from "../support/hostile-idp.ts";
import { silentLog } from "../support/silent-log.ts";
import { until } from "../support/until.ts";
import { hasValkey, NO_VALKEY, startValkey, type ValkeyServer } from "../support/valkey-server.ts";

const REST_MS = 5_000;

let server: ValkeyServer;
let clock: HandClock;
let closing: (() => Promise<unknown>)[];

beforeEach(async ({ skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  server = await startValkey();
  clock = handClock();
  closing = [server.remove];
});
afterEach(async () => {
  server?.resume();
  for (const close of closing?.splice(0).reverse() ?? []) await close();
});

/** A long time limit, except in tests of late answers: a busy machine must not look like a server that is away. */
async function connect(answerWithinMs = 30_000): Promise<Valkey> {
  const log = silentLog;
  const valkey = await openValkey({ urls: [server.url], log, answerWithinMs, nowMs: clock.monotonicMs });
  closing.push(valkey.close);
  return valkey;
}

async function startTwo() {
  const counters = [await connect(), await connect()];
  const [here, there] = counters.map((valkey) => createHealth({ clock, valkey })) as [Health, Health];
  return {
    here,
    there,
    away: () => until(() => counters.every((valkey) => valkey.isAway())),
    back: () => until(() => counters.every((valkey) => !valkey.isAway())),
  };
}

async function fail({ note }: Health, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await note("a", "failed");
}
const statusOf = ({ healthOf }: Health) => healthOf("a")?.status;

describe("health of identity providers, while Valkey", () => {
  test("is stopped, continues from what each instance knew; afterwards the state in Valkey counts", async () => {
    const { here, there, away, back } = await startTwo();
    await fail(here, 5);
    await there.refresh();
    await server.stop();
    await away();
    for (const one of [here, there]) {
      await one.refresh();
      expect(statusOf(one)).toBe("down");
      expect(await one.mayAsk("a")).toBe(false);
    }
    clock.advance(REST_MS);
    // Each instance measures for itself.
    expect(await Promise.all([here, here, there, there].map((one) => one.mayAsk("a")))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    await here.note("a", "well");
    await there.note("a", "failed");
    expect([statusOf(here), statusOf(there)]).toEqual(["up", "down"]);
    await server.start();
    await back();
    for (const one of [here, there]) await one.refresh();
    expect([statusOf(here), statusOf(there)]).toEqual([undefined, undefined]);
    await fail(here, 3);
    await fail(there, 2);
    await here.refresh();
    expect([statusOf(here), statusOf(there)]).toEqual(["down", "down"]);
  });

  test("is flushed, is forgotten by every instance within a refresh, and measured again", async () => {
    const { here, there } = await startTwo();
    await fail(here, 5);
    await there.refresh();
    await server.say("FLUSHALL");
    await here.refresh();
    await there.refresh();
    expect([statusOf(here), statusOf(there)]).toEqual([undefined, undefined]);
    await fail(there, 5);
    await here.refresh();
    expect([statusOf(here), statusOf(there)]).toEqual(["down", "down"]);
  });

  test("is paused, is recorded without waiting; afterwards the state in Valkey is read", async () => {
    const { here } = await startTwo();
    const hurried = await connect(50);
    const there = createHealth({ clock, valkey: hurried });
    await fail(here, 5);
    server.pause();
    await until(async () => {
      await there.note("a", "failed");
      return hurried.isAway();
    });
    await until(async () => {
      await there.note("a", "well");
      return statusOf(there) === "up";
    });
    server.resume();
    await until(async () => {
      await there.refresh();
      return statusOf(there) === "down";
    });
    expect(there.healthOf("a")).toEqual(here.healthOf("a"));
  });
});

test("a provider that fails on one instance is down on the other within a second: profile, readiness and log", async () => {
  const idp = await startHostileIdp();
  closing.push(idp.close);
  const allowedOrigins = [idp.origin];
  const first = await createTestApp({ clock, allowedOrigins, valkey: await connect() });
  const { storage } = first;
  const second = await createTestApp({ clock, storage, allowedOrigins, valkey: await connect() });
  closing.push(first.close, second.app.stop);
  for (const { app } of [first, second]) app.start();
  const store = await first.createStore();
  const realm = (await store.call(getAuthenticationSettings)).body.data.realm_id;
  const { clientId: client_id, discoveryUrl: discovery_url } = idp;
  const data = { type: "oidc-profile", name: "n", discovery_url, client_id, client_secret: "s" };
  const { id } = (await store.call(createProfile, { ids: { realm }, json: { data } })).body.data;
  const token = await store.token();
  const healthAt = async ({ app }: TestApp) =>
    (await call(app, getProfile, { token, ids: { realm, id } })).body.data.meta.health.status;
  const readyAt = async ({ app }: TestApp) => {
    clock.advance(1000);
    return (await call(app, ready)).body.identity_providers;
  };

  idp.hooks.answer = {
    "/.well-known/openid-configuration": (_, response) => void response.writeHead(503).end(),
  };
  for (let time = 0; time < 5; time++) await store.call(checkProfile, { ids: { realm, id } });
  expect(await healthAt(first)).toBe("down");
  await until(async () => (await healthAt(second)) === "down");
  await until(async () => (await readyAt(second)).down === 1);
  for (const one of [first, second]) expect(await readyAt(one)).toEqual({ down: 1, degraded: 0 });
  const changes = [first, second].flatMap(({ logLines }) =>
    logLines.filter(({ event }) => event === "idp_health_changed").map(({ status }) => status),
  );
  expect(changes).toEqual(["degraded", "down"]);
});
