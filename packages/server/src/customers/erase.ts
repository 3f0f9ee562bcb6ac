import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/customers.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import {
  beginErasure,
  type Erasure,
  eraseSome,
  findErasing,
  isInLog,
  listErasures,
} from "../events/erase.ts";
import { byCaller } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { inOneRound, ROUND } from "../storage/delete-old.ts";
import type { Storage } from "../storage/storage.ts";
import { findCustomer } from "./customer.ts";
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
  const customer = await findCustomer(storage.db, caller.storeId, customerId);
  const emailDigest = customer ? await emailDigests.of(caller.storeId, customer.email) : null;
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
    const known = { ...person, emailDigest: emailDigest ?? record?.email_digest ?? null };
    const begun = await beginErasure(trx, deps, known);
    const about = { subject: customerId, resource: { type: "customer", id: customerId } };
    await noteEvents(trx, deps, byCaller(caller), [
      ...(wasThere ? [{ type: "customer.deleted", ...about } as const] : []),
      { type: "customer.erased", ...about },
    ]);
    return begun;
  });
  const { events, isDone } = await eraseAll(deps, erasure);
  return { data: { type: "customer-erasure", id: customerId, events, complete: isDone } };
}

/** Records first, then the log: an erasure counts as finished when its events are erased. */
async function eraseAll(deps: Deps, erasure: Erasure): Promise<{ events: number; isDone: boolean }> {
  if (!(await eraseRecords(deps, erasure))) return { events: 0, isDone: false };
  return eraseSome(deps, erasure);
}

/**
 * Goes on with erasures that requests have begun, store by store: those that are done stay noted for two minutes, and of a store that has
 * many erased there are always more. So of each store some have their turn, those behind the last ones that had it.
 */
export function createErasing(deps: Deps): () => Promise<void> {
  let storeId = "";
  const lastOf = new Map<string, string>();

  async function goOn(): Promise<void> {
    const behind = await listErasures(deps, storeId, lastOf.get(storeId) ?? "");
    lastOf.delete(storeId);
    const next = behind.length > 0 ? behind : await listErasures(deps, storeId, "");
    await inOneRound(deps, next, (erasure) => {
      lastOf.set(storeId, erasure.personId);
      return eraseAll(deps, erasure);
    });
  }

  return async () => {
    const untilMs = deps.clock.monotonicMs() + ROUND.withinMs;
    do {
      const found = await findErasing(deps, storeId);
      if (found === undefined && storeId === "") lastOf.clear();
      storeId = found ?? "";
      if (found !== undefined) await goOn();
    } while (storeId !== "" && deps.clock.monotonicMs() < untilMs);
  };
}
