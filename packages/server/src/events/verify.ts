import { type Clock, MAX_CLOCK_DIFFERENCE_MS } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import type { Database, Storage } from "../storage/storage.ts";
import { digestOf, hashOf, isTime } from "./chain.ts";
import { ERASED, type EventRow, isPersonal, personOf } from "./event.ts";
import { forgottenEvent, type LogHead, readHead } from "./head.ts";
import { readAfter } from "./read.ts";
import { createErasureCheck } from "./verify-erasures.ts";

/** A head that a witness has kept. Heads of earlier releases do not contain the beginning of the log. */
export type Witnessed = { sequence: number; hash: string; firstSequence?: number; forgottenHash?: string };

/**
 * Why a log is not whole, at the first number that differs. `blanked`: erased without an erasure of that person.
 * `forgotten_early`: the last event before the beginning is younger than `LATCHKEY_EVENT_DAYS`. `beginning_unproven`:
 * the log lacks the attributes of that event, from which its hash is computed. `added`: a row before the beginning or
 * after the end.
 */
export type LogFault = {
  isWhole: false;
  sequence: number;
  what: "removed" | "altered" | "added" | "blanked" | "forgotten_early" | "beginning_unproven";
};
export type Verdict = { isWhole: true; events: number; erased: number; head: LogHead } | LogFault;

type Deps = { storage: Storage; clock: Clock; eventDays: number };

const PAGE = 500;
const DAY_MS = 86_400_000;

const faultAt = (sequence: number, what: LogFault["what"]): LogFault => ({ isWhole: false, sequence, what });

/**
 * Reads a store's log from the first kept event to the last, and reports the first number that does not match its hash.
 * The hash of the last forgotten event stands in for the deleted events, the digest of an erased event for its data.
 */
