import { sql } from "kysely";
import { readHead } from "../events/head.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { atMost } from "../storage/at-most.ts";
import { forChange, forChangeIfFree, least, sharedNow } from "../storage/engine.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import { deliveriesOf } from "./delivery.ts";
import { type IntegrationKey, type IntegrationRow, integrationRow, isEnabled } from "./integration.ts";

type Deps = { storage: Storage; clock: Clock };

/**
 * Longer than a turn with its last attempts. An instance that was killed delays its integrations by this time at most.
 */
const LEASE_MS = 30_000;

/**
 * Takes due integrations, the longest due first. Instances that look at the same time take different ones. No other
 * instance takes them before the lease ends; then they are due again. `notOf`: stores whose integrations are left for
 * later.
 */
export async function takeDue(
  { storage, clock }: Deps,
  isSlow: boolean,
  places: number,
  notOf: readonly string[] = [],
): Promise<IntegrationRow[]> {
  const { db } = storage;
  const now = clock.now();
  // Uses the shared time: a process whose clock is a minute ahead would otherwise take a lease that is still held.
  const timeOfLeases = sharedNow(db, now);
  const due = db
    .selectFrom("integrations")
    .select("id")
    .where("is_slow", "=", isSlow ? 1 : 0)
    .where("due_at", "<=", now)
    .where("lease_until", "<=", timeOfLeases)
    .$if(notOf.length > 0, (query) => query.where("store_id", "not in", notOf))
    .orderBy("due_at")
    .limit(atMost(places));
  return db
    .updateTable("integrations")
    .set({
      lease: newId(),
      lease_until: sql`${timeOfLeases} + ${LEASE_MS}`,
      // The earlier of the two times: by a clock that is a minute ahead, it would be due only a minute after the lease
      // of a killed process has ended.
      due_at: sql`${least(db, timeOfLeases, now)} + ${LEASE_MS}`,
    })
    .where("id", "in", forChangeIfFree(db, due))
    .returningAll()
    .execute();
}

/**
 * Releases an integration and sets when it is due again. Locks the row before reading the log, so an event numbered
 * later waits for this transaction and then marks the row.
 */
export function release({ storage, clock }: Deps, integration: IntegrationRow): Promise<void> {
  const { id, store_id: storeId, lease } = integration;
  return storage.transact(async (trx) => {
    const row = await lockLeased.first(trx, { storeId, id, lease });
    if (!row) return;
    const now = clock.now();
    const { last_sequence } = await readHead(trx, storeId);
    const next = await findNext.first(trx, { storeId, id });
    const isMore = row.sequence < last_sequence || row.replay_before !== null;
    const nextAt = isMore ? now : next && Math.max(now, next.at ?? 0);
    await trx
      .updateTable("integrations")
      .set({ lease: null, lease_until: 0, due_at: isEnabled(row) ? (nextAt ?? null) : null })
      .where("store_id", "=", storeId)
      .where("id", "=", id)
      .execute();
  });
}

/** The row, locked until the transaction ends, if the lease still is this one. */
export const lockLeased = statement((db, of: { storeId: string; id: string; lease: string | null }) =>
  forChange(db, integrationRow(db, of).selectAll().where("lease", "=", of.lease)),
);

const findNext = statement((db, of: IntegrationKey) =>
  deliveriesOf(db, of)
    .select("next_attempt_at as at")
    .where("next_attempt_at", "is not", null)
    .orderBy("next_attempt_at")
    .limit(atMost(1)),
);

/** How long the longest due integration that no instance has taken is waiting. */
export async function findBehindMs({ storage: { db }, clock }: Deps): Promise<number> {
  const now = clock.now();
  const dueAts = [];
  for (const isSlow of [0, 1]) dueAts.push((await findWaiting.first(db, { isSlow, now }))?.at ?? now);
  return Math.max(0, now - Math.min(...dueAts));
}

const findWaiting = statement((db, of: { isSlow: number; now: number }) =>
  db
    .selectFrom("integrations")
    .select("due_at as at")
    .where("is_slow", "=", of.isSlow)
    .where("due_at", "<=", of.now)
    .where("lease_until", "<=", of.now)
    .orderBy("due_at")
    .limit(atMost(1)),
);

const MOST_COUNTED = 1000;

/**
 * Counts the enabled integrations that are failing, among the 1,000 that began to fail last. Disabled ones keep
 * `failing_since` but get no more attempts.
 */
export async function countFailing(db: Database): Promise<number> {
  const some = db
    .selectFrom("integrations")
    .select("enabled")
    .where("failing_since", "is not", null)
    .orderBy("failing_since", "desc")
    .limit(atMost(MOST_COUNTED))
    .as("some");
  const counted = await db
    .selectFrom(some)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("enabled", "=", 1)
    .executeTakeFirstOrThrow();
  return counted.count;
}
