import {
  eraseOwnRecords,
  eraseRecordsOf,
  findRecord,
  NO_PERSON,
} from "../customers/erasing/erase-sign-on-records.ts";
import { listDigests } from "../customers/erasing/erased-digests.ts";
import { thinOutTokens } from "../customers/tokens/revoke-tokens.ts";
import { beginErasure, type Erasure, eraseSome, isInLog } from "../events/erase.ts";
import { byOperator } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { atMost } from "../storage/at-most.ts";
import {
  type Deps,
  idsOf,
  listStoreIds,
  pagesOf,
  type Replaced,
  readReplaced,
  readRestored,
} from "./replaced.ts";

const KINDS = [
  { table: "customers", type: "customer", erased: "customer.erased", deleted: "customer.deleted" },
  { table: "members", type: "member", erased: "member.erased", deleted: "member.deleted" },
] as const;
type Kind = (typeof KINDS)[number];

const PAGE = 200;

/**
 * Erases again the people who were erased after the backup: row, log and records. The log of the replaced database
 * names them. An erasure that this log has forgotten is older than every event that the service keeps, and so are the
 * events that it erased.
 */
export async function carryErasures(deps: Deps, replaced: Replaced): Promise<{ erased: number }> {
  let erased = 0;
  for (const storeId of await listStoreIds(deps.storage))
    for (const kind of KINDS)
      for await (const personId of listErased(deps, replaced, storeId, kind))
        if (await eraseAgain(deps, storeId, kind, personId)) erased++;
  if (erased > 0) await carryBlankRecords(deps, replaced);
  return { erased };
}

async function* listErased(
  { storage }: Deps,
  { storage: { db }, columnsOf }: Replaced,
  storeId: string,
  { erased }: Kind,
): AsyncGenerator<string> {
  if (columnsOf("events").size === 0) return;
  const head = await storage.db
    .selectFrom("event_heads")
    .select("last_sequence")
    .where("store_id", "=", storeId)
    .executeTakeFirst();
  for (let after = head?.last_sequence ?? 0; ; ) {
    const rows = await db
      .selectFrom("events")
      .select(["sequence", "subject"])
      .where("store_id", "=", storeId)
      .where("type", "=", erased)
      .where("sequence", ">", after)
      .orderBy("sequence")
      .limit(atMost(PAGE))
      .execute();
    for (const { subject } of rows) yield subject;
    const last = rows.at(-1);
    if (!last) break;
    after = last.sequence;
  }
  const waiting = await db
    .selectFrom("event_outbox")
    .select("subject")
    .where("store_id", "=", storeId)
    .where("type", "=", erased)
    .execute();
  for (const { subject } of waiting) yield subject;
}

/** Returns false when this database has no data of the person. */
async function eraseAgain(deps: Deps, storeId: string, kind: Kind, personId: string): Promise<boolean> {
  const { storage } = deps;
  const person = { storeId, personId };
  await thinOutTokens(deps, { storeId, customerId: personId });
  const erasure = await storage.transact(async (trx): Promise<Erasure | undefined> => {
    const row = await trx
      .deleteFrom(kind.table)
      .where("store_id", "=", storeId)
      .where("id", "=", personId)
      .returning("id")
      .executeTakeFirst();
    if (!row && !(await isInLog(trx, person)) && !(await findRecord(trx, person))) return undefined;
    const about = { subject: personId, resource: { type: kind.type, id: personId } };
    await noteEvents(trx, deps, byOperator(storeId), [
      ...(row ? [{ type: kind.deleted, ...about } as const] : []),
      { type: kind.erased, ...about },
    ]);
    return beginErasure(trx, deps, { ...person, emailDigest: null });
  });
  if (!erasure) return false;
  while (!(await eraseOwnRecords(deps, erasure)).isDone);
  while (!(await eraseSome(deps, erasure)).isDone);
  for (const digest of await listDigests(storage.db, person))
    while (!(await eraseRecordsOf(deps, storeId, digest)).isDone);
  return true;
}

/** Records of erased people that only an earlier address led to: blank in the replaced database, so blanked here. */
async function carryBlankRecords({ storage }: Deps, replaced: Replaced): Promise<void> {
  for await (const page of pagesOf(storage, "sign_ons")) {
    const rows = await readRestored(storage, "sign_ons", ["email_digest"], idsOf(page));
    const named = rows.filter(({ email_digest }) => email_digest !== null);
    const now = await readReplaced(replaced, "sign_ons", ["email_digest"], idsOf(named));
    const blank = named.filter(({ id }) => now.get(id)?.email_digest === null);
    if (blank.length > 0)
      await storage.db.updateTable("sign_ons").set(NO_PERSON).where("id", "in", idsOf(blank)).execute();
  }
}
