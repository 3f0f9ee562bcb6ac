import { randomUUIDv7 } from "node:crypto";
import { SHOP } from "../workloads/steps.ts";
import { type Ask, insertRow } from "./database.ts";

/** The notes that a write leaves: events, in the transaction of the write, and the record of a sign-on. */

type NewEvent = { type: string; subject: string; resource: object; personId?: string };

/** Inserts all events with one statement. The limit does not number events. */
export async function insertEvents(
  ask: Ask,
  storeId: string,
  actorId: string,
  events: readonly NewEvent[],
): Promise<void> {
  const requestId = randomUUIDv7();
  const rows = events.map(({ type, subject, resource, personId = null }) => [
    randomUUIDv7(),
    storeId,
    type,
    subject,
    actorId,
    personId,
    Date.now(),
    JSON.stringify({ resource, actor: { type: "customer", id: actorId }, request_id: requestId }),
  ]);
  const marks = rows.map(() => "(?, ?, ?, ?, ?, ?, ?, ?)").join(", ");
  await ask(
    `insert into event_outbox (id, store_id, type, subject, actor_id, person_id, time, data) values ${marks}`,
    ...rows.flat(),
  );
}

const CHECKED = "state browser issuer audience nonce signature expiry subject email".split(" ");
const CHECKS = JSON.stringify(CHECKED.map((check) => ({ check, result: "passed" })));

type NewRecord = { id: string; storeId: string; realmId: string; profileId: string };

export async function insertRecord(ask: Ask, { id, storeId, realmId, profileId }: NewRecord): Promise<void> {
  const now = Date.now();
  await insertRow(ask, "sign_ons", {
    id,
    store_id: storeId,
    realm_id: realmId,
    profile_id: profileId,
    profile_name: "Staff",
    reference: id.slice(-12),
    outcome: "code_issued",
    checks: CHECKS,
    timings: JSON.stringify({ token_ms: 3 }),
    by_stranger: 0,
    counted: 1,
    redirect_uri: SHOP,
    started_at: now,
    updated_at: now,
  });
}

export async function closeRecord(ask: Ask, storeId: string, id: string, customerId: string): Promise<void> {
  await ask(
    "update sign_ons set outcome = 'exchanged', customer_id = ?, updated_at = ? where store_id = ? and id = ?",
    customerId,
    Date.now(),
    storeId,
    id,
  );
}
