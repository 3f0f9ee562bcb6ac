import { scriptFrom } from "../counters/script.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { createLimiter, type Draw, type Left, type Limiter, type LimiterDecision } from "./limiter.ts";
import type { KeyAllowance } from "./limiter-state.ts";
import { createOwed, type Debt } from "./owed.ts";
import type { UseLog } from "./use-log.ts";

type Deps = {
  valkey: Pick<Valkey, "run" | "isAway" | "instances" | "onReturn">;
  clock: Clock;
  useLog: UseLog;
};

/**
 * Decides as limiter.ts does, for all instances together and exactly: the same rules, written in Lua, in Valkey. While
 * Valkey does not answer, this instance decides alone: it keeps reservations whole, so a request within its reservation
 * is never refused wherever the balancer sends it, and gives its part of the shared pool. Its buckets continue from
 * Valkey's last levels, and requests allowed alone are drawn from Valkey's buckets afterwards, so outages add no
 * tokens.
 */
export function createSharedLimiter({ valkey, clock, useLog }: Deps): Limiter {
  const alone = createLimiter({ clock, useLog });
  const owed = createOwed({ clock });

  const partOf = (draw: Draw): Draw => ({ ...draw, allowance: part(draw.allowance, valkey.instances()) });

  async function ask(draw: Draw, what: "t" | "a" | "l"): Promise<LimiterDecision | undefined> {
    const answer = (await valkey.run(scriptOf(), draw.storeId, itemOf(draw, draw.source ?? "", what))) as
      | ScriptAnswer
      | undefined;
    if (answer === undefined) return undefined;
    learn(draw, answer);
    return decisionOf(answer);
  }

  function learn(draw: Draw, answer: ScriptAnswer): void {
    const [floorThousandths, floorFull, poolThousandths, poolFull] = answer.slice(8) as ScriptBuckets;
    const pool = poolThousandths / 1000 / valkey.instances();
    alone.goOnFrom(partOf(draw), { floor: floorThousandths / 1000, pool });
    if (owed.isAny()) handIn();
    owed.seen(draw.storeId, draw.keyId, { floor: floorFull, pool: poolFull });
  }

  /** `isSent`: Valkey received the call and may have drawn on a floor already, which must not be drawn from twice. */
  function takeAlone(draw: Draw, isSent: boolean): LimiterDecision {
    const decision = alone.take(partOf(draw));
    const { allowed, bucket } = decision;
    const { storeId, keyId, allowance } = draw;
    if (allowed && bucket === "shared") owed.note(storeId, keyId, allowance, "pool");
    if (allowed && bucket === "reserved" && !isSent) owed.note(storeId, keyId, allowance, "floor");
    return decision;
  }

  function handIn(): void {
    for (const debt of owed.takeAll()) {
      const item = itemOf(debt, owedOf(debt, valkey.instances()), "o");
      void valkey.run(scriptOf(), debt.storeId, item).then((answer) => {
        if (answer === undefined) owed.putBack(debt);
      });
    }
  }
  valkey.onReturn(handIn);

  async function takeTogether(draw: Draw): Promise<LimiterDecision> {
    const decision = await ask(draw, draw.administration ? "a" : "t");
    if (!decision) return takeAlone(draw, true);
    const second = Math.floor(clock.monotonicMs() / 1000);
    useLog.add(draw.storeId, draw.keyId, second, 1, decision.allowed ? 0 : 1);
    return decision;
  }

  async function lookTogether(draw: Draw): Promise<Left> {
    return (await ask(draw, "l")) ?? alone.look(partOf(draw));
  }

  return {
    take: (draw) => (valkey.isAway() ? takeAlone(draw, false) : takeTogether(draw)),
    look: (draw) => (valkey.isAway() ? alone.look(partOf(draw)) : lookTogether(draw)),
    async settle(storeId) {
      await alone.settle(storeId);
      await useLog.flush(storeId);
    },
    async sweep() {
      owed.sweep();
      await alone.sweep();
    },
    size: alone.size,
  };
}

const scriptOf = scriptFrom("", new URL("limiter.lua", import.meta.url));

/** The answer of limiter.lua: the decision, then the levels of the buckets. */
type ScriptDecision = [number, number, number, number, number, number, number, number];
type ScriptBuckets = [number, number, number, number];
type ScriptAnswer = [...ScriptDecision, ...ScriptBuckets];

const itemOf = (
  { keyId, allowance }: Pick<Draw, "keyId" | "allowance">,
  source: string,
  what: "t" | "a" | "l" | "o",
): (string | number)[] => {
  const { revision, rateLimit, totalReserved, reserved } = allowance;
  return [keyId, source, revision, rateLimit - totalReserved, reserved, what];
};

function owedOf({ allowance, awayMs, pool, floor, since }: Debt, instances: number): string {
  const own = part(allowance, instances);
  return [awayMs, pool, own.rateLimit - own.totalReserved, since.pool, floor, since.floor].join(" ");
}

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
]: ScriptAnswer): LimiterDecision {
  return {
    allowed: served === 1,
    bucket: BUCKETS[bucket] ?? "shared",
    reserved: { quota: floor, left: floorLeft },
    shared: { quota: pool, left: poolLeft },
    asked,
    retryAfterSeconds,
  };
}

/** This instance's part of the shared pool, at least one request a second if there is any. */
function part(allowance: KeyAllowance, instances: number): KeyAllowance {
  const shared = allowance.rateLimit - allowance.totalReserved;
  const own = Math.min(shared, Math.max(1, Math.floor(shared / instances)));
  return { ...allowance, rateLimit: allowance.totalReserved + own };
}
