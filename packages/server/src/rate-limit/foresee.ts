import type { Plan } from "./plan.ts";
import type { Use } from "./use-log.ts";

/**
 * How many requests of each key a plan would have refused. Each second stands by itself: a key uses its floor, what is
 * left over competes for the shared pool, and the pool is dealt evenly (nobody gets more than it asked for, and what
 * one leaves goes to the others). The live limiter carries unused tokens over by one second, so it refuses no more.
 */
export function foresee(uses: readonly Use[], plan: Plan): Map<string, number> {
  const refused = new Map<string, number>();
  for (const second of Map.groupBy(uses, (use) => use.second).values()) {
    const wanting: { keyId: string; over: number }[] = [];
    for (const [keyId, asked] of askedByKey(second)) {
      const over = asked - (plan.floors.get(keyId) ?? 0);
      if (over > 0) wanting.push({ keyId, over });
    }
    for (const { keyId, short } of deal(plan.shared, wanting)) {
      if (short > 0) refused.set(keyId, (refused.get(keyId) ?? 0) + short);
    }
  }
  return refused;
}

export function askedByKey(uses: readonly Use[]): Map<string, number> {
  const asked = new Map<string, number>();
  for (const use of uses) asked.set(use.keyId, (asked.get(use.keyId) ?? 0) + use.asked);
  return asked;
}

/** Deals `pool` out, smallest wish first: each gets its wish or an even part of what is left. */
function deal(
  pool: number,
  wanting: readonly { keyId: string; over: number }[],
): { keyId: string; short: number }[] {
  let left = pool;
  const bySize = wanting.toSorted((a, b) => a.over - b.over);
  return bySize.map(({ keyId, over }, index) => {
    const given = Math.min(over, Math.floor(left / (bySize.length - index)));
    left -= given;
    return { keyId, short: over - given };
  });
}
