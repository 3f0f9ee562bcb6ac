import type { Caller } from "../contract/caller.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { insertWholeRows } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** A person who shops at a store. A customer without a `password_hash` cannot sign in with a password. */
export type Customer = Omit<CustomerRow, keyof ParsedCustomer> & ParsedCustomer;

export type CustomerRow = Tables["customers"];
type ParsedCustomer = { email_verified: boolean; authentication_mechanism: Mechanism };

/** How a customer was created, and how a customer signed in. */
export type Mechanism = "password" | "oidc";

export const customerOf = (row: CustomerRow): Customer => ({
  ...row,
  email_verified: row.email_verified === 1,
  authentication_mechanism: row.authentication_mechanism as Mechanism,
});

/**
 * The back office can name every customer of its store. A customer token can name its own customer; every other id
 * answers 404.
 */
export function refuseOthers(caller: Caller, customerId: string): void {
  if (isBackOffice(caller)) return;
  if (caller.customer?.customerId !== customerId) throw new Problem("customer_not_found");
}

export async function findCustomer(db: Database, storeId: string, customerId: string) {
  const row = await findRow.first(db, { storeId, customerId });
  return row && customerOf(row);
}

/** A customer's id within its store. */
export type CustomerKey = { storeId: string; customerId: string };

export const customerRow = (db: Database, { storeId, customerId }: CustomerKey) =>
  db.selectFrom("customers").where("store_id", "=", storeId).where("id", "=", customerId);

const findRow = statement((db, of: CustomerKey) => customerRow(db, of).selectAll());

/** Refuses an unknown customer, and one that the caller may not name, in the same way. */
export async function getCustomer({ storage }: { storage: Storage }, caller: Caller, customerId: string) {
  refuseOthers(caller, customerId);
  const customer = await findCustomer(storage.db, caller.storeId, customerId);
  if (!customer) throw new Problem("customer_not_found");
  return customer;
}

/**
 * Inserts without a check. For a row with a password hash, the unique index throws when another customer has the
 * e-mail.
 */
export async function insertCustomer(
  trx: Trx,
  { clock }: { clock: Clock },
  columns: Omit<CustomerRow, "id" | "created_at" | "updated_at">,
): Promise<Customer> {
  const now = clock.now();
  const row = { ...columns, id: newId(), created_at: now, updated_at: now };
  // Without a password hash no unique index can refuse the row, so the transaction need not wait for the insert.
  const insert = row.password_hash === null ? insertLater : insertNow;
  await insert(trx, [row]);
  return customerOf(row);
}

const insertNow = insertWholeRows("customers");
const insertLater = insertWholeRows("customers", { isLater: true });
