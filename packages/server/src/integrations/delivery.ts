import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/deliveries.ts";
import type { Output } from "../contract/operation.ts";
import { presentList } from "../contract/paging.ts";
import { Problem } from "../contract/problem.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import type { Condition, Page } from "../lib/condition.ts";
import { laterThan } from "../storage/later-than.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import type { DeliveryAttempt } from "./attempt.ts";
import { markDue } from "./due.ts";
import { getIntegration, type IntegrationKey, isEnabled } from "./integration.ts";
import { integrationUrl, seesSecrets } from "./resource.ts";

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

export const deliveriesOf = (db: Database, { storeId, id }: IntegrationKey) =>
  db.selectFrom("integration_deliveries").where("store_id", "=", storeId).where("integration_id", "=", id);

/** Due on every clock. */
export const AT_ONCE = 0;

/**
 * Administrators see a receiver's answer, because a receiver may echo what it was sent, in any spelling: the secret
 * key, and members' addresses. Other roles see the result and the duration.
 */
export const attemptResource = (
  reader: Pick<Caller, "role">,
  { at, answer, ...attempt }: DeliveryAttempt,
) => ({
  ...attempt,
  at: toIso(at),
  answer: seesSecrets(reader) ? answer : null,
});

type Delivery = Output<typeof contract.redeliver>["data"];

const deliveryResource = (reader: Pick<Caller, "role">, row: DeliveryRow): Delivery => ({
  id: row.id,
  type: "integration-delivery",
  status: row.status as Delivery["status"],
  reason: row.reason as Delivery["reason"],
  event: { id: row.event_id, type: row.type, subject: row.subject, sequence: String(row.sequence) },
  attempts: (JSON.parse(row.attempts) as DeliveryAttempt[]).map((attempt) =>
    attemptResource(reader, attempt),
  ),
  next_attempt_at: row.next_attempt_at ? toIso(row.next_attempt_at) : null,
  meta: { timestamps: { created_at: toIso(row.created_at), updated_at: toIso(row.updated_at) } },
});

export async function listDeliveries(
  deps: { storage: Storage; publicUrl: string },
  caller: Caller,
  integrationId: string,
  page: Page,
  conditions: readonly Condition[] = [],
): Promise<Output<typeof contract.listDeliveries>> {
  const { storeId } = caller;
  await getIntegration(deps, storeId, integrationId);
  const of = { store_id: storeId, integration_id: integrationId };
  const { rows, place } = await readPage(deps.storage, "integration_deliveries", of, page, { conditions });
  const data = rows.map((row) => deliveryResource(caller, row));
  return presentList(`${integrationUrl(deps, integrationId)}/deliveries`, data, { page, place, conditions });
}

/** Starts the schedule of a delivery again, and does not wait for other deliveries of its subject. */
export function redeliver(
  { storage, clock }: { storage: Storage; clock: Clock },
  caller: Caller,
  ids: { id: string; delivery: string },
): Promise<Output<typeof contract.redeliver>> {
  const { storeId } = caller;
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
    return { data: deliveryResource(caller, row) };
  });
}
