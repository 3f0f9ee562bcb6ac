import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openValkey, type Valkey } from "../../src/counters/valkey.ts";
import { FAMILIAR_MS, PAIR, SOURCE } from "../../src/passwords/guess-buckets.ts";
import { createSignInThrottle } from "../../src/passwords/sign-in-throttle.ts";
import { createCap } from "../../src/rate-limit/cap.ts";
import { handClock } from "../support/clock.ts";
import { silentLog } from "../support/silent-log.ts";
import { hasValkey, NO_VALKEY, startValkey, type ValkeyServer } from "../support/valkey-server.ts";

/** Buckets that instances share. The test sets the server's clock, not the instance's. */

const PATIENT_MS = 30_000;

let server: ValkeyServer;
let valkey: Valkey;
let serverMs: number;

beforeEach(async ({ skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  serverMs = 1_000_000_000;
  server = await startValkey();
  const log = silentLog;
  valkey = await openValkey({ urls: [server.url], log, answerWithinMs: PATIENT_MS, nowMs: () => serverMs });
});
afterEach(async () => {
  await valkey?.close();
  await server?.remove();
});

/** The number of allowed requests, of more than there can be. */
async function countIn(take: () => Promise<number | undefined>): Promise<number> {
  for (let taken = 0; taken < 1000; taken++) if ((await take()) !== undefined) return taken;
  throw new Error("there is no end to it");
}

describe("a bucket", () => {
  const capOf3 = () => {
    const cap = createCap({ clock: handClock(), valkey }, { name: "test", rate: 1, burst: 3 });
    return () => cap.take("somebody");
  };

  test("holds its burst and no more, however long it is not used", async () => {
    const take = capOf3();
    expect(await countIn(take)).toBe(3);
    serverMs += 100_000;
    expect(await countIn(take)).toBe(3);
  });

  test("loses nothing when the server's clock is set back, and fills from there", async () => {
    const take = capOf3();
    expect(await take()).toBeUndefined();
    serverMs -= 3_600_000;
    expect(await countIn(take)).toBe(2);
    serverMs += 1000;
    expect(await countIn(take)).toBe(1);
  });

  test("that is empty when the server's clock is set back fills from there", async () => {
    const take = capOf3();
    expect(await countIn(take)).toBe(3);
    serverMs -= 3_600_000;
    expect(await take()).toBe(1);
    serverMs += 1000;
    expect(await countIn(take)).toBe(1);
  });
});

describe("an entry in Valkey", () => {
  const secondsLeft = async (name: string) => Number((await server.say(`TTL ${name}`)).slice(1));

  test("of a bucket lasts until an empty bucket would be full; an earlier end would refill it", async () => {
    const log = silentLog;
    const own = await openValkey({ urls: [server.url], log, answerWithinMs: PATIENT_MS });
    const cap = createCap({ clock: handClock(), valkey: own }, { name: "test", rate: 0.01, burst: 3 });
    await cap.take("somebody");
    await own.close();
    const left = await secondsLeft("lk:{somebody}:cap:test");
    expect(left).toBeGreaterThan(200);
    expect(left).toBeLessThanOrEqual(300);
  });

  test("of known sources lasts thirty days after the last of them, and drops older ones", async () => {
    const throttle = createSignInThrottle({ clock: handClock(), valkey });
    const from = (source: string) => ({ storeId: "store", emailKey: "ada", source, isBackOffice: false });
    await throttle.succeeded(from("192.0.2.1"));
    serverMs += FAMILIAR_MS + 1;
    await throttle.succeeded(from("192.0.2.2"));
    expect(await server.say("ZCARD lk:{store}:sign-in:familiar")).toBe(":1\r\n");
    const left = await secondsLeft("lk:{store}:sign-in:familiar");
    expect(left).toBeGreaterThan(FAMILIAR_MS / 1000 - 600);
  });
});

describe("a sign-in with a password", () => {
  const attempt = (emailKey: string, source = "198.51.100.66") => ({
    storeId: "store",
    emailKey,
    source,
    isBackOffice: false,
  });

  test("that several buckets refuse waits for the slowest one", async () => {
    const throttle = createSignInThrottle({ clock: handClock(), valkey });
    expect(await countIn(() => throttle.check(attempt("ada@shop.example")))).toBe(PAIR.burst);
    let others = 0;
    expect(await countIn(() => throttle.check(attempt(`${others++}@shop.example`)))).toBe(
      SOURCE.burst - PAIR.burst,
    );
    expect(await throttle.check(attempt("nobody@shop.example"))).toBe(1);
    expect(await throttle.check(attempt("ada@shop.example"))).toBe(1 / PAIR.perSecond);
  });

  test("has all attempts again after a success, and no more", async () => {
    const throttle = createSignInThrottle({ clock: handClock(), valkey });
    const take = () => throttle.check(attempt("ada@shop.example"));
    expect(await take()).toBeUndefined();
    for (let time = 0; time < 3; time++) await throttle.abandoned(attempt("ada@shop.example"));
    expect(await countIn(take)).toBe(PAIR.burst);
    await throttle.succeeded(attempt("ada@shop.example"));
    expect(await countIn(take)).toBe(PAIR.burst);
  });

  test("from a known source is not affected by strangers' attempts at the account, for thirty days", async () => {
    const throttle = createSignInThrottle({ clock: handClock(), valkey });
    const owner = () => throttle.check(attempt("ada@shop.example", "192.0.2.1"));
    expect(await owner()).toBeUndefined();
    await throttle.succeeded(attempt("ada@shop.example", "192.0.2.1"));
    let strangers = 0;
    const flood = () =>
      countIn(() => throttle.check(attempt("ada@shop.example", `198.51.100.${strangers++ % 250}`)));
    serverMs += FAMILIAR_MS - 1;
    await flood();
    expect(await owner()).toBeUndefined();
    serverMs += 1;
    await flood();
    expect(await owner()).toBe(1);
  });
});
