import { byService } from "../../events/event.ts";
import { noteEvents } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Storage } from "../../storage/storage.ts";
import { touchStore } from "../../stores/store.ts";
import type { Calls } from "../calls.ts";
import { profileEvent } from "../events.ts";
import { profileOf, profileUpdate } from "../profile.ts";
import type { HealthStatus } from "./health-states.ts";

type Deps = { storage: Storage; clock: Clock; calls: Calls };

/** Reports per round: each is a transaction of its own. */
const AT_ONCE = 50;

/**
 * Writes an event when an identity provider is no longer well, or well again. The profile's row has the status that was
 * reported last, so when several instances see the same change, the first one reports it. A profile without a report
 * counts as up. Returns true when more are left.
 */
export async function reportHealth(deps: Deps): Promise<boolean> {
  const unreported = deps.calls.unreported();
  for (const { profileId, status } of unreported.slice(0, AT_ONCE)) {
    await report(deps, profileId, status);
    deps.calls.markReported(profileId, status);
  }
  return unreported.length > AT_ONCE;
}

/** The store's revision makes other instances read the profile again for their cached lists. */
async function report(deps: Deps, profileId: string, status: HealthStatus): Promise<void> {
  const storeId = await deps.storage.transact(async (trx) => {
    const row = await trx
      .selectFrom("oidc_profiles")
      .select(["id", "store_id", "told_health"])
      .where("id", "=", profileId)
      .executeTakeFirst();
    const before = row?.told_health ?? "up";
    if (!row || before === status) return undefined;
    await touchStore(trx, row.store_id);
    const reported = await profileUpdate(trx, row, { told_health: status })
      .where("told_health", "is not distinct from", row.told_health)
      .returningAll()
      .executeTakeFirst();
    if (!reported) return undefined;
    const event = profileEvent(deps, "oidc_profile.health_changed", profileOf(reported));
    const changes = { health: { before, after: status } };
    await noteEvents(trx, deps, byService(row.store_id), [{ ...event, changes }]);
    return row.store_id;
  });
  if (storeId !== undefined) deps.storage.changes.announce(storeId);
}
