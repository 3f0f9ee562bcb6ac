import { randomUUID } from "node:crypto";
import { scriptFrom } from "../counters/script.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";

/**
 * Limits uses within any hour, exactly: the time of each use is kept for an hour. A bucket that refills (cap.ts) would
 * allow twice as many in its first hour.
 *
 * With Valkey all instances count together. Without an answer each instance allows its part, in which it counts the
 * uses that Valkey allowed here. In an hour with outages all instances together allow at most twice the limit.
 */
export type HourlyCap = {
  /** Notes one use in all counters, or in none. */
  take(slot: string, counters: readonly Counter[]): Promise<Use | FullCounter>;
  sweep(): void;
  size(): number;
};

/** `key` is unique in its slot. A slot is on one server of a cluster. */
type Counter = { key: string; most: number };
/** `giveBack` takes the use out again, when it did not happen. */
type Use = { giveBack(): Promise<void> };
/** `key` names the full counter with the longest wait. */
export type FullCounter = { key: string; retryAfterSeconds: number };
type Deps = { clock: Clock; valkey?: Pick<Valkey, "run" | "instances"> | undefined };

const HOUR_MS = 3_600_000;
const MAX_COUNTERS = 100_000;

export function createHourlyCap({ clock, valkey }: Deps): HourlyCap {
  /** By slot and key: the times of the uses in the last hour, oldest first. */
  const uses = new Map<string, number[]>();

  /** The oldest use that leaves no room for another, and for how long. */
  function fullest(slot: string, counters: readonly Counter[]): FullCounter | undefined {
    const nowMs = clock.monotonicMs();
    let found: FullCounter | undefined;
    for (const { key, most } of counters) {
      const times = recent(uses.get(nameOf(slot, key)), nowMs);
      const inTheWay = times?.at(-most);
      if (inTheWay === undefined) continue;
      const retryAfterSeconds = Math.max(1, Math.ceil((inTheWay + HOUR_MS - nowMs) / 1000));
      if (!found || retryAfterSeconds > found.retryAfterSeconds) found = { key, retryAfterSeconds };
    }
    return found;
  }

  function note(slot: string, counters: readonly Counter[]): number {
    const nowMs = clock.monotonicMs();
    for (const { key } of counters) {
      const name = nameOf(slot, key);
      const times = uses.get(name) ?? [];
      if (!uses.has(name) && uses.size >= MAX_COUNTERS) uses.delete(uses.keys().next().value as string);
      times.push(nowMs);
      uses.set(name, times);
    }
    return nowMs;
  }

  function forget(slot: string, counters: readonly Counter[], atMs: number): void {
    for (const { key } of counters) {
      const times = uses.get(nameOf(slot, key)) ?? [];
      const at = times.lastIndexOf(atMs);
      if (at >= 0) times.splice(at, 1);
    }
  }

  const partOf = ({ key, most }: Counter): Counter => ({
    key,
    most: Math.max(1, Math.floor(most / (valkey?.instances() ?? 1))),
  });

  async function take(slot: string, counters: readonly Counter[]): Promise<Use | FullCounter> {
    // Valkey does not know the uses that this instance allowed alone.
    const full = fullest(slot, counters);
    if (full) return full;
    const id = randomUUID();
    const answer = await valkey?.run(scriptOf(), slot, itemOf(id, "take", counters));
    if (answer === undefined) {
      const fullHere = fullest(slot, counters.map(partOf));
      if (fullHere) return fullHere;
    } else if (answer !== 0) {
      const [waitMs, at] = answer as [number, number];
      return { key: counters[at]?.key ?? "", retryAfterSeconds: Math.ceil(waitMs / 1000) };
    }
    const atMs = note(slot, counters);
    return {
      async giveBack() {
        forget(slot, counters, atMs);
        await valkey?.run(scriptOf(), slot, itemOf(id, "back", counters));
      },
    };
  }

  return {
    take,
    sweep() {
      const nowMs = clock.monotonicMs();
      for (const [name, times] of uses) if (recent(times, nowMs)?.length === 0) uses.delete(name);
    },
    size: () => uses.size,
  };
}

/** Removes uses older than an hour from the list itself. */
function recent(times: number[] | undefined, nowMs: number): number[] | undefined {
  const first = times?.findIndex((atMs) => atMs > nowMs - HOUR_MS) ?? 0;
  times?.splice(0, first < 0 ? times.length : first);
  return times;
}

const nameOf = (slot: string, key: string): string => `${slot} ${key}`;

/** The script reads two counters. */
function itemOf(id: string, step: "take" | "back", counters: readonly Counter[]): (string | number)[] {
  const [first, second] = counters;
  return [id, step, first?.key ?? "", first?.most ?? 0, second?.key ?? "", second?.most ?? 0];
}

const scriptOf = scriptFrom("", new URL("hourly-cap.lua", import.meta.url));
