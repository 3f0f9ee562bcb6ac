import type { Caller } from "../contract/caller.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import type { EventDraft } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Condition, Page, Place, Sort } from "../lib/condition.ts";
import { type EmailAddress, parseEmail } from "../lib/email-address.ts";
import { newId } from "../lib/ids.ts";
import { readPage } from "../storage/lists/page.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { customerResource } from "./resource.ts";

/** Somebody who shops at a store. Without a password hash, one who cannot sign in with a password. */
export type Customer = {
  id: string;
  store_id: string;
  name: string;
  email: string;
  /** The e-mail as it is compared. */
  email_key: string;
  email_verified: boolean;
  password_hash: string | null;
  external_ref: string | null;
  /** How the customer came to be. */
  authentication_mechanism: Mechanism;
  created_at: number;
  updated_at: number;
};

export type Mechanism = "password" | "oidc";

export const fromRow = (row: Tables["customers"]): Customer => ({
  id: row.id,
  store_id: row.store_id,
  name: row.name,
  email: row.email,
  email_key: row.email_key,
  email_verified: row.email_verified === 1,
  password_hash: row.password_hash,
  external_ref: row.external_ref,
  authentication_mechanism: row.authentication_mechanism as Mechanism,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** The back office may name every customer of its store, a customer token only its own: any other id answers 404. */
export function refuseOthers(caller: Caller, customerId: string): void {
  if (isBackOffice(caller)) return;
  if (caller.customer?.customerId !== customerId) throw new Problem("customer_not_found");
}

export async function findCustomer(
  db: Database,
  storeId: string,
  customerId: string,
): Promise<Customer | undefined> {
  const row = await findRow.first(db, { storeId, customerId });
  return row && fromRow(row);
}

const findRow = statement((db, of: { storeId: string; customerId: string }) =>
  db.selectFrom("customers").selectAll().where("store_id", "=", of.storeId).where("id", "=", of.customerId),
);

export async function getCustomer(
  { storage }: { storage: Storage },
  caller: Caller,
  customerId: string,
): Promise<Customer> {
  refuseOthers(caller, customerId);
  const customer = await findCustomer(storage.db, caller.storeId, customerId);
  if (!customer) throw new Problem("customer_not_found");
  return customer;
}

export type CustomerList = {
  customers: Customer[];
  place: Place;
  page: Page;
  conditions: readonly Condition[];
  sort: Sort | undefined;
};

/**
 * As addresses are compared; a part of one, or what is none, can only be brought to lower case. No address has a space: one
 * that arrives was a plus that the client did not encode.
 */
function asCompared(condition: Condition): Condition {
  if (condition.field !== "email") return condition;
  const text = String(condition.value).replaceAll(" ", "+");
  const key = condition.operator === "eq" ? parseEmail(text)?.key : undefined;
  return { ...condition, value: key ?? text.toLowerCase() };
}

export async function listCustomers(
  { storage }: { storage: Storage },
  storeId: string,
  page: Page,
  conditions: readonly Condition[] = [],
  sort?: Sort,
): Promise<CustomerList> {
  const of = { store_id: storeId };
  const narrowed = { conditions: conditions.map(asCompared), sort };
  const { rows, place } = await readPage(storage, "customers", of, page, narrowed);
  return { customers: rows.map(fromRow), place, page, conditions, sort };
}

type CustomerMembers = {
  name: string;
  email: EmailAddress;
  emailVerified: boolean;
  passwordHash: string | null;
  externalRef: string | null;
  authenticationMechanism: Mechanism;
};

/** Inserts without a check. With a password hash, a unique index throws when the e-mail is taken. */
export async function insertCustomer(
  trx: Trx,
  { clock }: { clock: Clock },
  storeId: string,
  members: CustomerMembers,
): Promise<Customer> {
  const now = clock.now();
  const row = {
    id: newId(),
    store_id: storeId,
    name: members.name,
    email: members.email.shown,
    email_key: members.email.key,
    email_verified: members.emailVerified ? 1 : 0,
    password_hash: members.passwordHash,
    external_ref: members.externalRef,
    authentication_mechanism: members.authenticationMechanism,
    created_at: now,
    updated_at: now,
  };
  // Without a password there is nothing that an index could refuse.
  if (row.password_hash === null) await insertRow.later(trx, row);
  else await insertRow.all(trx, row);
  return fromRow(row);
}

const insertRow = statement((db, row: Tables["customers"]) =>
  db.insertInto("customers").values({
    id: row.id,
    store_id: row.store_id,
    name: row.name,
    email: row.email,
    email_key: row.email_key,
    email_verified: row.email_verified,
    password_hash: row.password_hash,
    external_ref: row.external_ref,
    authentication_mechanism: row.authentication_mechanism,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }),
);

export const customerEvent = (
  type: "customer.created" | "customer.updated",
  customer: Customer,
): EventDraft => ({
  type,
  subject: customer.id,
  personId: customer.id,
  resource: customerResource(customer),
});
