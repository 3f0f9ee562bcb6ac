import type { Caller } from "../contract/caller.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { timeOfId } from "../lib/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { getCustomerRealm, getRealm, type Realm } from "./realm.ts";

/**
 * The realm in the account authentication settings. Latchkey has no accounts, so this realm has no row and no identity
 * provider. Its id is the store's id, which no other realm has. Clients that list the providers of both settings then
 * offer the customers' sign-on only.
 */
export function accountRealmOf(storeId: string): Realm {
  const createdAt = timeOfId(storeId);
  return {
    id: storeId,
    store_id: storeId,
    name: "Accounts",
    purpose: "customers",
    redirect_uris: [],
    duplicate_email_policy: "allowed",
    id_token_signed_response_alg: "RS256",
    profile_updates: "always",
    home_url: null,
    logo_url: null,
    accent_color: null,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

export type RealmReader = Pick<Caller, "storeId" | "grant">;

/** Public tokens cannot read the realm for members. Every caller can read the realm for accounts, which has no row. */
export async function getVisibleRealm(
  deps: { storage: Storage },
  caller: RealmReader,
  realmId: string,
): Promise<Realm> {
  if (realmId === caller.storeId) return accountRealmOf(caller.storeId);
  if (!isBackOffice(caller)) return getCustomerRealm(deps, caller.storeId, realmId);
  return getRealm(deps, caller.storeId, realmId);
}
