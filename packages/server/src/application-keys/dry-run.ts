import type * as contract from "../contract/application-keys.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { createPauses } from "../lib/pauses.ts";
import { refusedIn as refusedInSecond } from "../rate-limit/foresee.ts";
import type { Limiter } from "../rate-limit/limiter.ts";
import { type Plan, plan } from "../rate-limit/plan.ts";
import { USE_LOG_SECONDS, type UseLog } from "../rate-limit/use-log.ts";
import type { Storage } from "../storage/storage.ts";
import { findPlannedKeys, listPlan, type PlannedKey, refuseOverReservation } from "./application-key.ts";
import { type KeyChange, keyUrl } from "./resource.ts";

type Deps = { storage: Storage; clock: Clock; limiter: Limiter; useLog: UseLog; publicUrl: string };

/** Plays the last hour against the limits as they are and as the change would make them. Changes nothing. */
export async function dryRun(
  deps: Deps,
  storeId: string,
  keyId: string,
  change: KeyChange,
): Promise<Output<typeof contract.dryRunApplicationKey>> {
  const planned = await listPlan(deps.storage, storeId, keyId);
  const own = planned.find((key) => key.keyId === keyId);
  if (!own) throw new Problem("application_key_not_found");
  const { rateLimit } = own;
  const reserved = change.reserved_rate_limit ?? own.reserved;
  const before = [own, ...planned.filter((key) => key.keyId !== keyId)];
  const totalReserved = before.reduce((sum, key) => sum + key.reserved, 0);
  refuseOverReservation(rateLimit, totalReserved - own.reserved, reserved);
  const after = before.map((key) => (key.keyId === keyId ? { ...key, reserved } : key));

  const plans = { before: plan(rateLimit, before), after: plan(rateLimit, after) };
  const { searches } = deps.storage;
  searches.refuseCrowd(storeId);
  const played = await searches.inTurn(storeId, () => play(deps, storeId, plans));
  const isPlanned = new Set(before.map((key) => key.keyId));
  const others = [...played.asked.keys()].filter((id) => !isPlanned.has(id));
  const keys = [...before, ...(await findPlannedKeys(deps.storage, storeId, others))];
  const observedTo = deps.clock.now();
  const observedFrom = observedTo - (played.thisSecond - played.oldestSecond) * 1000;
  const refusedIn = (plan: "before" | "after", id: string) => played.refused[plan].get(id) ?? 0;
  return {
    data: {
      type: "application_key_dry_run",
      observed: { from: toIso(observedFrom), to: toIso(observedTo), seconds: played.seconds },
      shared_rate_limit: { before: plans.before.shared, after: plans.after.shared },
      keys: keys.sort(byAge).map((key) => ({
        id: key.keyId,
        name: key.name,
        reserved_rate_limit: { before: key.reserved, after: key.keyId === keyId ? reserved : key.reserved },
        asked: played.asked.get(key.keyId) ?? 0,
        refused: { before: refusedIn("before", key.keyId), after: refusedIn("after", key.keyId) },
      })),
    },
    links: { self: keyUrl(deps, keyId) },
  };
}

const byAge = (a: PlannedKey, b: PlannedKey): number =>
  a.createdAt - b.createdAt || (a.keyId < b.keyId ? -1 : 1);

async function play({ clock, limiter, useLog }: Deps, storeId: string, plans: { before: Plan; after: Plan }) {
  await limiter.settle(storeId);
  const thisSecond = Math.floor(clock.monotonicMs() / 1000);
  const bySecond = new Map<number, Map<string, number>>();
  const pause = createPauses();
  for await (const { keyIds, seconds, asked } of useLog.read(storeId)) {
    await pause(keyIds.length);
    for (const [at, keyId] of keyIds.entries()) {
      const second = seconds[at] as number;
      if (second < thisSecond - USE_LOG_SECONDS) continue;
      const ofSecond = bySecond.get(second) ?? new Map<string, number>();
      bySecond.set(second, ofSecond);
      add(ofSecond, keyId, asked[at] as number);
    }
  }
  const total = new Map<string, number>();
  const refused = { before: new Map<string, number>(), after: new Map<string, number>() };
  for (const ofSecond of bySecond.values()) {
    await pause(ofSecond.size);
    for (const [keyId, count] of ofSecond) add(total, keyId, count);
    for (const when of ["before", "after"] as const) {
      for (const { keyId, refused: count } of refusedInSecond(ofSecond, plans[when]))
        add(refused[when], keyId, count);
    }
  }
  const oldestSecond = [...bySecond.keys()].reduce((least, second) => Math.min(least, second), thisSecond);
  return { thisSecond, oldestSecond, seconds: bySecond.size, asked: total, refused };
}

const add = (counts: Map<string, number>, keyId: string, count: number): void => {
  counts.set(keyId, (counts.get(keyId) ?? 0) + count);
};
