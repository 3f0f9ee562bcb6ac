import { sql } from "kysely";
import { limits } from "../contract/limits.ts";
import { eraseAnswers } from "../events/erase.ts";
import { byService, ERASED } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { laterThan } from "../storage/later-than.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { type Attempted, type DeliveryAttempt, GONE } from "./attempt.ts";
import { AT_ONCE, type DeliveryRow } from "./delivery.ts";
import { type IntegrationRow, isEnabled, type LastDelivery } from "./integration.ts";
import { lockLeased } from "./lease.ts";
import { integrationResource } from "./resource.ts";
import { delayAfter } from "./retry-schedule.ts";

type Deps = { storage: Storage; clock: Clock; random: () => number };

/** The result of a delivery. Without an attempt, its event is no longer stored and cannot be sent. */
export type DeliveryOutcome = { row: DeliveryRow; attempted: Attempted | undefined };

/** An integration before and after, and its deliveries, each with the attempt just made. */
export type SettledTurn = {
  before: IntegrationRow;
  after: IntegrationRow;
  deliveries: (DeliveryRow & { attempt: DeliveryAttempt | undefined })[];
};

const DAY_MS = 86_400_000;
/**
 * How long a turn has waited for a receiver, and for how many answers. Waiting holds a place, so an integration with
 * such waits moves to the places of slow ones, as failing ones do.
 */
type Awaited = { readonly ms: number; readonly answers: number };
const SLOW_MS = 1000;
const SLOW_ANSWER_MS = 100;

/**
 * Writes the results of some attempts and what follows from them: the next attempt, the next delivery of the subject,
 * the state of the integration. One transaction, which checks the lease: `undefined` means that the lease was lost and
 * nothing was written.
 */
export async function settle(
  deps: Deps,
  { id, store_id, lease }: IntegrationRow,
  outcomes: readonly DeliveryOutcome[],
  awaited: Awaited = { ms: 0, answers: 0 },
): Promise<SettledTurn | undefined> {
  const { storage, clock } = deps;
  return storage.transact(async (trx) => {
    const before = await lockLeased.first(trx, { storeId: store_id, id, lease });
    if (!before) return undefined;
    const now = clock.now();
    const deliveries: SettledTurn["deliveries"] = [];
    for (const outcome of outcomes) {
      const row = await writeOutcome(trx, outcome.row, stateAfter(deps, before, outcome, now));
      deliveries.push({ ...row, attempt: outcome.attempted?.attempt });
    }
    await keepNoAnswers(trx, store_id, deliveries);
    for (const { status, subject } of deliveries)
      if (status !== "waiting") await letNextGo.all(trx, { storeId: store_id, id, subject });
    const after = await trx
      .updateTable("integrations")
      .set(standingAfter(before, outcomes, awaited, now))
      .where("store_id", "=", store_id)
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (isEnabled(before) && !isEnabled(after)) {
      const changes = { enabled: { before: true, after: false } };
      const resource = integrationResource(deps, after);
      await noteEvents(trx, deps, byService(store_id), [
        { type: "integration.disabled", subject: id, resource, changes },
      ]);
    }
    return { before, after, deliveries };
  });
}

function stateAfter(
  { random }: Deps,
  { url }: IntegrationRow,
  { row: read, attempted }: DeliveryOutcome,
  now: number,
): DeliveryRow {
  const row = { ...read, updated_at: now };
  const ended = { next_attempt_at: null, forget_at: now + limits.deliveryDays * DAY_MS };
  if (!attempted) return { ...row, ...ended, status: "failed", reason: "event_forgotten" };
  const { attempt, retryAfterMs } = attempted;
  row.tries++;
  const attempts: DeliveryAttempt[] = [...JSON.parse(row.attempts), attempt];
  row.attempts = JSON.stringify(attempts.slice(-limits.webhookAttemptsKept));
  if (attempt.reason === null) return { ...row, ...ended, status: "delivered", reason: null };
  const isGone = attempt.status === GONE && attempted.url === url;
  const delayMs = isGone ? undefined : delayAfter(row.tries, retryAfterMs, random);
  if (delayMs === undefined)
    return { ...row, ...ended, status: "failed", reason: isGone ? "gone" : "attempts_exceeded" };
  return { ...row, status: "waiting", reason: null, next_attempt_at: now + delayMs, forget_at: null };
}

