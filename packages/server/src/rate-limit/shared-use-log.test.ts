import { afterEach, beforeEach, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import type { Use } from "../../test/support/uses.ts";
import { hasValkey, NO_VALKEY, startValkey, type ValkeyServer } from "../../test/support/valkey-server.ts";
import { openValkey, type Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { createSharedUseLog } from "./shared-use-log.ts";
import { createUseLog, USE_LOG_SECONDS, type UseLog } from "./use-log.ts";

let server: ValkeyServer;
let valkey: Valkey;
let clock: ReturnType<typeof handClock>;

beforeEach(async ({ skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  server = await startValkey();
  const log = silentLog;
  valkey = await openValkey({ urls: [server.url], log, answerWithinMs: 30_000 });
  clock = handClock();
});
afterEach(async () => {
  await valkey?.close();
  await server?.remove();
});

const newLog = (by: Clock = clock): UseLog => createSharedUseLog({ valkey, clock: by, own: createUseLog() });
const thisSecond = () => Math.floor(clock.monotonicMs() / 1000);

/** By key and second, in order. */
async function read(log: UseLog, storeId = "store"): Promise<Use[]> {
  const uses: Use[] = [];
  for await (const { keyIds, seconds, asked, refused } of log.read(storeId))
    for (const [at, keyId] of keyIds.entries()) {
      const use = { keyId, second: seconds[at] as number, asked: asked[at] as number };
      uses.push({ ...use, ...(refused[at] !== 0 && { refused: refused[at] as number }) });
    }
  return uses.sort((a, b) => a.second - b.second || (a.keyId < b.keyId ? -1 : 1));
}

test("all instances read the sum of all entries, by key and second", async () => {
  const [one, two] = [newLog(), newLog()];
  const first = thisSecond();
  for (const refused of [0, 1, 1]) one.add("store", "a", first, 1, refused);
  two.add("store", "a", first, 4, 3);
  two.add("store", "b", first + 1, 5);
  two.add("other store", "a", first, 9);
  for (const log of [one, two]) for (const store of ["store", "other store"]) await log.flush(store);
  for (const log of [one, two]) {
    expect(await read(log)).toEqual([
      { keyId: "a", second: first, asked: 7, refused: 5 },
      { keyId: "b", second: first + 1, asked: 5 },
    ]);
    expect(await read(log, "other store")).toEqual([{ keyId: "a", second: first, asked: 9 }]);
  }
});

test("an instance that was started at another time reads the same seconds", async () => {
  const later = { ...clock, monotonicMs: () => clock.monotonicMs() - 654_000 };
  const [one, two] = [newLog(), newLog(later)];
  one.add("store", "a", thisSecond() - 5, 1);
  await one.flush("store");
  expect(await read(two)).toEqual([{ keyId: "a", second: thisSecond() - 654 - 5, asked: 1 }]);
});

test.each([0, 400, 700])(
  "an entry of the last second of a minute is read in it, %d ms after the full second",
  async (ms) => {
    clock.set(Date.parse("2026-01-01T00:00:59Z") + ms);
    const log = newLog();
    log.add("store", "a", thisSecond(), 1);
    await log.flush("store");
    expect(await read(log)).toEqual([{ keyId: "a", second: thisSecond(), asked: 1 }]);
  },
);

test("a second is sent as a whole, after its end", async () => {
  const log = newLog();
  log.add("store", "a", thisSecond(), 1);
  await log.flush();
  expect(await read(log)).toEqual([]);
  clock.advance(1000);
  await log.flush();
  expect(await read(log)).toHaveLength(1);
});

test("it goes an hour back, in pieces that keep no other store waiting", async () => {
  const log = newLog();
  const first = thisSecond();
  for (let minute = 0; minute <= 60; minute++) {
    for (let key = 0; key < 200; key++) log.add("store", `key ${key}`, thisSecond(), key + 1);
    await log.flush("store");
    clock.advance(60_000);
  }
  const uses = await read(log);
  expect(uses.filter(({ second }) => second >= thisSecond() - USE_LOG_SECONDS)).toHaveLength(60 * 200);
  expect(uses.every(({ second }) => second > first)).toBe(true);
  for await (const { keyIds } of log.read("store")) expect(keyIds.length).toBeLessThanOrEqual(200);
});

test("at most a thousand keys of a store are logged per minute, for as long as the log is read", async () => {
  const log = newLog();
  for (const round of [0, 1])
    for (let key = 0; key < 800; key++) log.add("store", `key ${round} ${key}`, thisSecond() - 1, 1);
  await log.flush("store");
  expect(await read(log)).toHaveLength(1000);
  const [, name = ""] = /\r\n(lk:{store}:use:\d+)\r\n/.exec(await server.say("KEYS lk:{store}:use:*")) ?? [];
  expect(Number((await server.say(`TTL ${name}`)).slice(1))).toBeLessThanOrEqual(USE_LOG_SECONDS + 120);
});

test("while Valkey is away this instance's own use is stored and read", async () => {
  const log = newLog();
  const first = thisSecond();
  log.add("store", "a", first, 2);
  clock.advance(1000);
  await log.flush();
  await server.stop();
  log.add("store", "a", first + 1, 3);
  await log.flush("store");
  expect((await read(log)).map(({ asked }) => asked)).toEqual([2, 3]);
});
