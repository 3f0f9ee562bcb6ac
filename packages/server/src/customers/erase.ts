import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/customers.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { beginErasure, type Erasure, eraseSome, isInLog, listErasures } from "../events/erase.ts";
import { byCaller } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { inOneRound } from "../storage/delete-old.ts";
import type { Storage } from "../storage/storage.ts";
import type { EmailDigests } from "./email-digest.ts";
import { eraseRecords, findRecord } from "./erase-records.ts";
import { thinOutTokens } from "./thin-out-tokens.ts";

type Deps = { storage: Storage; clock: Clock };

/**
 * Deletes a customer and takes what the log says of it out of the log, and what records of sign-ons say of the person out of those. The
 * deletion, the event that tells of it and the order to erase are one transaction: from then on it is done, even if this request or the
 * instance ends. Somebody who was deleted before is known by what the log and the records still have of them.
 */
export async function eraseCustomer(
  deps: Deps & { emailDigests: EmailDigests },
  caller: Caller,
  customerId: string,
): Promise<Output<typeof contract.eraseCustomer>> {
  const { storage, emailDigests } = deps;
  const person = { storeId: caller.storeId, personId: customerId };
  // Made before the transaction: the digest's key may have to be read first, and a transaction does not wait for that.
  const email = await findEmail(storage, person);
  const emailDigest = email === undefined ? null : await emailDigests.of(person.storeId, email);
  await thinOutTokens(deps, { storeId: caller.storeId, customerId });
  const erasure = await storage.transact(async (trx): Promise<Erasure> => {
    const { numDeletedRows } = await trx
      .deleteFrom("customers")
      .where("store_id", "=", caller.storeId)
      .where("id", "=", customerId)
      .executeTakeFirst();
    const wasThere = numDeletedRows > 0n;
    const record = await findRecord(trx, person);
    if (!wasThere && !record && !(await isInLog(trx, person))) throw new Problem("customer_not_found");
    const ordered = { ...person, emailDigest: emailDigest ?? record?.email_digest ?? null };
    await beginErasure(trx, deps, ordered);
    const about = { subject: customerId, resource: { type: "customer", id: customerId } };
    await noteEvents(trx, deps, byCaller(caller), [
      ...(wasThere ? [{ type: "customer.deleted", ...about } as const] : []),
      { type: "customer.erased", ...about },
    ]);
    return ordered;
  });
  const { events, isDone } = await eraseAll(deps, erasure);
  return { data: { type: "customer-erasure", id: customerId, events, complete: isDone } };
}

async function findEmail(
  { db }: Storage,
  { storeId, personId }: Pick<Erasure, "storeId" | "personId">,
): Promise<string | undefined> {
  const row = await db
    .selectFrom("customers")
    .select("email")
    .where("store_id", "=", storeId)
    .where("id", "=", personId)
    .executeTakeFirst();
  return row?.email;
}

/** Records first, then the log: an erasure counts as finished when its events are erased. */
async function eraseAll(deps: Deps, erasure: Erasure): Promise<{ events: number; isDone: boolean }> {
  if (!(await eraseRecords(deps, erasure))) return { events: 0, isDone: false };
  return eraseSome(deps, erasure);
}

/** Goes on with erasures that requests have begun. */
export async function goOnErasing(deps: Deps): Promise<void> {
  await inOneRound(deps, await listErasures(deps), (erasure) => eraseAll(deps, erasure));
}
