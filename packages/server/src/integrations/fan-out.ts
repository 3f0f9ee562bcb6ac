import { type SqlBool, sql } from "kysely";
import { readHead } from "../events/head.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { atMost } from "../storage/at-most.ts";
import { insertWholeRows } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { AT_ONCE, type DeliveryRow, deliveriesOf } from "./delivery.ts";
import { type IntegrationKey, type IntegrationRow, typesOf } from "./integration.ts";

type Deps = { storage: Storage; clock: Clock };

/** Events per transaction, which takes a few milliseconds. */
const PAGE = 200;

/**
 * Turns the next events of the log, or of a replay, into deliveries. Returns false when no event was left or nothing
 * was written.
 */
export async function fanOut(deps: Deps, integration: IntegrationRow): Promise<boolean> {
  return (await fanOutNew(deps, integration)) || (await fanOutReplay(deps, integration));
}

async function fanOutNew(deps: Deps, integration: IntegrationRow): Promise<boolean> {
  const head = await readHead(deps.storage.db, integration.store_id);
  if (integration.sequence >= head.last_sequence) return false;
  const { events, to } = await readObserved(deps, integration, integration.sequence, head.last_sequence);
  return write(deps, integration, events, { sequence: to }, insertDeliveries);
}

/** Includes delivered ones: they start again. */
async function fanOutReplay(deps: Deps, integration: IntegrationRow): Promise<boolean> {
  const { replay_after: after, replay_before: before } = integration;
  if (after === null || before === null) return false;
  const { events, to } = await readObserved(deps, integration, after, before);
  const left = to >= before ? { replay_after: null, replay_before: null } : { replay_after: to };
  return write(deps, integration, events, left, replayDeliveries);
}

/**
 * Writes deliveries and the integration's new position. Returns false, and writes nothing, when the integration has
 * changed since it was read.
 */
async function write(
  deps: Deps,
  integration: IntegrationRow,
  events: readonly Observed[],
  columns: Partial<IntegrationRow>,
  insert: typeof replayDeliveries,
): Promise<boolean> {
  const { id, store_id, lease, observes } = integration;
  const isOurs = await deps.storage.transact(async (trx) => {
    // No row when another instance holds the lease or the types have changed since the row was read. Otherwise the lock
    // prevents both until this transaction ends.
    const { numUpdatedRows } = await trx
      .updateTable("integrations")
      .set(columns)
      .where("store_id", "=", store_id)
      .where("id", "=", id)
      .where("lease", "=", lease)
      .where("observes", "=", observes)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    if (events.length > 0) await insert(trx, await rowsOf(trx, deps, integration, events));
    return true;
  });
  if (isOurs) Object.assign(integration, columns);
  return isOurs;
}

type Observed = { sequence: number; id: string; type: string; subject: string };

async function readObserved(
  { storage: { db } }: Deps,
  integration: IntegrationRow,
  from: number,
  last: number,
): Promise<{ events: Observed[]; to: number }> {
  const types = new Set(typesOf(JSON.parse(integration.observes)));
  const rows = await readEvents.all(db, { storeId: integration.store_id, from, to: last, limit: PAGE });
  // Events deleted meanwhile are skipped.
  const to = rows.length < PAGE ? last : (rows.at(-1)?.sequence ?? last);
  return { events: rows.filter(({ type }) => types.has(type)), to };
}

const readEvents = statement((db, of: { storeId: string; from: number; to: number; limit: number }) =>
  db
    .selectFrom("events")
    .select(["sequence", "id", "type", "subject"])
    .where("store_id", "=", of.storeId)
    .where("sequence", ">", of.from)
    .where("sequence", "<=", of.to)
    .orderBy("sequence")
    .limit(atMost(of.limit)),
);

/**
 * The first delivery of each subject is due at once, unless an earlier one of that subject waits. The others come after
 * it.
 */
async function rowsOf(
  trx: Trx,
  { clock }: Deps,
  { id, store_id }: IntegrationRow,
  events: readonly Observed[],
): Promise<DeliveryRow[]> {
  const now = clock.now();
  const subjects = new Set(events.map(({ subject }) => subject));
  const waiting = await findWaiting(trx, { storeId: store_id, id }, [...subjects]);
  return events.map(({ sequence, id: eventId, type, subject }) => {
    const isBehind = waiting.has(subject);
    waiting.add(subject);
    return {
      id: newId(),
      store_id,
      integration_id: id,
      sequence,
      event_id: eventId,
      type,
      subject,
      status: "waiting",
      reason: null,
      tries: 0,
      attempts: "[]",
      next_attempt_at: isBehind ? null : AT_ONCE,
      forget_at: null,
      created_at: now,
      updated_at: now,
    };
  });
}

const SUBJECTS_AT_ONCE = 50;

/** The subjects, of the given ones, with waiting deliveries. One index lookup for each subject. */
async function findWaiting(trx: Trx, of: IntegrationKey, subjects: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  if (!(await findAny.first(trx, of))) return found;
  for (let from = 0; from < subjects.length; from += SUBJECTS_AT_ONCE) {
    const looks = subjects.slice(from, from + SUBJECTS_AT_ONCE).map(
      (subject) => sql`select * from (select subject from integration_deliveries
        where store_id = ${of.storeId} and integration_id = ${of.id} and subject = ${subject} and status = 'waiting'
        limit 1) as look`,
    );
    const { rows } = await sql<{ subject: string }>`${sql.join(looks, sql` union all `)}`.execute(trx);
    for (const { subject } of rows) found.add(subject);
  }
  return found;
}

const findAny = statement((db, of: IntegrationKey) =>
  deliveriesOf(db, of).select("id").where(sql<SqlBool>`status = 'waiting'`).limit(atMost(1)),
);

const insertDeliveries = insertWholeRows("integration_deliveries");

/** A waiting delivery keeps its position. */
const replayDeliveries = insertWholeRows("integration_deliveries", {
  ending: sql`on conflict (store_id, integration_id, sequence) do update set status = excluded.status, reason = null, tries = 0,
    next_attempt_at = excluded.next_attempt_at, forget_at = null, updated_at = excluded.updated_at
  where integration_deliveries.status <> 'waiting'`,
});
