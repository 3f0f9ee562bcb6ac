import { sql } from "kysely";
import { canonicalJson } from "../lib/canonical-json.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { type Statement, statement } from "../storage/statement.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { By, EventType } from "./event.ts";

/** Something that has happened. `resource` is as the API shows it to the back office; of a deletion its type and id. */
export type Happening = {
  type: EventType;
  subject: string;
  resource: object;
  changes?: object;
  /** Whose personal data it holds. */
  personId?: string;
};

/** More rows than any but the rarest transaction has: SQLite takes 32,766 values in one statement. */
const AT_ONCE = 500;

/**
 * Writes what a transaction did into the outbox, in the same transaction: one insert, no lock and no number. What is undone
 * leaves nothing, and what is tried again is written by the try that counts.
 */
export async function noteEvents(
  trx: Trx,
  { clock }: { clock: Clock },
  by: By,
  happenings: readonly Happening[],
): Promise<void> {
  if (happenings.length === 0) return;
  const time = clock.now();
  for (let from = 0; from < happenings.length; from += AT_ONCE) {
    const some = happenings.slice(from, from + AT_ONCE);
    await insertOf(some.length).all(
      trx,
      Object.assign({}, ...some.map((one, at) => rowOf(by, time, one, at))),
    );
  }
  wakes.get(trx.getExecutor().adapter)?.();
}

const COLUMNS = ["id", "store_id", "type", "subject", "actor_id", "person_id", "time", "data"] as const;
type Column = (typeof COLUMNS)[number];

function rowOf(
  { storeId, actor, requestId }: By,
  time: number,
  { type, subject, resource, changes, personId }: Happening,
  at: number,
): Record<string, unknown> {
  const row: Record<Column, unknown> = {
    id: newId(),
    store_id: storeId,
    type,
    subject,
    actor_id: actor.id,
    person_id: personId ?? null,
    time,
    data: canonicalJson({ resource, changes, actor, request_id: requestId }),
  };
  return Object.fromEntries(COLUMNS.map((column) => [`${column}${at}`, row[column]]));
}

type Insert = Statement<Record<string, unknown>, object>;
const inserts = new Map<number, Insert>();

/** The statement for so many rows. The database gives each its position, in their order. */
function insertOf(rows: number): Insert {
  const known = inserts.get(rows);
  if (known) return known;
  const made: Insert = statement((_, places: Record<string, unknown>) => {
    const values = Array.from(
      { length: rows },
      (_row, at) => sql`(${sql.join(COLUMNS.map((column) => sql`${places[`${column}${at}`]}`))})`,
    );
    return sql<object>`insert into event_outbox (${sql.join(COLUMNS.map((column) => sql.ref(column)))}) values ${sql.join(values)}`;
  });
  if (rows <= KEPT) inserts.set(rows, made);
  return made;
}

/** A sign-on leaves one to three. */
const KEPT = 8;

const wakes = new WeakMap<object, () => void>();

/** `wake` is called whenever something was noted in this database from this process. It may not be committed yet. */
export function onNoted(db: Database, wake: () => void): void {
  wakes.set(db.getExecutor().adapter, wake);
}
