import type { Plan } from "./plan.ts";

/** What each key asked for in one second. */
type SecondOfUse = ReadonlyMap<string, number>;

/**
 * How many requests of each key a plan would have refused in one second, taken by itself: a key uses its floor, what is
 * left over competes for the shared pool, and the pool is dealt evenly (nobody gets more than it asked for, and what
 * one leaves goes to the others). The live limiter knows no second boundaries: where two busy seconds meet it may refuse
 * more, after a quiet one less.
 */
export function refusedIn(asked: SecondOfUse, plan: Plan): { keyId: string; refused: number }[] {
  const wanting: { keyId: string; over: number }[] = [];
  for (const [keyId, count] of asked) {
    const over = count - (plan.floors.get(keyId) ?? 0);
    if (over > 0) wanting.push({ keyId, over });
  }
  return deal(plan.shared, wanting).filter(({ refused }) => refused > 0);
}

/** Deals `pool` out, smallest wish first: each gets its wish or an even part of what is left. */
function deal(
  pool: number,
  wanting: { keyId: string; over: number }[],
): { keyId: string; refused: number }[] {
  let left = pool;
  wanting.sort((a, b) => a.over - b.over);
  return wanting.map(({ keyId, over }, index) => {
    const given = Math.min(over, Math.floor(left / (wanting.length - index)));
    left -= given;
    return { keyId, refused: over - given };
  });
}
