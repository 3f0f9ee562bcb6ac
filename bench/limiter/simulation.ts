import { type Bucket, draw, fill, fullBucket } from "../../packages/server/src/rate-limit/bucket.ts";
import { capacityOf } from "../../packages/server/src/rate-limit/fair-share.ts";
import { createLimiter, type Draw } from "../../packages/server/src/rate-limit/limiter.ts";
import { createUseLog } from "../../packages/server/src/rate-limit/use-log.ts";
import { createQueue, type Queue } from "./queue.ts";

/**
 * One store on many instances, second by second, with the limiter that the service runs and a network that is slow, loses and
 * stops. Nothing is measured: time is a number, chance has a seed, and the same seed gives the same figures anywhere.
 */
export type Way = "exact" | "leased" | "divided" | "independent";
export const WAYS: readonly Way[] = ["exact", "leased", "divided", "independent"];

/** What the network does to a message, from `fromMs` on. `isAway`: none arrives. */
type Weather = { fromMs: number; delayMs: number; loss: number; isAway: boolean; name: string };

export type Setting = {
  instances: number;
  seconds: number;
  rateLimit: number;
  weather: readonly Weather[];
  seed: number;
};

/** Who asks, and for how much a second. `steady`: never more than that in any second. */
type Asker = { name: string; reserved: number; asks: number; isSteady: boolean };

export type Outcome = {
  way: Way;
  /** By second: how many were served, and how many asked. */
  served: number[];
  asked: number[];
  /** Requests of keys that asked for no more than their floor, and were refused. */
  floorsRefused: number;
  /** Among keys that ask for the same without a reservation, by second: 1 is alike, 1/n is one for all. */
  fairness: number[];
  /** Of the keys that ask for little without a reservation: the part that was served. */
  smallServed: number;
  /** How long a request waited for its decision, by second. */
  waitedP50Ms: number[];
  waitedP99Ms: number[];
  waitedMostMs: number;
};

/** No request waits longer than this for a decision from elsewhere. */
export const PATIENCE_MS = 50;
/** One that is away is tried again so often by each instance. */
const PROBE_MS = 200;
const LEASE = 5;
const LEASE_MS = 1000;

const ASKERS: readonly Asker[] = [
  ...Array.from({ length: 9 }, (_, i) => ({ name: `floor ${i}`, reserved: 30, asks: 27, isSteady: true })),
  { name: "greedy with a floor", reserved: 30, asks: 200, isSteady: false },
  ...Array.from({ length: 5 }, (_, i) => ({ name: `flood ${i}`, reserved: 0, asks: 400, isSteady: false })),
  ...Array.from({ length: 5 }, (_, i) => ({ name: `small ${i}`, reserved: 0, asks: 10, isSteady: true })),
];
const TOTAL_RESERVED = ASKERS.reduce((sum, { reserved }) => sum + reserved, 0);

/** Numbers from 0 to 1 that only the seed decides (mulberry32). */
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

/** Decides about one request at one instance, now or later. */
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

/** A steady asker keeps its distance and trembles a little; others come by chance. */
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

/** The same figures for every request of a key; `pool` is what this limiter may give beyond floors. */
const drawOf = ({ name, reserved }: Asker, pool: number): Draw => ({
  storeId: "store",
  keyId: name,
  source: undefined,
  allowance: { revision: 1, rateLimit: TOTAL_RESERVED + pool, totalReserved: TOTAL_RESERVED, reserved },
  administration: false,
});

const poolOf = ({ rateLimit }: Setting): number => rateLimit - TOTAL_RESERVED;

/** Each for itself: every instance takes the store's whole limit for its own. */
function independent(world: World): Decide {
  const limiters = eachInstance(world);
  const pool = poolOf(world.setting);
  return (instance, asker, decided) => decided(take(limiters[instance], asker, pool));
}

/** Floors whole everywhere, the pool cut into as many pieces as there are instances. */
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
 * One limiter for all, asked over the network. One question that is not answered in time, and it is away for that instance, which
 * decides as `divided` does until a probe was answered.
 */
function exact(world: World): Decide {
  const { queue, nowMs, setting } = world;
  const central = world.newLimiter();
  const fallBack = divided(world);
  const pool = poolOf(setting);
  const isAway = new Array<boolean>(setting.instances).fill(false);

  /** `undefined`: no answer in time. What was given up here is not carried out there, once its time is over. */
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
      // It may be lost on its way back: then it was counted there, and is decided here once more.
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

/** A message, which arrives later, or not at all. */
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
 * Floors whole everywhere; the pool is lent in fives, and what an instance has not used after a second is lost. It asks when
 * it has none, once at a time, and refuses whoever finds none in time.
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
    // With no pool at all the limiter gives what the floor has, and nothing else.
    if (asker.reserved > 0 && take(floors[instance], asker, 0)) return decided(true);
    const lease = leases[instance] as Lease;
    if (use(lease)) return decided(true);
    lease.waiting.push(decided);
    ask(lease);
  };
}

function createTally(seconds: number) {
  const zeros = () => new Array<number>(seconds).fill(0);
  const [served, asked] = [zeros(), zeros()];
  const floods = ASKERS.filter(({ name }) => name.startsWith("flood"));
  const byFlood = new Map(floods.map(({ name }) => [name, zeros()]));
  const small = { asked: 0, served: 0 };
  const waited: number[][] = Array.from({ length: seconds }, () => []);
  let floorsRefused = 0;
  let waitedMostMs = 0;
  return {
    note(asker: Asker, atMs: number, decidedMs: number, isServed: boolean): void {
      const second = Math.floor(atMs / 1000);
      const add = (counts: number[] | undefined) => {
        if (counts) counts[second] = (counts[second] as number) + 1;
      };
      add(asked);
      waited[second]?.push(decidedMs - atMs);
      waitedMostMs = Math.max(waitedMostMs, decidedMs - atMs);
      if (asker.name.startsWith("small")) small.asked++;
      if (!isServed && asker.isSteady && asker.reserved > 0) floorsRefused++;
      if (!isServed) return;
      add(served);
      add(byFlood.get(asker.name));
      if (asker.name.startsWith("small")) small.served++;
    },
    end: (): Omit<Outcome, "way"> => ({
      served,
      asked,
      floorsRefused,
      fairness: served.map((_, second) =>
        jain([...byFlood.values()].map((counts) => counts[second] as number)),
      ),
      smallServed: small.served / small.asked,
      waitedP50Ms: waited.map((times) => quantile(times, 0.5)),
      waitedP99Ms: waited.map((times) => quantile(times, 0.99)),
      waitedMostMs,
    }),
  };
}

/** Jain's index. */
function jain(values: number[]): number {
  const sum = values.reduce((all, value) => all + value, 0);
  const squares = values.reduce((all, value) => all + value * value, 0);
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}

const quantile = (values: number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0;
