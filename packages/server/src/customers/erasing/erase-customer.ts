import type { Caller } from "../../contract/caller.ts";
import type * as contract from "../../contract/customers.ts";
import type { Output } from "../../contract/operation.ts";
import { Problem } from "../../contract/problem.ts";
import { beginErasure, type Erasure, isInLog } from "../../events/erase.ts";
import { byCaller } from "../../events/event.ts";
import { noteEvents } from "../../events/note.ts";
import { forChange } from "../../storage/engine.ts";
import { hold } from "../../storage/hold.ts";
import type { Database, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { type Customer, findCustomer } from "../customer.ts";
import { namesOf } from "../identities/find-linked.ts";
import { thinOutTokens } from "../tokens/thin-out-tokens.ts";
import { type EraseDeps, eraseAll } from "./continue-erasures.ts";
import { findRecord } from "./erase-sign-on-records.ts";
import { keepDigests, noteTraces } from "./erased-digests.ts";

/**
 * Deletes a customer and erases the customer's data from the log of events and from sign-on records. The first
 * transaction deletes the row, ends open codes and stores the order to erase, so the erasure is completed even if this
 * request or the instance stops. A customer who was deleted before can still be erased by the id in the log.
 */
export async function eraseCustomer(
  deps: EraseDeps,
  caller: Caller,
  customerId: string,
): Promise<Output<typeof contract.eraseCustomer>> {
  const { storage, emailDigests } = deps;
  const { storeId } = caller;
  const person = { storeId, personId: customerId };
  await emailDigests.ready();
  await thinOutTokens(deps, { storeId, customerId });
  const erasure = await storage.transact(async (trx): Promise<Erasure> => {
    const known = await holdPerson(trx, storeId, customerId);
    const record = await findRecord(trx, person);
    if (!known && !record && !(await isInLog(trx, person))) throw new Problem("customer_not_found");
    await trx
      .deleteFrom("customers")
      .where("store_id", "=", storeId)
      .where("id", "=", customerId)
      .executeTakeFirst();
    const emailDigest = known
      ? await emailDigests.of(storeId, known.customer.email)
      : (record?.email_digest ?? null);
    const begun = await beginErasure(trx, deps, { ...person, emailDigest });
    if (begun.emailDigest !== null) await keepDigests(trx, begun, [begun.emailDigest]);
    if (known) await noteTraces(trx, deps, begun, { emails: [], identities: known.identities });
    const about = { subject: customerId, resource: { type: "customer", id: customerId } };
    await noteEvents(trx, deps, byCaller(caller), [
      ...(known ? [{ type: "customer.deleted", ...about } as const] : []),
      { type: "customer.erased", ...about },
    ]);
    return begun;
  });
  const { events, isDone } = await eraseAll(deps, erasure);
  return { data: { type: "customer-erasure", id: customerId, events, complete: isDone } };
}

type KnownPerson = { customer: Customer; identities: Tables["customer_identities"][] };

/**
 * Takes the locks of `findLinked`, in the same order. So a sign-on of this person either commits before, and its rows
 * are erased, or begins after, and finds the digests.
 */
async function holdPerson(trx: Trx, storeId: string, customerId: string): Promise<KnownPerson | undefined> {
  const found = await readPerson(trx, storeId, customerId);
  if (!found) return undefined;
  for (const { profile_id, issuer, subject } of found.identities) {
    const identity = { issuer, subject, email: found.customer.email };
    await hold(trx, namesOf({ storeId, profileId: profile_id }, identity));
  }
  if (found.identities.length === 0) await hold(trx, [`email ${storeId} ${found.customer.email_key}`]);
  // Reads the person again under the locks, because identities and address may have changed before.
  const row = trx
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", storeId)
    .where("id", "=", customerId);
  await forChange(trx, row).execute();
  return readPerson(trx, storeId, customerId);
}

async function readPerson(
  db: Database,
  storeId: string,
  customerId: string,
): Promise<KnownPerson | undefined> {
  const customer = await findCustomer(db, storeId, customerId);
  if (!customer) return undefined;
  const identities = await db
    .selectFrom("customer_identities")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("customer_id", "=", customerId)
    .orderBy("id")
    .execute();
  return { customer, identities };
}
