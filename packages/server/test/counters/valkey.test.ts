import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createScript } from "../../src/counters/script.ts";
import { openValkey, type Valkey } from "../../src/counters/valkey.ts";
import { createLog } from "../../src/lib/log.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { freePort } from "../support/postgres-server.ts";
import { silentLog } from "../support/silent-log.ts";
import { until } from "../support/until.ts";
import { hasValkey, NO_VALKEY, startValkey, type ValkeyServer } from "../support/valkey-server.ts";

/** Counts each item under its own name, and returns the item and its count. Also counts its own calls. */
const COUNT = createScript(`
local answers = {}
redis.call('INCR', slot .. ':calls')
for at = 3, #ARGV do answers[at - 2] = { ARGV[at], redis.call('INCR', slot .. ':' .. ARGV[at]) } end
return answers`);

/** Far longer than a busy machine takes, for tests that are not about late answers. */
const PATIENT_MS = 30_000;

let server: ValkeyServer;
let opened: (Valkey | FaultProxy)[];
let logLines: Record<string, unknown>[];

beforeEach(async ({ skip }) => {
  if (!hasValkey) skip(NO_VALKEY);
  server = await startValkey();
  opened = [];
  logLines = [];
});
afterEach(async () => {
  server?.resume();
  for (const one of opened ?? []) await one.close();
  await server?.remove();
});

const newLog = () => createLog("info", { write: (line) => void logLines.push(JSON.parse(line)) });

async function open(urls = [server.url], answerWithinMs = PATIENT_MS): Promise<Valkey> {
  const valkey = await openValkey({ urls, log: newLog(), answerWithinMs });
  opened.push(valkey);
  return valkey;
}

/**
 * The time limit of production: a busy machine sometimes misses an answer, and the connection then recovers by itself.
 */
async function openInAHurry(urls = [server.url]): Promise<Valkey> {
  const valkey = await open(urls, 50);
  await untilThere(valkey);
  return valkey;
}

async function openProxy(): Promise<FaultProxy> {
  const proxy = await startFaultProxy(server.port);
  opened.unshift(proxy);
  return proxy;
}

const count = (valkey: Valkey, item: string, slot = "a") => valkey.run(COUNT, slot, [item]);
const untilThere = (valkey: Valkey) => until(async () => (await count(valkey, "there?")) !== undefined);
const untilAway = (valkey: Valkey) => until(async () => (await count(valkey, "there?")) === undefined);

const busPorts = new Map<ValkeyServer, number>();

async function startNode(): Promise<ValkeyServer> {
  const busPort = await freePort();
  const node = await startValkey("--cluster-enabled", "yes", "--cluster-port", String(busPort));
  busPorts.set(node, busPort);
  return node;
}

/** Bulk strings have their length on a line of its own before them. */
const scriptCalls = async (slot = "a"): Promise<number> =>
  Number((await server.say(`GET lk:{${slot}}:calls`)).split("\r\n")[1]);

describe("one turn of the event loop", () => {
  test("is one script call for each slot, and every caller gets its own result", async () => {
    const valkey = await open();
    await Promise.all([count(valkey, "x"), count(valkey, "x", "b")]);
    const asked = Array.from({ length: 100 }, (_, at) => [`item ${at % 7}`, at % 2 ? "a" : "b"] as const);
    const answers = await Promise.all(asked.map(([item, slot]) => count(valkey, item, slot)));
    const seen = new Map<string, number>();
    asked.forEach(([item, slot], at) => {
      seen.set(slot + item, (seen.get(slot + item) ?? 0) + 1);
      expect(answers[at]).toEqual([item, seen.get(slot + item)]);
    });
    expect([await scriptCalls("a"), await scriptCalls("b")]).toEqual([2, 2]);
  });

  test("with very many calls is several script calls, so other stores have their turn in between", async () => {
    const valkey = await open();
    const answers = await Promise.all(Array.from({ length: 1000 }, () => count(valkey, "x")));
    expect(answers.at(-1)).toEqual(["x", 1000]);
    expect(await scriptCalls()).toBeGreaterThanOrEqual(5);
  });

  test("does not reorder the next: a later call is sent later", async () => {
    const valkey = await open();
    expect(await count(valkey, "x")).toEqual(["x", 1]);
    expect(await count(valkey, "x")).toEqual(["x", 2]);
  });
});

