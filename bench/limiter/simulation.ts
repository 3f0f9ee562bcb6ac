import { type Bucket, draw, fill, fullBucket } from "../../packages/server/src/rate-limit/bucket.ts";
import { capacityOf } from "../../packages/server/src/rate-limit/fair-share.ts";
import { createLimiter, type Draw } from "../../packages/server/src/rate-limit/limiter.ts";
import { createUseLog } from "../../packages/server/src/rate-limit/use-log.ts";
import { createQueue, type Queue } from "./queue.ts";
import { ASKERS, type Asker, createTally, type Tally, TOTAL_RESERVED } from "./tally.ts";

/**
 * Simulates one store on many instances, with the service's own limiter and a network that delays and loses messages.
 * Time is a number and random numbers have a seed, so the same seed gives the same figures on every machine.
 */
export type Way = "exact" | "leased" | "divided" | "independent";
export const WAYS: readonly Way[] = ["exact", "leased", "divided", "independent"];

/** The state of the network from `fromMs` on. `isAway`: no message arrives. */
type Weather = { fromMs: number; delayMs: number; loss: number; isAway: boolean; name: string };

export type Setting = {
  instances: number;
  seconds: number;
  rateLimit: number;
  weather: readonly Weather[];
  seed: number;
};

export type Outcome = Tally & { way: Way };

/** The longest wait of a request for a decision of the central counter. */
export const PATIENCE_MS = 50;
/** The pause between two probes of one instance while the counter is away. */
const PROBE_MS = 200;
const LEASE = 5;
const LEASE_MS = 1000;

/** Random numbers from 0 to 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Limiter = ReturnType<typeof createLimiter>;

type World = {
  setting: Setting;
  queue: Queue;
  random: () => number;
  nowMs(): number;
  newLimiter(): Limiter;
};

/** Decides a request at an instance. Calls `decided` at once, or later in simulated time. */
type Decide = (instance: number, asker: Asker, decided: (isServed: boolean) => void) => void;

export function simulate(way: Way, setting: Setting): Outcome {
  let timeMs = 0;
  const clock = { now: () => timeMs, monotonicMs: () => timeMs, stepMs: () => 0 };
  const queue = createQueue();
  const world: World = {
    setting,
    queue,
    random: seeded(setting.seed),
    nowMs: () => timeMs,
    newLimiter: () => createLimiter({ clock, useLog: createUseLog() }),
  };
  const decide = { exact, leased, divided, independent }[way](world);
  const tally = createTally(setting.seconds);
  const arrivals = seeded(setting.seed + 1);
  for (const asker of ASKERS) {
    for (const atMs of arrivalsOf(asker, setting.seconds, arrivals)) {
      const instance = Math.floor(arrivals() * setting.instances);
      queue.at(atMs, () => decide(instance, asker, (isServed) => tally.note(asker, atMs, timeMs, isServed)));
    }
  }
  queue.run(setting.seconds * 1000 + 1000, (ms) => {
    timeMs = ms;
  });
  return { way, ...tally.end() };
}

/** Requests of a steady key have equal gaps with a little jitter; those of other keys have random gaps. */
function arrivalsOf({ asks, isSteady }: Asker, seconds: number, random: () => number): number[] {
  const gapMs = 1000 / asks;
  const times: number[] = [];
  for (let atMs = random() * gapMs; atMs < seconds * 1000; )
    if (isSteady) {
      times.push(atMs + (random() * gapMs) / 4);
      atMs += gapMs;
    } else {
      times.push(atMs);
      atMs += -Math.log(1 - random()) * gapMs;
    }
  return times.filter((atMs) => atMs < seconds * 1000);
}

/** The arguments of the limiter. `pool` is the number of requests a second beyond all floors. */
const drawOf = ({ name, reserved }: Asker, pool: number): Draw => ({
  storeId: "store",
  keyId: name,
  source: undefined,
  allowance: { revision: 1, rateLimit: TOTAL_RESERVED + pool, totalReserved: TOTAL_RESERVED, reserved },
  administration: false,
});

const poolOf = ({ rateLimit }: Setting): number => rateLimit - TOTAL_RESERVED;

/** Every instance counts alone, with the whole limit of the store. */
function independent(world: World): Decide {
  const limiters = eachInstance(world);
  const pool = poolOf(world.setting);
  return (instance, asker, decided) => decided(take(limiters[instance], asker, pool));
}

/**
 * Every instance counts alone, with whole floors and its part of the pool: the pool divided by the number of instances.
 */
