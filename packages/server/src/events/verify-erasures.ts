import { atMost } from "../storage/at-most.ts";
import type { Database } from "../storage/storage.ts";
import { type EventRow, PERSONAL_TYPES, type PersonalType } from "./event.ts";

/**
 * Counts erased events whose erasure was not seen yet. An erasure names its person as its subject. An event about a
 * person's customer token names the token, and its data, which named the person, is erased; for such an event any later
 * erasure counts.
 */
type ErasureCheck = {
  /** Called with each event of the log, in order. */
  see(row: EventRow): void;
  /** The first erased number that no erasure of that person follows. */
  firstWithoutErasure(db: Database, storeId: string): Promise<number | undefined>;
};

type WantedErasure = { type: string; subject: string | undefined; sequence: number };

const ERASURES = new Set<string>(Object.values(PERSONAL_TYPES).map(({ erasedBy }) => erasedBy));
const nameOf = (type: string, subject: string | undefined): string => `${type} ${subject ?? "*"}`;

export function createErasureCheck(): ErasureCheck {
  const wanted = new Map<string, WantedErasure>();
  return {
    see({ type, subject, sequence, salt }) {
      if (ERASURES.has(type)) for (const one of [subject, undefined]) wanted.delete(nameOf(type, one));
      if (salt !== null) return;
      const { erasedBy, person } = PERSONAL_TYPES[type as PersonalType];
      const ofSubject = person === "subject" ? subject : undefined;
      const name = nameOf(erasedBy, ofSubject);
      if (!wanted.has(name)) wanted.set(name, { type: erasedBy, subject: ofSubject, sequence });
    },
    async firstWithoutErasure(db, storeId) {
      const inOrder = [...wanted.values()].toSorted((a, b) => a.sequence - b.sequence);
      for (const one of inOrder) if (!(await isErasing(db, storeId, one))) return one.sequence;
      return undefined;
    },
  };
}

/** An erasure blanks events before its own event is numbered. That event moves from the outbox to the log. */
async function isErasing(
  db: Database,
  storeId: string,
  { type, subject, sequence }: WantedErasure,
): Promise<boolean> {
  const waits = await db
    .selectFrom("event_outbox")
    .select("position")
    .where("store_id", "=", storeId)
    .where("type", "=", type)
    .$if(subject !== undefined, (query) => query.where("subject", "=", subject ?? ""))
    .limit(atMost(1))
    .executeTakeFirst();
  if (waits) return true;
  const came = await db
    .selectFrom("events")
    .select("sequence")
    .where("store_id", "=", storeId)
    .where("type", "=", type)
    .where("sequence", ">", sequence)
    .$if(subject !== undefined, (query) => query.where("subject", "=", subject ?? ""))
    .orderBy("sequence")
    .limit(atMost(1))
    .executeTakeFirst();
  return came !== undefined;
}