test("all keys of a slot begin with the slot's name in braces, so a cluster keeps them together", async () => {
  const valkey = await open();
  await count(valkey, "x", "the store");
  expect(await server.say("KEYS lk:{the*")).toContain("lk:{the store}:x");
});

test("a server that lost the scripts gets them again", async () => {
  const valkey = await open();
  await count(valkey, "x");
  await server.say("SCRIPT FLUSH");
  expect(await count(valkey, "x")).toEqual(["x", 2]);
});

test("a server whose memory is full counts as away, logged once, until it has memory again", async () => {
  const valkey = await open();
  await server.say("CONFIG SET maxmemory 1");
  await untilAway(valkey);
  const connections = async () =>
    Number(/total_connections_received:(\d+)/.exec(await server.say("INFO stats"))?.[1]);
  const before = await connections();
  // Each ping is a connection as well; some of the others are attempts to reconnect.
  let looks = 0;
  await until(async () => (await connections()) - before > ++looks + 3);
  const said = logLines.map(({ event }) => event);
  expect(said).toEqual(["valkey_connected", "valkey_away"]);
  await server.say("CONFIG SET maxmemory 0");
  await untilThere(valkey);
});

test("a call that the server dropped because it came too late was decided locally", async () => {
  const valkey = await open();
  expect(await valkey.run(createScript("return 0"), "a", ["x"])).toBeUndefined();
  expect(valkey.counts()).toEqual({ losses: 0, answered: 0, alone: 1 });
});

describe("the number of instances", () => {
  test("is known to all within one or two beats, and a leaving instance is removed at once", async () => {
    const [one, two] = [await open(), await open()];
    await until(() => one.instances() === 2 && two.instances() === 2);
    await two.close();
    expect(await server.say("ZCARD lk:{instances}")).not.toBe(":2\r\n");
    await until(() => one.instances() === 1);
  });

  test("is kept while Valkey is away", async () => {
    const [one, two] = [await open(), await open()];
    await until(() => one.instances() === 2 && two.instances() === 2);
    await server.stop();
    await untilAway(one);
    expect(one.instances()).toBe(2);
  });

  test("stays the same when Valkey has come back and the others have not had their beat yet", async () => {
    const [one, two] = [await open(), await open()];
    await until(() => one.instances() === 2 && two.instances() === 2);
    await server.stop();
    const stoppedMs = performance.now();
    await two.close();
    // By now Valkey's own entry of an instance without a beat has expired.
    await until(() => performance.now() - stoppedMs > 3500);
    await server.start();
    await untilThere(one);
    expect(logLines.at(-1)).toMatchObject({ event: "valkey_connected", instances: 2 });
    await until(() => one.instances() === 1);
  });

  test("excludes an instance whose last beat was before the server's clock was set back by an hour", async () => {
    await open();
    await server.say(`ZADD lk:{instances} ${Date.now() + 3_600_000} killed`);
    await until(async () => (await server.say("ZCARD lk:{instances}")) === ":1\r\n");
  });

  test("is taken from the others until Valkey has answered long enough to know every instance", async () => {
    await server.stop();
    let others = 3;
    const options = { urls: [server.url], log: newLog(), answerWithinMs: PATIENT_MS };
    const valkey = await openValkey({ ...options, countOthers: async () => others });
    opened.push(valkey);
    expect(valkey.instances()).toBe(4);
    others = 1;
    await until(() => valkey.instances() === 2);
    await server.start();
    await untilThere(valkey);
    // The other one may not have found Valkey again yet.
    expect(logLines.at(-1)).toMatchObject({ event: "valkey_connected", instances: 2 });
    await until(() => valkey.instances() === 1);
  });

  test("a killed one is forgotten after three seconds", async () => {
    const valkey = await open();
    await server.say("ZADD lk:{instances} 1000 killed");
    await until(() => valkey.instances() === 1);
    let nowMs = 0;
    // Until the next beat: on a busy machine the beat may come when the instance would already be forgotten.
    await until(async () => {
      nowMs = Date.now();
      await server.say(`ZADD lk:{instances} ${nowMs} killed`);
      return valkey.instances() === 2;
    });
    await until(() => valkey.instances() === 1);
    expect(Date.now() - nowMs).toBeGreaterThan(2500);
  });
});

