import { randomUUIDv7 } from "node:crypto";
import type { Ask } from "./database.ts";

/** What the contract wants written of what happened: events in the transaction that they tell of, and a sign-on's record. */

type Event = { type: string; subject: string; resource: object; personId?: string };

/** One insert. They are not numbered here: who numbers them, and when, is for a service to choose. */
export async function insertEvents(
  ask: Ask,
  storeId: string,
  actorId: string,
  events: readonly Event[],
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
  const places = rows.map(() => "(?, ?, ?, ?, ?, ?, ?, ?)").join(", ");
  await ask(
    `insert into event_outbox (id, store_id, type, subject, actor_id, person_id, time, data) values ${places}`,
    ...rows.flat(),
  );
}

type SignOn = { id: string; storeId: string; realmId: string; profileId: string };

export async function insertRecord(ask: Ask, { id, storeId, realmId, profileId }: SignOn): Promise<void> {
  const now = Date.now();
  await ask(
    `insert into sign_ons (id, store_id, realm_id, profile_id, profile_name, reference, outcome, checks, timings, by_stranger, counted, redirect_uri, started_at, updated_at)
     values (?, ?, ?, ?, 'Staff', ?, 'code_issued', ?, ?, 0, 1, ?, ?, ?)`,
    id,
    storeId,
    realmId,
    profileId,
    id.slice(-12),
    JSON.stringify(CHECKS),
    JSON.stringify({ token_ms: 3 }),
    "https://shop.example/signed-in",
    now,
    now,
  );
}

const CHECKS = [
  "state",
  "browser",
  "issuer",
  "audience",
  "nonce",
  "signature",
  "expiry",
  "subject",
  "email",
].map((check) => ({ check, result: "passed" }));

export async function closeRecord(ask: Ask, storeId: string, id: string, customerId: string): Promise<void> {
  await ask(
    "update sign_ons set outcome = 'exchanged', customer_id = ?, updated_at = ? where store_id = ? and id = ?",
    customerId,
    Date.now(),
    storeId,
    id,
  );
}
