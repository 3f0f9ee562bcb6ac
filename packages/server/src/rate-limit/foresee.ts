import type { Plan } from "./plan.ts";

/**
 * `asked`: the requests of each key in one second. Returns how many of them a plan would have refused. A key uses its
 * floor; the rest competes for the shared pool, which is dealt evenly: no key gets more than it requested, and unused
 * parts go to the others. The live limiter has no second boundaries: where two busy seconds meet it may refuse more,
 * after a quiet one less.
 */
export function refusedIn(
  asked: ReadonlyMap<string, number>,
  plan: Plan,
): { keyId: string; refused: number }[] {
  const wanting: { keyId: string; over: number }[] = [];
  for (const [keyId, count] of asked) {
    const over = count - (plan.floors.get(keyId) ?? 0);
    if (over > 0) wanting.push({ keyId, over });
  }
  return deal(plan.shared, wanting).filter(({ refused }) => refused > 0);
}

/** Deals out `pool`, smallest request first: each key gets its request or an even part of the rest. */
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
