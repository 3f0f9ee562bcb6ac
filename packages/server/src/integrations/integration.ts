import { Problem } from "../contract/problem.ts";
import { EVENT_TYPES } from "../events/event.ts";
import { forChange } from "../storage/engine.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/**
 * Webhooks: a store's other services that receive its events.
 *
 *     numbered events  ->  a delivery for each that is observed  ->  sent, again and again  ->  delivered, or given up
 *     (events/)            (fan-out.ts)                               (run.ts, attempt.ts)       (settle.ts)
 *
 * One instance at a time serves an integration, while it holds the lease (deliverer.ts). An instance without the lease
 * writes nothing; the next instance sends the interrupted messages again, with the same ids.
 */
export type IntegrationRow = Tables["integrations"];

/** The last attempt, as stored. */
export type LastDelivery = { at: number; status: number | null; reason: string | null };

export const isEnabled = ({ enabled }: Pick<IntegrationRow, "enabled">): boolean => enabled === 1;

/** A pattern is an event type, or a prefix such as `customer.*`. */
export const isMeant = (pattern: string, type: string): boolean =>
  pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

/** The event types that the patterns match, each once. */
export const typesOf = (observes: readonly string[]): string[] =>
  EVENT_TYPES.filter((type) => observes.some((pattern) => isMeant(pattern, type)));

/** An integration's id within its store. */
export type IntegrationKey = { storeId: string; id: string };

export const integrationRow = (db: Database, { storeId, id }: IntegrationKey) =>
  db.selectFrom("integrations").where("store_id", "=", storeId).where("id", "=", id);

const findIntegration = statement((db, of: IntegrationKey) => integrationRow(db, of).selectAll());

export async function getIntegration(
  { storage }: { storage: { db: Database } },
  storeId: string,
  id: string,
): Promise<IntegrationRow> {
  const row = await findIntegration.first(storage.db, { storeId, id });
  if (!row) throw new Problem("integration_not_found");
  return row;
}

/** Locks the row until the transaction ends. */
export async function lockIntegration(trx: Trx, of: IntegrationKey): Promise<IntegrationRow> {
  const row = await forChange(trx, integrationRow(trx, of).selectAll()).executeTakeFirst();
  if (!row) throw new Problem("integration_not_found");
  return row;
}
