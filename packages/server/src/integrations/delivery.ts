import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import type { Condition, Page, Place } from "../lib/condition.ts";
import { laterThan } from "../storage/later-than.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { markDue } from "./due.ts";
import { getIntegration, isEnabled } from "./integration.ts";

/**
 * One event for one integration. It has no copy of the event: that is read from the log for each attempt, so that what is erased
 * there is not kept here.
 *
 *     waiting ──► delivered
 *        │  ▲         │
 *        ▼  └─────────┤ redeliver, replay
 *     failed ─────────┘
 */
export type DeliveryRow = Tables["integration_deliveries"];

/** Due whatever a clock says. */
export const AT_ONCE = 0;

export type DeliveryList = {
  integrationId: string;
  rows: DeliveryRow[];
  place: Place;
  page: Page;
  conditions: readonly Condition[];
};

export async function listDeliveries(
  deps: { storage: Storage },
  storeId: string,
  integrationId: string,
  page: Page,
  conditions: readonly Condition[] = [],
): Promise<DeliveryList> {
  await getIntegration(deps, storeId, integrationId);
  const of = { store_id: storeId, integration_id: integrationId };
  const { rows, place } = await readPage(deps.storage, "integration_deliveries", of, page, { conditions });
  return { integrationId, rows, place, page, conditions };
}

/** Begins its schedule anew, whatever became of it before, and does not wait for others of its subject. */
export function redeliver(
  { storage, clock }: { storage: Storage; clock: Clock },
  storeId: string,
  ids: { id: string; delivery: string },
): Promise<DeliveryRow> {
  return storage.transact(async (trx) => {
    const integration = await getIntegration({ storage: { db: trx } }, storeId, ids.id);
    const now = clock.now();
    // First, as whoever writes down outcomes locks the integration before its deliveries: in another order the two would lock each other out.
    await markDue.all(trx, { storeId, id: ids.id, now });
    const row = await trx
      .updateTable("integration_deliveries")
      .set({
        status: "waiting",
        reason: null,
        tries: 0,
        next_attempt_at: AT_ONCE,
        forget_at: null,
        // An attempt that is under way sees by it that it must not write its outcome over this (settle.ts).
        updated_at: laterThan("updated_at", now),
      })
      .where("store_id", "=", storeId)
      .where("integration_id", "=", ids.id)
      .where("id", "=", ids.delivery)
      .returningAll()
      .executeTakeFirst();
    if (!row) throw new Problem("delivery_not_found");
    if (!isEnabled(integration)) throw new Problem("integration_disabled");
    return row;
  });
}
