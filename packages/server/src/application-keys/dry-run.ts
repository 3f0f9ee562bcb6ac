import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { askedByKey, foresee } from "../rate-limit/foresee.ts";
import type { Limiter } from "../rate-limit/limiter.ts";
import { plan } from "../rate-limit/plan.ts";
import { USE_LOG_SECONDS, type UseLog } from "../rate-limit/use-log.ts";
import type { Storage } from "../storage/storage.ts";
import { getStore } from "../stores/administer.ts";
import { type KeyChange, refuseOverLimit } from "./administer.ts";
import { listReservations } from "./application-key.ts";

type Deps = { storage: Storage; clock: Clock; limiter: Limiter; useLog: UseLog };

type Change = { before: number; after: number };

export type Foresight = {
  keyId: string;
  fromMs: number;
  toMs: number;
  seconds: number;
  shared: Change;
  keys: { id: string; name: string; reserved: Change; asked: number; refused: Change }[];
};

/** Plays the last hour against the limits as they are and as the change would make them. Changes nothing. */
export async function dryRun(
  deps: Deps,
  storeId: string,
  keyId: string,
  change: KeyChange,
): Promise<Foresight> {
  const { rateLimit } = await getStore(deps, storeId);
  const before = await listReservations(deps.storage, storeId);
  if (!before.some((key) => key.keyId === keyId)) throw new Problem("application_key_not_found");
  const reserved = change.reservedRateLimit;
  const after = before.map((key) =>
    key.keyId === keyId && reserved !== undefined ? { ...key, reserved } : key,
  );
  const byOthers = after.reduce((sum, key) => (key.keyId === keyId ? sum : sum + key.reserved), 0);
  if (reserved !== undefined) refuseOverLimit(rateLimit, byOthers, reserved);

  deps.limiter.settle(storeId);
  const thisSecond = Math.floor(deps.clock.monotonicMs() / 1000);
  const uses = deps.useLog.read(storeId, thisSecond - USE_LOG_SECONDS);
  const plans = { before: plan(rateLimit, before), after: plan(rateLimit, after) };
  const refused = { before: foresee(uses, plans.before), after: foresee(uses, plans.after) };
  const asked = askedByKey(uses);
  const oldest = uses.reduce((least, use) => Math.min(least, use.second), thisSecond);
  return {
    keyId,
    fromMs: deps.clock.now() - (thisSecond - oldest) * 1000,
    toMs: deps.clock.now(),
    seconds: new Set(uses.map((use) => use.second)).size,
    shared: { before: plans.before.shared, after: plans.after.shared },
    keys: before
      .map((key, index) => ({
        id: key.keyId,
        name: key.name,
        reserved: { before: key.reserved, after: after[index]?.reserved ?? key.reserved },
        asked: asked.get(key.keyId) ?? 0,
        refused: { before: refused.before.get(key.keyId) ?? 0, after: refused.after.get(key.keyId) ?? 0 },
      }))
      .filter(
        (key) => key.asked > 0 || key.reserved.before > 0 || key.reserved.after > 0 || key.id === keyId,
      ),
  };
}
