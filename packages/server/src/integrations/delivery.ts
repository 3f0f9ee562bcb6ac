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
 * One event for one integration. It stores no copy of the event: each attempt reads the event from the log, so erased
 * data is not kept here.
 *
 *     waiting ──► delivered
 *        │  ▲         │
 *        ▼  └─────────┤ redeliver, replay
 *     failed ─────────┘
 */
export type DeliveryRow = Tables["integration_deliveries"];

/** Due on every clock. */
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

/** Starts the schedule of a delivery again, and does not wait for other deliveries of its subject. */
export function redeliver(
  { storage, clock }: { storage: Storage; clock: Clock },
  storeId: string,
  ids: { id: string; delivery: string },
): Promise<DeliveryRow> {
  return storage.transact(async (trx) => {
    const integration = await getIntegration({ storage: { db: trx } }, storeId, ids.id);
    const now = clock.now();
    // Marks the integration first, because `settle` also locks the integration before its deliveries. The opposite
    // order could deadlock.
    await markDue.all(trx, { storeId, id: ids.id, now });
    const row = await trx
      .updateTable("integration_deliveries")
      .set({
        status: "waiting",
        reason: null,
        tries: 0,
        next_attempt_at: AT_ONCE,
        forget_at: null,
        // An attempt under way compares `updated_at` and then does not overwrite this (settle.ts).
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