export async function verifyLog(
  deps: Deps,
  storeId: string,
  witnessed?: Witnessed,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Verdict> {
  const { db } = deps.storage;
  // Read before the head, which is written in the same transaction as the last event.
  const last = await findEnd(db, storeId, "desc");
  let head = await readHead(db, storeId);
  if (last !== undefined && !(last <= head.last_sequence)) return faultAt(head.last_sequence + 1, "added");
  const early = faultOfBeginning(deps, storeId, head, witnessed);
  if (early) return early;
  // Read after the head, because retention deletes events and moves the beginning in one transaction.
  const first = await findEnd(db, storeId, "asc");
  if (first !== undefined && first < head.first_sequence) return faultAt(first, "added");
  let { sequence, hash, latestTime } = startOf(head);
  const erasures = createErasureCheck();
  let [events, erased] = [0, 0];
  for (;;) {
    const refusal = witnessed && contradiction(witnessed, sequence, hash);
    if (refusal) return refusal;
    if (sequence >= head.last_sequence) break;
    const rows = await readAfter.all(db, { storeId, from: sequence, to: head.last_sequence, limit: PAGE });
    if (rows[0]?.sequence !== sequence + 1) {
      // Retention may have deleted them meanwhile and moved the beginning.
      const now = await readHead(db, storeId);
      if (now.first_sequence <= sequence + 1) return faultAt(sequence + 1, "removed");
      const { first_sequence, forgotten_hash, forgotten_event } = now;
      head = { ...head, first_sequence, forgotten_hash, forgotten_event };
      const moved = faultOfBeginning(deps, storeId, head, witnessed);
      if (moved) return moved;
      ({ sequence, hash, latestTime } = startOf(head));
      continue;
    }
    for (const row of rows) {
      if (row.sequence !== sequence + 1) return faultAt(sequence + 1, "removed");
      if (!isIntact(row, hash) || !isFoundRightly(row, latestTime)) return faultAt(row.sequence, "altered");
      if (row.salt === null && !isPersonal(row.type)) return faultAt(row.sequence, "blanked");
      ({ sequence, hash, latest_time: latestTime } = row);
      const refused = witnessed && contradiction(witnessed, sequence, hash);
      if (refused) return refused;
      erasures.see(row);
      events++;
      if (row.salt === null) erased++;
    }
    onProgress(sequence - head.first_sequence + 1, head.last_sequence - head.first_sequence + 1);
  }
  const blanked = await erasures.firstWithoutErasure(db, storeId);
  if (blanked !== undefined) return faultAt(blanked, "blanked");
  if (witnessed && witnessed.sequence > sequence) return faultAt(sequence + 1, "removed");
  if (hash !== head.last_hash) return faultAt(sequence, "altered");
  if (latestTime !== undefined && latestTime !== head.latest_time) return faultAt(sequence, "altered");
  return { isWhole: true, events, erased, head };
}

/** `latestTime` is unknown for deleted events. */
const startOf = ({ first_sequence, forgotten_hash }: LogHead) => ({
  sequence: first_sequence - 1,
  hash: forgotten_hash,
  latestTime: undefined as number | undefined,
});

/**
 * The last forgotten event proves its age by its own hash, so a log cannot be cut and presented as forgotten. A
 * witness's head with the same beginning proves as much: no event was removed since.
 */
function faultOfBeginning(
  { clock, eventDays }: Deps,
  storeId: string,
  head: LogHead,
  witnessed: Witnessed | undefined,
): LogFault | undefined {
  const { first_sequence, forgotten_hash } = head;
  if (first_sequence === 1) return forgotten_hash === "" ? undefined : faultAt(1, "altered");
  if (witnessed?.firstSequence === first_sequence && witnessed.forgottenHash !== undefined)
    return witnessed.forgottenHash === forgotten_hash ? undefined : faultAt(first_sequence - 1, "altered");
  const forgotten = forgottenEvent(head, storeId);
  if (!forgotten || hashOf(forgotten) !== forgotten_hash)
    return faultAt(first_sequence - 1, "beginning_unproven");
  const youngest = clock.now() - eventDays * DAY_MS + MAX_CLOCK_DIFFERENCE_MS;
  return forgotten.time > youngest ? faultAt(first_sequence - 1, "forgotten_early") : undefined;
}

const isIntact = (row: EventRow, previousHash: string): boolean =>
  row.previous_hash === previousHash && isTime(row.time) && hashOf(row) === row.hash && isDataIntact(row);

/** Compared as text as well, because base64url can spell the same bytes in several ways. */
function isDataIntact({ salt, data, digest }: EventRow): boolean {
  if (salt === null) return data === ERASED;
  const bytes = Buffer.from(salt, "base64url");
  return bytes.toString("base64url") === salt && digestOf(bytes, data) === digest;
}

/**
 * Checks the columns that lists and erasures use and that the hash does not cover: they follow from the covered ones.
 */
function isFoundRightly(row: EventRow, latestBefore: number | undefined): boolean {
  const { time, latest_time, salt, data, actor_id, person_id } = row;
  const isLatest =
    latestBefore === undefined ? latest_time >= time : latest_time === Math.max(latestBefore, time);
  if (!isLatest) return false;
  if (salt === null) return actor_id === null && person_id === null;
  const { actor, resource } = readData(data);
  return actor_id === (actor?.id ?? null) && (person_id === null || person_id === personOf(row, resource));
}

type EventData = { actor?: { id: string | null }; resource?: { customer_id?: unknown } };

/** The data of a rewritten log can be any text. */
function readData(data: string): EventData {
  try {
    return JSON.parse(data) ?? {};
  } catch {
    return {};
  }
}

/** If the witness's number has another hash, the whole log may have been rewritten, so the first number is reported. */
const contradiction = (witnessed: Witnessed, sequence: number, hash: string): Verdict | undefined =>
  witnessed.sequence === sequence && witnessed.hash !== hash ? faultAt(sequence, "altered") : undefined;

/** The lowest or the highest number of a store's rows. */
async function findEnd(db: Database, storeId: string, order: "asc" | "desc"): Promise<number | undefined> {
  const found = await db
    .selectFrom("events")
    .select("sequence")
    .where("store_id", "=", storeId)
    .orderBy("sequence", order)
    .limit(atMost(1))
    .executeTakeFirst();
  return found?.sequence;
}

/** The public keys that verify signed heads. */
export async function readPublicKeys(db: Database): Promise<Record<string, unknown>[]> {
  const rows = await db.selectFrom("signing_keys").select("public_jwk").execute();
  return rows.map(({ public_jwk }) => JSON.parse(public_jwk));
}