describe("a Valkey that is away", () => {
  test("a missing server delays no start, and is found when it comes", async () => {
    await server.stop();
    const valkey = await open();
    expect(valkey.isAway()).toBe(true);
    expect(await count(valkey, "x")).toBeUndefined();
    await server.start();
    await untilThere(valkey);
    expect(logLines.map(({ event }) => event)).toEqual(["valkey_away", "valkey_connected"]);
  });

  test("a stopped server fails every caller, also waiting ones; it is found again at the same address", async () => {
    const valkey = await open();
    await count(valkey, "x");
    server.pause();
    const waiting = count(valkey, "x");
    await server.stop();
    expect(await waiting).toBeUndefined();
    expect(valkey.isAway()).toBe(true);
    await server.start();
    await untilThere(valkey);
    expect(await count(valkey, "x")).toEqual(["x", 1]);
  });

  test("a paused server is given up after 50 ms, and gets no further calls", async () => {
    const valkey = await openInAHurry();
    server.pause();
    expect(await count(valkey, "given up")).toBeUndefined();
    expect(valkey.isAway()).toBe(true);
    for (let i = 0; i < 100; i++) expect(await count(valkey, "never-sent")).toBeUndefined();
    server.resume();
    await untilThere(valkey);
    expect(await server.say("EXISTS lk:{a}:never-sent")).toBe(":0\r\n");
  });

  test("an abandoned call is not carried out later: its time was over when the server read it", async () => {
    const valkey = await openInAHurry();
    server.pause();
    expect(await count(valkey, "late")).toBeUndefined();
    // The server's clock ran during the pause.
    await until(() => valkey.isAway());
    await new Promise((resolve) => setTimeout(resolve, 200));
    server.resume();
    await untilThere(valkey);
    expect(await server.say("EXISTS lk:{a}:late")).toBe(":0\r\n");
  });

  test("an unsent call of the turn in which the server was given up does not wait", async () => {
    const valkey = await openInAHurry();
    server.pause();
    const asked: Promise<unknown>[] = [];
    // In every turn, so that a call is still unsent when the first one is given up.
    const ask = () => {
      if (valkey.isAway()) return;
      asked.push(count(valkey, "x"));
      setImmediate(ask);
    };
    ask();
    await until(() => valkey.isAway());
    expect((await Promise.all(asked)).at(-1)).toBeUndefined();
  });

  test("a silent connection is replaced by a new one", async () => {
    const proxy = await openProxy();
    const valkey = await openInAHurry([proxy.via(server.url)]);
    const before = proxy.opened();
    proxy.silence();
    await untilAway(valkey);
    await untilThere(valkey);
    expect(proxy.opened()).toBeGreaterThan(before);
  });

  test("a network that also swallows new connections is retried, and recovers when it ends", async () => {
    const proxy = await openProxy();
    const valkey = await openInAHurry([proxy.via(server.url)]);
    proxy.blackHole();
    await untilAway(valkey);
    const before = proxy.opened();
    await until(() => proxy.opened() >= before + 3);
    expect(valkey.isAway()).toBe(true);
    proxy.mend();
    await untilThere(valkey);
  });

  test("a server that is slower than a caller's time limit stays away, and does not alternate", async () => {
    const proxy = await openProxy();
    const valkey = await openInAHurry([proxy.via(server.url)]);
    proxy.toServer.delayMs = 100;
    await untilAway(valkey);
    const before = proxy.opened();
    await until(() => {
      expect(valkey.isAway()).toBe(true);
      return proxy.opened() >= before + 3;
    });
    proxy.mend();
    await untilThere(valkey);
  });

  test("a server that refuses writes counts as away, not as an error of the request", async () => {
    const valkey = await open();
    await count(valkey, "x");
    await server.say("REPLICAOF 127.0.0.1 1");
    await untilAway(valkey);
    expect(logLines.at(-1)?.cause).toMatch(/READONLY/);
    await server.say("REPLICAOF NO ONE");
    await untilThere(valkey);
  });
});

