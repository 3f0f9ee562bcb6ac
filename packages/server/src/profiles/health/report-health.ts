import { byService } from "../../events/event.ts";
import { noteEvents } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Storage } from "../../storage/storage.ts";
import { touchStore } from "../../stores/store.ts";
import type { Calls } from "../calls.ts";
import { profileEvent } from "../events.ts";
import { profileOf } from "../profile.ts";
import type { HealthStatus } from "./health.ts";

type Deps = { storage: Storage; clock: Clock; calls: Calls };

/** A round ends after so many: each is a transaction of its own. */
const AT_ONCE = 50;

/**
 * Puts into the log that an identity provider is not well, or well again. Every instance has its own view, and the profile's row
 * has what was told last: of several that see the same, the first tells it. Nothing told yet counts as up. True: there are more.
 */
export async function reportHealth(deps: Deps): Promise<boolean> {
  const untold = deps.calls.untold();
  for (const { profileId, status } of untold.slice(0, AT_ONCE)) {
    await tell(deps, profileId, status);
    deps.calls.told(profileId, status);
  }
  return untold.length > AT_ONCE;
}

/** Instances keep in memory what storefronts are shown, with what was told last: the store's revision tells them. */
async function tell(deps: Deps, profileId: string, status: HealthStatus): Promise<void> {
  const storeId = await deps.storage.transact(async (trx) => {
    const row = await trx
      .selectFrom("oidc_profiles")
      .select(["store_id", "told_health"])
      .where("id", "=", profileId)
      .executeTakeFirst();
    const before = row?.told_health ?? "up";
    if (!row || before === status) return undefined;
    await touchStore(trx, row.store_id);
    const told = await trx
      .updateTable("oidc_profiles")
      .set({ told_health: status })
      .where("store_id", "=", row.store_id)
      .where("id", "=", profileId)
      .where("told_health", "is not distinct from", row.told_health)
      .returningAll()
      .executeTakeFirst();
    if (!told) return undefined;
    const happening = profileEvent(deps, "oidc_profile.health_changed", profileOf(told));
    const changes = { health: { before, after: status } };
    await noteEvents(trx, deps, byService(row.store_id), [{ ...happening, changes }]);
    return row.store_id;
  });
  if (storeId !== undefined) deps.storage.changes.announce(storeId);
}