/** A delivery that was requested again during the attempt has started anew; only the attempt is added to it. */
async function writeOutcome(trx: Trx, read: DeliveryRow, after: DeliveryRow): Promise<DeliveryRow> {
  if (await writeDelivery.first(trx, { ...after, readAt: read.updated_at })) return after;
  return (await writeAttempts.first(trx, after)) ?? after;
}

/** Every other change of a delivery increases its `updated_at` (delivery.ts). */
const writeDelivery = statement((db, row: DeliveryRow & { readAt: number }) =>
  db
    .updateTable("integration_deliveries")
    .set({
      status: row.status,
      reason: row.reason,
      tries: row.tries,
      attempts: row.attempts,
      next_attempt_at: row.next_attempt_at,
      forget_at: row.forget_at,
      updated_at: row.updated_at,
    })
    .where("store_id", "=", row.store_id)
    .where("id", "=", row.id)
    .where("updated_at", "=", row.readAt)
    .returning("id"),
);

const writeAttempts = statement((db, row: Pick<DeliveryRow, "store_id" | "id" | "attempts">) =>
  db
    .updateTable("integration_deliveries")
    .set({ attempts: row.attempts })
    .where("store_id", "=", row.store_id)
    .where("id", "=", row.id)
    .returningAll(),
);

/**
 * Answers may repeat the data that was sent. An answer is not stored when its person was erased meanwhile, or when the
 * event is gone through which an erasure would find the answer (events/erase.ts, events/forget.ts).
 */
async function keepNoAnswers(trx: Trx, storeId: string, rows: readonly DeliveryRow[]): Promise<void> {
  const sequences = rows.map(({ sequence }) => sequence);
  const kept = await trx
    .selectFrom("events")
    .select("sequence")
    .where("store_id", "=", storeId)
    .where("sequence", "in", sequences)
    .where("data", "<>", ERASED)
    .execute();
  const isKept = new Set(kept.map(({ sequence }) => sequence));
  const gone = rows.filter(({ sequence }) => !isKept.has(sequence));
  await eraseAnswers(trx, storeId, gone);
}

/**
 * Makes the first waiting delivery of the subject due, unless another one is on its way. Sum and coalesce stop
 * PostgreSQL from walking the order or the due times of all subjects, so it uses the index of the subject.
 */
const letNextGo = statement((_, of: { storeId: string; id: string; subject: string }) => {
  const ofSubject = sql`store_id = ${of.storeId} and integration_id = ${of.id} and subject = ${of.subject} and status = 'waiting'`;
  return sql<object>`update integration_deliveries set next_attempt_at = ${sql.lit(AT_ONCE)}
    where store_id = ${of.storeId} and integration_id = ${of.id} and sequence = (
      select sequence from integration_deliveries where ${ofSubject} and next_attempt_at is null order by sequence + 0 limit 1)
    and not exists (select 1 from integration_deliveries where ${ofSubject} and coalesce(next_attempt_at, -1) >= 0)`;
});

/** Answers from an earlier URL of the integration do not count. */
function standingAfter(
  before: IntegrationRow,
  outcomes: readonly DeliveryOutcome[],
  awaited: Awaited,
  now: number,
) {
  const attempts = outcomes.flatMap(({ attempted }) =>
    attempted?.url === before.url ? [attempted.attempt] : [],
  );
  const last = attempts.at(-1);
  // A statement must set something.
  if (!last) return { lease: before.lease };
  const { at, status, reason } = last;
  const isAnyDelivered = attempts.some((attempt) => attempt.reason === null);
  const failed = attempts.filter((attempt) => attempt.reason !== null);
  const failingSince = isAnyDelivered ? null : (before.failing_since ?? now);
  const disabledReason = failed.some((attempt) => attempt.status === GONE)
    ? "gone"
    : failingSince !== null && now - failingSince >= limits.failingDays * DAY_MS
      ? "failing"
      : undefined;
  const isLong = awaited.ms >= SLOW_MS && awaited.ms >= SLOW_ANSWER_MS * awaited.answers;
  const isSlow = failed.length > 0 || isLong;
  return {
    last_delivery: JSON.stringify({ at, status, reason } satisfies LastDelivery),
    failing_since: failingSince,
    is_slow: isSlow ? 1 : 0,
    ...(disabledReason !== undefined &&
      isEnabled(before) && {
        enabled: 0,
        disabled_reason: disabledReason,
        updated_at: laterThan("updated_at", now),
      }),
  };
}
