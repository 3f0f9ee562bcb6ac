import type { Caller } from "../../contract/caller.ts";
import type * as contract from "../../contract/customers.ts";
import type { Output } from "../../contract/operation.ts";
import { toIso } from "../../lib/clock.ts";
import { atMost } from "../../storage/at-most.ts";
import type { Database, Storage } from "../../storage/storage.ts";
import { getCustomer } from "../customer.ts";

type IdentityList = Output<typeof contract.listCustomerIdentities>;

/** Far above the number of accounts that a person has. */
export const IDENTITIES_AT_ONCE = 100;

/** The identities of a customer at the identity providers. */
export async function listIdentities(
  { storage }: { storage: Storage },
  caller: Caller,
  customerId: string,
): Promise<IdentityList> {
  await getCustomer({ storage }, caller, customerId);
  return { data: await readIdentities(storage.db, caller.storeId, customerId) };
}

/**
 * A hundred identities after this one, oldest first. `profile_name` is null for a deleted profile: an identity outlives
 * its profile.
 */
export async function readIdentities(
  db: Database,
  storeId: string,
  customerId: string,
  after = "",
): Promise<IdentityList["data"]> {
  const rows = await db
    .selectFrom("customer_identities as identity")
    .leftJoin("oidc_profiles as profile", (join) =>
      join
        .onRef("profile.store_id", "=", "identity.store_id")
        .onRef("profile.id", "=", "identity.profile_id"),
    )
    .selectAll("identity")
    .select("profile.name as profile_name")
    .where("identity.store_id", "=", storeId)
    .where("identity.customer_id", "=", customerId)
    .where("identity.id", ">", after)
    .orderBy("identity.id")
    .limit(atMost(IDENTITIES_AT_ONCE))
    .execute();
  return rows.map((row) => ({
    type: "customer-identity",
    id: row.id,
    customer_id: row.customer_id,
    realm_id: row.realm_id,
    profile_id: row.profile_id,
    profile_name: row.profile_name,
    issuer: row.issuer,
    subject: row.subject,
    meta: { timestamps: { created_at: toIso(row.created_at) } },
  }));
}
