import { readFileSync } from "node:fs";
import { createScript } from "../counters/script.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import {
  type Allowance,
  createLimiter,
  type Decision,
  type Draw,
  type Left,
  type Limiter,
} from "./limiter.ts";
import type { UseLog } from "./use-log.ts";

type Deps = { valkey: Pick<Valkey, "run" | "isAway" | "instances">; clock: Clock; useLog: UseLog };

/**
 * Decides as limiter.ts does, for all instances together: exactly, in Valkey, by the same rules written in Lua. While Valkey
 * is away this instance decides alone. Reservations are then kept whole, so that nobody within one is refused wherever the
 * balancer sends it; of what is shared this instance gives its part.
 */
export function createSharedLimiter({ valkey, clock, useLog }: Deps): Limiter {
  const alone = createLimiter({ clock, useLog });
  const script = createScript(readFileSync(new URL("limiter.lua", import.meta.url), "utf8"));

  const partOf = (draw: Draw): Draw => ({ ...draw, allowance: part(draw.allowance, valkey.instances()) });

  async function ask(draw: Draw, what: "t" | "a" | "l"): Promise<Decision | undefined> {
    const { revision, rateLimit, totalReserved, reserved } = draw.allowance;
    const item = [draw.keyId, draw.source ?? "", revision, rateLimit - totalReserved, reserved, what];
    const answer = await valkey.run(script, draw.storeId, item);
    return answer === undefined ? undefined : decisionOf(answer as Answer);
  }

  async function takeTogether(draw: Draw): Promise<Decision> {
    const decision = await ask(draw, draw.administration ? "a" : "t");
    if (!decision) return alone.take(partOf(draw));
    const second = Math.floor(clock.monotonicMs() / 1000);
    useLog.add(draw.storeId, draw.keyId, second, 1, decision.allowed ? 0 : 1);
    return decision;
  }

  async function lookTogether(draw: Draw): Promise<Left> {
    return (await ask(draw, "l")) ?? alone.look(partOf(draw));
  }

  return {
    take: (draw) => (valkey.isAway() ? alone.take(partOf(draw)) : takeTogether(draw)),
    look: (draw) => (valkey.isAway() ? alone.look(partOf(draw)) : lookTogether(draw)),
    async settle(storeId) {
      await alone.settle(storeId);
      await useLog.flush(storeId);
    },
    sweep: alone.sweep,
    size: alone.size,
  };
}

type Answer = [number, number, number, number, number, number, number, number];

const BUCKETS = ["reserved", "reserved", "shared", "administration"] as const;

function decisionOf([
  served,
  bucket,
  floor,
  floorLeft,
  pool,
  poolLeft,
  asked,
  retryAfterSeconds,
]: Answer): Decision {
  return {
    allowed: served === 1,
    bucket: BUCKETS[bucket] ?? "shared",
    reserved: { quota: floor, left: floorLeft },
    shared: { quota: pool, left: poolLeft },
    asked,
    retryAfterSeconds,
  };
}

/** One part of what is shared, at least one request a second where there is anything. */
function part(allowance: Allowance, instances: number): Allowance {
  const shared = allowance.rateLimit - allowance.totalReserved;
  const own = Math.min(shared, Math.max(1, Math.floor(shared / instances)));
  return { ...allowance, rateLimit: allowance.totalReserved + own };
}
