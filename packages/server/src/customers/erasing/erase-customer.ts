import type { Caller } from "../../contract/caller.ts";
import type * as contract from "../../contract/customers.ts";
import type { Output } from "../../contract/operation.ts";
import { Problem } from "../../contract/problem.ts";
import { isInLog } from "../../events/erase.ts";
import { byCaller } from "../../events/event.ts";
import { forChange } from "../../storage/engine.ts";
import { hold } from "../../storage/hold.ts";
import type { Database, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { type Customer, type CustomerKey, customerRow, findCustomer } from "../customer.ts";
import { namesOf } from "../identities/find-linked.ts";
import { thinOutTokens } from "../tokens/revoke-tokens.ts";
import { type EraseDeps, eraseAll, orderErasure } from "./continue-erasures.ts";
import { findRecord } from "./erase-sign-on-records.ts";

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
  const key = { storeId, customerId };
  const person = { storeId, personId: customerId };
  await emailDigests.ready();
  await thinOutTokens(deps, key);
  const erasure = await storage.transact(async (trx) => {
    const known = await holdPerson(trx, key);
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
    return orderErasure(trx, deps, byCaller(caller), "customer", {
      personId: customerId,
      isKnown: known !== undefined,
      emailDigest,
      identities: known?.identities ?? [],
    });
  });
  const { events, isDone } = await eraseAll(deps, erasure);
  return { data: { type: "customer-erasure", id: customerId, events, complete: isDone } };
}

type KnownPerson = { customer: Customer; identities: Tables["customer_identities"][] };

/**
 * Takes the locks of `findLinked`, in the same order. So a sign-on of this person either commits before, and its rows
 * are erased, or begins after, and finds the digests.
 */
async function holdPerson(trx: Trx, key: CustomerKey): Promise<KnownPerson | undefined> {
  const { storeId } = key;
  const found = await readPerson(trx, key);
  if (!found) return undefined;
  for (const { profile_id, issuer, subject } of found.identities) {
    const identity = { issuer, subject, email: found.customer.email };
    await hold(trx, namesOf({ storeId, profileId: profile_id }, identity));
  }
  if (found.identities.length === 0) await hold(trx, [`email ${storeId} ${found.customer.email_key}`]);
  // Reads the person again under the locks, because identities and address may have changed before.
  await forChange(trx, customerRow(trx, key).select("id")).execute();
  return readPerson(trx, key);
}

async function readPerson(db: Database, { storeId, customerId }: CustomerKey) {
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
