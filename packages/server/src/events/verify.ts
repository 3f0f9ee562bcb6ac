import type { Database, Storage } from "../storage/storage.ts";
import { digestOf, hashOf } from "./chain.ts";
import { ERASED, type EventRow } from "./event.ts";
import { type Head, readHead } from "./head.ts";
import { readAfter } from "./read.ts";

/** What a witness has kept: the number and hash of the last event at some time. */
export type Witnessed = { sequence: number; hash: string };

export type Verdict =
  | { isWhole: true; events: number; erased: number; head: Head }
  | { isWhole: false; sequence: number; what: "removed" | "altered" };

const PAGE = 500;

/**
 * Walks a store's log from the first event that is kept to the last, and says the first number at which it is not what it was. What
 * was forgotten is vouched for by its last hash, and what was erased by its digest.
 */
export async function verifyLog(
  { storage: { db } }: { storage: Storage },
  storeId: string,
  witnessed?: Witnessed,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Verdict> {
  let head = await readHead(db, storeId);
  let { sequence, hash } = startOf(head);
  let [events, erased] = [0, 0];
  for (;;) {
    const refusal = witnessed && contradiction(witnessed, sequence, hash);
    if (refusal) return refusal;
    if (sequence >= head.last_sequence) break;
    const rows = await readAfter.all(db, { storeId, from: sequence, to: head.last_sequence, limit: PAGE });
    if (rows[0]?.sequence !== sequence + 1) {
      // Retention may have taken them away meanwhile, and moved the beginning with them.
      const { first_sequence, forgotten_hash } = await readHead(db, storeId);
      if (first_sequence <= sequence + 1) return { isWhole: false, sequence: sequence + 1, what: "removed" };
      head = { ...head, first_sequence, forgotten_hash };
      ({ sequence, hash } = startOf(head));
      continue;
    }
    for (const row of rows) {
      if (row.sequence !== sequence + 1) return { isWhole: false, sequence: sequence + 1, what: "removed" };
      if (!isIntact(row, hash)) return { isWhole: false, sequence: row.sequence, what: "altered" };
      ({ sequence, hash } = row);
      const refused = witnessed && contradiction(witnessed, sequence, hash);
      if (refused) return refused;
      events++;
      if (row.salt === null) erased++;
    }
    onProgress(sequence - head.first_sequence + 1, head.last_sequence - head.first_sequence + 1);
  }
  if (witnessed && witnessed.sequence > sequence)
    return { isWhole: false, sequence: sequence + 1, what: "removed" };
  if (hash !== head.last_hash) return { isWhole: false, sequence, what: "altered" };
  return { isWhole: true, events, erased, head };
}

const startOf = ({ first_sequence, forgotten_hash }: Head) => ({
  sequence: first_sequence - 1,
  hash: forgotten_hash,
});

const isIntact = (row: EventRow, previousHash: string): boolean =>
  row.previous_hash === previousHash && hashOf(row) === row.hash && isDataIntact(row);

const isDataIntact = ({ salt, data, digest }: EventRow): boolean =>
  salt === null ? data === ERASED : digestOf(Buffer.from(salt, "base64url"), data) === digest;

/** Where the chain has come to the witness' number with another hash, all of it may have been written anew: from the first on. */
const contradiction = (witnessed: Witnessed, sequence: number, hash: string): Verdict | undefined =>
  witnessed.sequence === sequence && witnessed.hash !== hash
    ? { isWhole: false, sequence, what: "altered" }
    : undefined;

/** The keys that heads are signed with, as they are published. */
export async function readPublicKeys(db: Database): Promise<Record<string, unknown>[]> {
  const rows = await db.selectFrom("signing_keys").select("public_jwk").execute();
  return rows.map(({ public_jwk }) => JSON.parse(public_jwk));
}
