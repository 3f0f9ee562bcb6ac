import { canonicalJson } from "../lib/canonical-json.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { insertRows } from "../storage/insert-rows.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { By, EventType, PersonalType } from "./event.ts";

/** Something that has happened. `resource` is as the API shows it to the back office; of a deletion its type and id. */
export type EventDraft = {
  subject: string;
  resource: object;
  changes?: object;
} & (
  | { type: EventType; personId?: never }
  /** Whose personal data it holds. */
  | { type: PersonalType; personId?: string }
);

/**
 * Writes what a transaction did into the outbox, in the same transaction: one insert, no lock and no number. What is undone
 * leaves nothing, and what is tried again is written by the try that counts.
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

/** `wake` is called whenever something was noted in this database from this process. It may not be committed yet. */
export function onNoted(db: Database, wake: () => void): void {
  wakes.set(db.getExecutor().adapter, wake);
}