describe("a cluster", () => {
  test("keeps each slot on one of its servers; when one is lost all are away until it is back", async () => {
    const nodes = await Promise.all([startNode(), startNode()]);
    const [first, second] = nodes as [ValkeyServer, ValkeyServer];
    try {
      await first.say("CLUSTER ADDSLOTSRANGE 0 8191");
      await second.say("CLUSTER ADDSLOTSRANGE 8192 16383");
      await first.say(`CLUSTER MEET 127.0.0.1 ${second.port} ${busPorts.get(second)}`);
      const isWell = async (node: ValkeyServer) =>
        /cluster_state:ok.*cluster_known_nodes:2/s.test(await node.say("CLUSTER INFO"));
      await until(async () => (await isWell(first)) && (await isWell(second)));
      const valkey = await open(nodes.map(({ url }) => url));
      const slots = Array.from({ length: 20 }, (_, at) => `store ${at}`);
      const countAll = (item: string) => Promise.all(slots.map((slot) => count(valkey, item, slot)));
      const areAllThere = async () => (await countAll("there?")).every((answer) => answer !== undefined);
      // On a busy machine the first connection may be given up: the next attempt follows by itself.
      await until(areAllThere);
      expect(await countAll("x")).toEqual(slots.map(() => ["x", 1]));
      for (const node of nodes) expect(Number((await node.say("DBSIZE")).slice(1))).toBeGreaterThan(0);
      await second.stop();
      await until(async () => (await countAll("x")).every((answer) => answer === undefined));
      await second.start();
      await until(areAllThere);
    } finally {
      for (const node of nodes) await node.remove();
    }
  });
});

test("a password is used, and a wrong one is not logged", async () => {
  await server.say("CONFIG SET requirepass right");
  const url = (password: string) => server.url.replace("//", `//:${password}@`);
  expect((await open([url("wr0ng")])).isAway()).toBe(true);
  expect(JSON.stringify(logLines)).toMatch(/WRONGPASS/);
  expect(JSON.stringify(logLines)).not.toContain("wr0ng");
  expect((await open([url("right")])).isAway()).toBe(false);
  await server.say("AUTH right\r\nCONFIG SET requirepass ''");
});

test("a process that is paused while it connects has as much time for the connection as for an answer", async () => {
  const opening = open();
  // By then the connection is under way, and its success is not known yet.
  for (let ticks = 0; ticks < 20; ticks++) await new Promise(process.nextTick);
  const untilMs = performance.now() + 700;
  while (performance.now() < untilMs);
  expect((await opening).isAway()).toBe(false);
});

test("a process that was paused between call and wait waits zero time, not a negative one", async () => {
  const nowMs = () => {
    const untilMs = performance.now() + 600;
    while (performance.now() < untilMs);
    return Date.now();
  };
  const log = silentLog;
  const valkey = await openValkey({ urls: [server.url], log, answerWithinMs: 500, nowMs });
  opened.push(valkey);
  await until(() => !valkey.isAway());
  const timers = vi.spyOn(globalThis, "setTimeout");
  await count(valkey, "late");
  const waits = timers.mock.calls.map(([, ms]) => Number(ms));
  timers.mockRestore();
  expect(waits.length).toBeGreaterThan(0);
  expect(waits.filter((ms) => ms < 0)).toEqual([]);
});
