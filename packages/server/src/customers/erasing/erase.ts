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
import { namesOf } from "../identities/linked.ts";
import { thinOutTokens } from "../tokens/thin-out-tokens.ts";
import { findRecord } from "./erase-records.ts";
import { type EraseDeps, eraseAll } from "./erase-rounds.ts";
import { keepDigests, noteTraces } from "./erased.ts";

/**
 * Deletes a customer and takes what the log says of it out of the log, and what records of sign-ons say of the person out of those. The
 * deletion, the event that tells of it, the order to erase and the end of codes that are still open are one transaction: from then on it
 * is done, even if this request or the instance ends. Somebody who was deleted before is known by what the log and the records still have.
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
    if (known)
      await noteTraces(trx, deps, begun, {
        emails: [],
        identities: known.identities.map(({ profile_id, issuer, subject }) => ({
          profileId: profile_id,
          issuer,
          subject,
        })),
      });
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

type Known = { customer: Tables["customers"]; identities: Tables["customer_identities"][] };

/**
 * Waits for sign-ons of this person, and they for us: by the names that `findLinked` locks, and in its order, so that a sign-on is
 * either before, and what it made is erased, or after, and finds that the person was erased.
 */
async function holdPerson(trx: Trx, storeId: string, customerId: string): Promise<Known | undefined> {
  const found = await readPerson(trx, storeId, customerId);
  if (!found) return undefined;
  for (const { profile_id, issuer, subject } of found.identities) {
    const identity = { issuer, subject, email: found.customer.email };
    await hold(trx, namesOf({ storeId, profileId: profile_id }, identity));
  }
  if (found.identities.length === 0) await hold(trx, [`email ${storeId} ${found.customer.email_key}`]);
  // As it is now: what was linked, or called otherwise, until the locks were had, goes with the rest.
  const row = trx
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", storeId)
    .where("id", "=", customerId);
  await forChange(trx, row).execute();
  return readPerson(trx, storeId, customerId);
}

async function readPerson(db: Database, storeId: string, customerId: string): Promise<Known | undefined> {
  const customer = await db
    .selectFrom("customers")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("id", "=", customerId)
    .executeTakeFirst();
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