function divided(world: World): Decide {
  const limiters = eachInstance(world);
  const pool = poolOf(world.setting) / world.setting.instances;
  return (instance, asker, decided) => decided(take(limiters[instance], asker, pool));
}

const eachInstance = ({ setting, newLimiter }: World): Limiter[] =>
  Array.from({ length: setting.instances }, newLimiter);
const take = (limiter: Limiter | undefined, asker: Asker, pool: number): boolean =>
  (limiter as Limiter).take(drawOf(asker, pool)).allowed;

/**
 * All instances ask one limiter over the network. After a question without an answer in time, the instance decides as
 * `divided` does until the limiter answers a probe.
 */
function exact(world: World): Decide {
  const { queue, nowMs, setting } = world;
  const central = world.newLimiter();
  const fallBack = divided(world);
  const pool = poolOf(setting);
  const isAway = new Array<boolean>(setting.instances).fill(false);

  /** Gives `undefined` if no answer comes in time. The limiter ignores a question that arrives after this time. */
  function ask<T>(work: () => T, answered: (answer: T | undefined) => void): void {
    const untilMs = nowMs() + PATIENCE_MS;
    let isOver = false;
    const end = (answer?: T) => {
      if (isOver) return;
      isOver = true;
      answered(answer);
    };
    queue.at(untilMs, () => end());
    carry(world, () => {
      if (nowMs() > untilMs) return;
      const answer = work();
      // If the answer is lost, the limiter has counted the request and the instance decides it again.
      carry(world, () => end(answer));
    });
  }

  function probe(instance: number): void {
    ask(
      () => true,
      (isThere) => {
        if (isThere) isAway[instance] = false;
        else queue.at(nowMs() + PROBE_MS, () => probe(instance));
      },
    );
  }

  return (instance, asker, decided) => {
    if (isAway[instance]) return fallBack(instance, asker, decided);
    ask(
      () => take(central, asker, pool),
      (isServed) => {
        if (isServed !== undefined) return decided(isServed);
        if (!isAway[instance]) {
          isAway[instance] = true;
          queue.at(nowMs() + PROBE_MS, () => probe(instance));
        }
        fallBack(instance, asker, decided);
      },
    );
  };
}

/** Sends a message, which arrives later or is lost. */
function carry({ queue, random, nowMs, setting }: World, arrive: () => void): void {
  const { delayMs, loss, isAway } = weatherAt(setting.weather, nowMs());
  const isLost = random() < loss;
  const takesMs = delayMs * (0.5 - Math.log(1 - random()) / 2);
  if (!isLost && !isAway) queue.at(nowMs() + takesMs, arrive);
}

export const weatherAt = (weather: readonly Weather[], timeMs: number): Weather =>
  weather.findLast(({ fromMs }) => fromMs <= timeMs) as Weather;

type Lease = { left: number; untilMs: number; isAsking: boolean; waiting: ((isServed: boolean) => void)[] };

/**
 * Every instance counts floors alone and borrows from the pool, five requests at a time. Unused requests of a loan are
 * lost after a second. An instance without a loan asks for one, and refuses the requests for which no loan arrives in
 * time.
 */
function leased(world: World): Decide {
  const { queue, nowMs, setting } = world;
  const pool = poolOf(setting);
  const central: Bucket = fullBucket(pool, capacityOf(pool), 0);
  const floors = eachInstance(world);
  const leases: Lease[] = Array.from({ length: setting.instances }, () => ({
    left: 0,
    untilMs: 0,
    isAsking: false,
    waiting: [],
  }));

  function use(lease: Lease): boolean {
    if (lease.left === 0 || nowMs() > lease.untilMs) return false;
    lease.left--;
    return true;
  }

  function ask(lease: Lease): void {
    if (lease.isAsking) return;
    lease.isAsking = true;
    let isOver = false;
    const end = (tokens: number) => {
      if (isOver) return;
      isOver = true;
      lease.isAsking = false;
      lease.left = tokens;
      lease.untilMs = nowMs() + LEASE_MS;
      for (const decided of lease.waiting.splice(0)) decided(use(lease));
    };
    queue.at(nowMs() + PATIENCE_MS, () => end(0));
    carry(world, () => {
      let tokens = 0;
      while (tokens < LEASE && draw(central, nowMs())) tokens++;
      carry(world, () => end(tokens));
    });
  }

  return (instance, asker, decided) => {
    fill(central, nowMs());
    // With a pool of 0 the limiter serves requests within the floor only.
    if (asker.reserved > 0 && take(floors[instance], asker, 0)) return decided(true);
    const lease = leases[instance] as Lease;
    if (use(lease)) return decided(true);
    lease.waiting.push(decided);
    ask(lease);
  };
}
