import type { Caller } from "../contract/caller.ts";
import { Problem } from "../contract/problem.ts";
import { type Customer, findCustomer } from "../customers/customer.ts";
import type { EmailDigests } from "../customers/email-digest.ts";
import { findRecord } from "../customers/erasing/erase-sign-on-records.ts";
import { customerResource } from "../customers/resource.ts";
import { isBeingErased, isInLog } from "../events/erase.ts";
import { byCaller } from "../events/event.ts";
import { readHead } from "../events/head.ts";
import { noteEvents } from "../events/note.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import {
  type Exported,
  readEarlier,
  readEvents,
  readIdentities,
  readSessions,
  readSignOns,
} from "./parts.ts";
import { writeJson } from "./write-json.ts";

type Deps = { storage: Storage; clock: Clock; emailDigests: EmailDigests };

/**
 * Everything that is kept of a person, as one JSON text in pieces. The tables that it reads, and the reasons for the
 * others, are in docs/storage.md. The log notes the export before the first piece is sent, and the file has the events
 * up to that moment.
 */
export async function exportCustomer(
  deps: Deps,
  caller: Caller,
  customerId: string,
): Promise<AsyncGenerator<string, void>> {
  const { storage, clock } = deps;
  const { storeId } = caller;
  const { last_sequence: to } = await readHead(storage.db, storeId);
  const customer = await storage.transact(async (trx) => {
    const found = await findKept(trx, storeId, customerId);
    const resource = { type: "customer", id: customerId };
    const exported = { type: "customer.exported", subject: customerId, resource } as const;
    await noteEvents(trx, deps, byCaller(caller), [exported]);
    return found;
  });
  const person: Exported = { storeId, personId: customerId, provenEmail: provenEmailOf(customer), to };
  const head = {
    type: "customer-export",
    id: customerId,
    exported_at: toIso(clock.now()),
    customer: customer ? customerResource(customer) : null,
  };
  return writeJson(head, {
    identities: readIdentities(deps, person),
    sessions: readSessions(deps, person),
    earlier: readEarlier(deps, person),
    sign_ons: readSignOns(deps, person),
    events: readEvents(deps, person),
  });
}

/** Undefined: the customer was deleted, and the log or a record still holds data about the person. */
async function findKept(trx: Trx, storeId: string, customerId: string): Promise<Customer | undefined> {
  const person = { storeId, personId: customerId };
  const customer = await findCustomer(trx, storeId, customerId);
  if (customer) return customer;
  const isKept = (await isInLog(trx, person)) || (await findRecord(trx, person)) !== undefined;
  if (!isKept || (await isBeingErased(trx, person))) throw new Problem("customer_not_found");
  return undefined;
}

/** Records under an address that was not proven can belong to the person who really has the address. */
const provenEmailOf = (customer: Customer | undefined): string | undefined =>
  customer?.email_verified ? customer.email : undefined;
