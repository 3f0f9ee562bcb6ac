import { canonicalJson } from "../lib/canonical-json.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { insertRows } from "../storage/insert-rows.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { By, EventType, PersonalType } from "./event.ts";

/**
 * An event before it is numbered. `resource` is the resource as the API shows it to the back office; for a deletion,
 * its type and id.
 */
export type EventDraft = {
  subject: string;
  resource: object;
  changes?: object;
} & (
  | { type: EventType; personId?: never }
  /** The person whose data the event holds. */
  | { type: PersonalType; personId?: string }
);

/**
 * Writes the events of a transaction into the outbox, in the same transaction: one insert, without lock or number. A
 * rollback removes them, and a repeated transaction writes them again.
 */
export async function noteEvents(
  trx: Trx,
  { clock }: { clock: Clock },
  by: By,
  happenings: readonly EventDraft[],
): Promise<void> {
  if (happenings.length === 0) return;
  const time = clock.now();
  await insertWaiting(
    trx,
    happenings.map((happening) => rowOf(by, time, happening)),
  );
  wakes.get(trx.getExecutor().adapter)?.();
}

const insertWaiting = insertRows(
  "event_outbox",
  ["id", "store_id", "type", "subject", "actor_id", "person_id", "time", "data"],
  { isLater: true },
);

const rowOf = (
  { storeId, actor, requestId }: By,
  time: number,
  { type, subject, resource, changes, personId }: EventDraft,
) => ({
  id: newId(),
  store_id: storeId,
  type,
  subject,
  actor_id: actor.id,
  person_id: personId ?? null,
  time,
  data: canonicalJson({ resource, changes, actor, request_id: requestId }),
});

const wakes = new WeakMap<object, () => void>();

/** `wake` is called each time this process notes an event in this database. The event may not be committed yet. */
export function onNoted(db: Database, wake: () => void): void {
  wakes.set(db.getExecutor().adapter, wake);
}
