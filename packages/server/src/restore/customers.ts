import { customerOf } from "../customers/customer.ts";
import { customerEvent } from "../customers/events.ts";
import { thinOutTokens } from "../customers/tokens/revoke-tokens.ts";
import { byOperator } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import {
  type Changed,
  changeAndNote,
  type Deps,
  deleteRows,
  freeAddresses,
  idsOf,
  listDifferent,
  listGone,
  type Owned,
  pagesOf,
  type Replaced,
  readReplaced,
} from "./replaced.ts";

/**
 * Deleted customers are deleted again. The others get their password, e-mail, its verification and their identities
 * from the replaced database. Name and the rest are as in the backup.
 */
export async function carryCustomers(deps: Deps, replaced: Replaced) {
  const { storage } = deps;
  const carried = { deleted_customers: 0, passwords: 0, addresses: 0, identities: 0 };
  for await (const page of pagesOf(storage, "customers"))
    carried.deleted_customers += await carryDeletions(deps, replaced, page);
  // Frees the addresses of all pages before it sets the first one.
  for await (const page of pagesOf(storage, "customers"))
    await freeAddresses(storage.db, "customers", await findChanges(deps, replaced, page));
  for await (const page of pagesOf(storage, "customers")) {
    for (const change of await findChanges(deps, replaced, page)) {
      const { columns } = change;
      await storage.transact((trx) => carryChange(trx, deps, change));
      if (columns.password_hash !== undefined) carried.passwords++;
      if (columns.email_key !== undefined || columns.email_verified !== undefined) carried.addresses++;
    }
    carried.identities += await carryIdentities(deps, replaced, page);
  }
  return carried;
}

async function carryDeletions(deps: Deps, replaced: Replaced, page: readonly Owned[]): Promise<number> {
  const gone = await listGone(replaced, "customers", page);
  for (const { id, store_id } of gone) await thinOutTokens(deps, { storeId: store_id, customerId: id });
  if (gone.length > 0) await deps.storage.transact((trx) => deleteRows(trx, deps, "customers", gone));
  return gone.length;
}

const DECIDED = ["email", "email_key", "email_verified", "password_hash"] as const;
type DecidedCustomer = Pick<Tables["customers"], (typeof DECIDED)[number]>;

/** A customer without a password at the time of the backup gets none. */
const decidedOf = (was: DecidedCustomer) => (was.password_hash === null ? DECIDED.slice(0, 3) : DECIDED);

const findChanges = (deps: Deps, replaced: Replaced, page: readonly Owned[]) =>
  listDifferent(deps, replaced, "customers", DECIDED, page, decidedOf);

function carryChange(trx: Trx, deps: Deps, change: Changed<DecidedCustomer>): Promise<void> {
  const eventOf = (row: Tables["customers"]) => customerEvent("customer.updated", customerOf(row));
  const secrets = change.columns.password_hash === undefined ? [] : ["password"];
  return changeAndNote(trx, deps, "customers", change, eventOf, secrets);
}

/**
 * An unlinked identity is unlinked again. An identity that now belongs to another customer moves to that customer, if
 * the customer exists here. Customers cannot be merged yet; once they can, a merge moves identities in the same way.
 */
async function carryIdentities(deps: Deps, replaced: Replaced, page: readonly Owned[]): Promise<number> {
  const { db } = deps.storage;
  const own = await db
    .selectFrom("customer_identities")
    .selectAll()
    .where("store_id", "in", [...new Set(page.map(({ store_id }) => store_id))])
    .where("customer_id", "in", idsOf(page))
    .execute();
  if (own.length === 0) return 0;
  const now = await readReplaced(replaced, "customer_identities", ["customer_id"], idsOf(own));
  const changed = own.filter((row) =>
    now.has(row.id) ? now.get(row.id)?.customer_id !== row.customer_id : replaced.isSound,
  );
  for (const row of changed)
    await deps.storage.transact((trx) => moveIdentity(trx, deps, row, now.get(row.id)?.customer_id));
  return changed.length;
}

async function moveIdentity(
  trx: Trx,
  deps: Deps,
  row: Tables["customer_identities"],
  customerId: string | undefined,
): Promise<void> {
  const { id, store_id } = row;
  const taker =
    customerId === undefined
      ? undefined
      : await trx
          .selectFrom("customers")
          .select("id")
          .where("store_id", "=", store_id)
          .where("id", "=", customerId)
          .executeTakeFirst();
  if (taker)
    await trx
      .updateTable("customer_identities")
      .set({ customer_id: taker.id })
      .where("store_id", "=", store_id)
      .where("id", "=", id)
      .execute();
  else
    await trx
      .deleteFrom("customer_identities")
      .where("store_id", "=", store_id)
      .where("id", "=", id)
      .execute();
  const happened = (type: "customer.identity_linked" | "customer.identity_unlinked", subject: string) => ({
    type,
    subject,
    personId: subject,
    resource: {
      id,
      type: "customer-identity",
      customer_id: subject,
      realm_id: row.realm_id,
      profile_id: row.profile_id,
      issuer: row.issuer,
      subject: row.subject,
    },
  });
  await noteEvents(trx, deps, byOperator(store_id), [
    happened("customer.identity_unlinked", row.customer_id),
    ...(taker ? [happened("customer.identity_linked", taker.id)] : []),
  ]);
}
