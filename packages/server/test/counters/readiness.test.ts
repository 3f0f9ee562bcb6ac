import { afterEach, describe, expect, test } from "vitest";
import { ready } from "../../src/contract/service.ts";
import { openValkey } from "../../src/counters/valkey.ts";
import { openStorage } from "../../src/storage/open.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { postgresEngine, UNHURRIED } from "../support/engines.ts";
import { silentLog } from "../support/silent-log.ts";
import { until } from "../support/until.ts";
import { hasValkey, NO_VALKEY, startValkey } from "../support/valkey-server.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function ask(latchkey: TestApp) {
  latchkey.clock.advance(1000);
  const { status, body } = await call(latchkey.app, ready);
  return { status, degraded: body.degraded };
}

test("200 with `degraded` while Valkey is away, and without it after its return (wire 20, T47)", async ({
  skip,
}) => {
  if (!hasValkey) skip(NO_VALKEY);
  const server = await startValkey();
  closing.push(server.remove);
  const log = silentLog;
  const valkey = await openValkey({ urls: [server.url], log, answerWithinMs: 30_000 });
  closing.push(valkey.close);
  const latchkey = await createTestApp({ valkey });
  closing.push(latchkey.close);
  expect(await ask(latchkey)).toEqual({ status: 200, degraded: undefined });
  await server.stop();
  await until(valkey.isAway);
  expect(await ask(latchkey)).toEqual({
    status: 200,
    degraded: [expect.stringContaining("counters: Valkey does not answer")],
  });
  await server.start();
  await until(() => !valkey.isAway());
  expect(await ask(latchkey)).toEqual({ status: 200, degraded: undefined });
});

test.for<[string, string, unknown]>([
  [
    "200 with `degraded` where Valkey throws keys away when it is full: limits would not hold",
    "256mb",
    [
      expect.stringContaining(
        "counters: Valkey throws keys away when its memory is full (maxmemory-policy volatile-lru)",
      ),
    ],
  ],
  ["200 without it where that never comes, because its memory has no bound", "0", undefined],
])("%s", async ([, maxmemory, degraded], { skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  const server = await startValkey("--maxmemory", maxmemory, "--maxmemory-policy", "volatile-lru");
  closing.push(server.remove);
  const log = silentLog;
  const valkey = await openValkey({ urls: [server.url], log, answerWithinMs: 30_000 });
  closing.push(valkey.close);
  const latchkey = await createTestApp({ valkey });
  closing.push(latchkey.close);
  expect(await ask(latchkey)).toEqual({ status: 200, degraded });
});

test("200 without `degraded` as soon as the eviction policy is right, while both run", async ({ skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  const server = await startValkey("--maxmemory", "256mb", "--maxmemory-policy", "volatile-lru");
  closing.push(server.remove);
  const log = silentLog;
  const valkey = await openValkey({ urls: [server.url], log, answerWithinMs: 30_000 });
  closing.push(valkey.close);
  const latchkey = await createTestApp({ valkey });
  closing.push(latchkey.close);
  expect((await ask(latchkey)).degraded).toHaveLength(1);
  await server.say("CONFIG SET maxmemory-policy noeviction");
  await until(async () => (await ask(latchkey)).degraded === undefined);
});

test("200 without `degraded` where the server does not permit reading its policy", async ({ skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  const server = await startValkey("--maxmemory", "256mb", "--maxmemory-policy", "volatile-lru");
  closing.push(server.remove);
  await server.say("ACL SETUSER default -info");
  const log = silentLog;
  const valkey = await openValkey({ urls: [server.url], log, answerWithinMs: 30_000 });
  closing.push(valkey.close);
  expect([valkey.isAway(), valkey.eviction()]).toEqual([false, undefined]);
});

describe("without Valkey, on one PostgreSQL", () => {
  test("200 with `degraded` from the second instance on: each instance counts alone (wire 20)", async ({
    skip,
  }) => {
    if (!postgresEngine.isHere) skip("PostgreSQL is not installed");
    const database = await postgresEngine.create();
    closing.push(database.drop);
    const open = async (claim: boolean) => {
      const clock = handClock(Date.now());
      const storage = await openStorage({ clock }, database.url, { ...UNHURRIED, claim });
      const latchkey = await createTestApp({ clock, storage });
      closing.push(latchkey.close);
      return latchkey;
    };
    const first = await open(true);
    // A command that reads the database does not count as an instance.
    await open(false);
    expect(await ask(first)).toEqual({ status: 200, degraded: undefined });
    const second = await open(true);
    for (const instance of [first, second])
      await until(async () => (await ask(instance)).degraded?.[0].startsWith("counters: 1 more"));
  });
});
