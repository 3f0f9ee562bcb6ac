import { customerOf } from "../customers/customer.ts";
import { customerEvent } from "../customers/events.ts";
import { customerResource } from "../customers/resource.ts";
import { thinOutTokens } from "../customers/tokens/revoke-tokens.ts";
import { changesOf } from "../events/changes.ts";
import { byOperator } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import {
  changeRow,
  differences,
  idsOf,
  listGone,
  type Owned,
  pagesOf,
  type Replaced,
  readReplaced,
  readRestored,
} from "./replaced.ts";

type Deps = { storage: Storage; clock: Clock };
type CarriedCustomers = {
  deleted_customers: number;
  passwords: number;
  addresses: number;
  identities: number;
};

/**
 * Deleted customers are deleted again. The others get their password, e-mail, its verification and their identities
 * from the replaced database. Name and the rest are as in the backup.
 */
export async function carryCustomers(deps: Deps, replaced: Replaced): Promise<CarriedCustomers> {
  const { storage } = deps;
  const carried = { deleted_customers: 0, passwords: 0, addresses: 0, identities: 0 };
  for await (const page of pagesOf(storage, "customers"))
    carried.deleted_customers += await carryDeletions(deps, replaced, page);
  // First removes all changed addresses, then sets the new ones: two customers may have swapped addresses, and the
  // index is unique.
  for await (const page of pagesOf(storage, "customers")) await freeAddresses(deps, replaced, page);
  for await (const page of pagesOf(storage, "customers")) {
    for (const { columns } of await carryChanges(deps, replaced, page)) {
      if (columns.password_hash !== undefined) carried.passwords++;
      if (columns.email_key !== undefined || columns.email_verified !== undefined) carried.addresses++;
    }
    carried.identities += await carryIdentities(deps, replaced, page);
  }
  return carried;
}

async function carryDeletions(deps: Deps, replaced: Replaced, page: readonly Owned[]): Promise<number> {
  const gone = await listGone(replaced, "customers", "customer.deleted", page);
  for (const { id, store_id } of gone) await thinOutTokens(deps, { storeId: store_id, customerId: id });
  if (gone.length === 0) return 0;
  await deps.storage.transact(async (trx) => {
    await trx.deleteFrom("customers").where("id", "in", idsOf(gone)).execute();
    for (const { id, store_id } of gone)
      await noteEvents(trx, deps, byOperator(store_id), [
        { type: "customer.deleted", subject: id, resource: { type: "customer", id } },
      ]);
  });
  return gone.length;
}

const DECIDED = ["email", "email_key", "email_verified", "password_hash"] as const;
type DecidedCustomer = Pick<Tables["customers"], (typeof DECIDED)[number]>;
type CustomerColumns = Owned & { columns: Partial<DecidedCustomer> };

async function findChanges(
  { storage }: Deps,
  replaced: Replaced,
  page: readonly Owned[],
): Promise<CustomerColumns[]> {
  const now = await readReplaced(replaced, "customers", DECIDED, idsOf(page));
  const rows = await readRestored(storage, "customers", DECIDED, idsOf(page));
  return rows.flatMap((was) => {
    // A customer without a password at the time of the backup gets none.
    const decided = was.password_hash === null ? DECIDED.slice(0, 3) : DECIDED;
    const columns = differences<DecidedCustomer>(was, now.get(was.id), decided);
    return columns ? [{ id: was.id, store_id: was.store_id, columns }] : [];
  });
}

async function freeAddresses(deps: Deps, replaced: Replaced, page: readonly Owned[]): Promise<void> {
  const moved = (await findChanges(deps, replaced, page)).filter(({ columns }) => columns.email_key);
  if (moved.length === 0) return;
  await deps.storage.db
    .updateTable("customers")
    .set(({ ref }) => ({ email_key: ref("id") }))
    .where("id", "in", idsOf(moved))
    .execute();
}

async function carryChanges(
  deps: Deps,
  replaced: Replaced,
  page: readonly Owned[],
): Promise<CustomerColumns[]> {
  const changes = await findChanges(deps, replaced, page);
  for (const change of changes) await deps.storage.transact((trx) => carryChange(trx, deps, change));
  return changes;
}

async function carryChange(trx: Trx, deps: Deps, { id, store_id, columns }: CustomerColumns): Promise<void> {
  const { before, after } = await changeRow(trx, deps, "customers", { id, store_id }, columns);
  const [was, is] = [customerOf(before), customerOf(after)];
  const secrets = columns.password_hash === undefined ? [] : ["password"];
  const changes = changesOf(customerResource(was), customerResource(is), secrets);
  if (changes)
    await noteEvents(trx, deps, byOperator(store_id), [
      { ...customerEvent("customer.updated", is), changes },
    ]);
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
