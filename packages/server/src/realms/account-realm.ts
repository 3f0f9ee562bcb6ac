import { timeOfId } from "../lib/ids.ts";
import type { Realm } from "./realm.ts";
import type { AuthenticationSettings } from "./settings.ts";

/**
 * The realm in the account authentication settings. Latchkey has no accounts, so this realm has no row and no identity provider: clients that
 * list the providers of both settings then offer customers' sign-on alone. It has the store's id, which no other realm can have.
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

/** The client id is the customers' because clients expect one. */
export const accountSettingsOf = (settings: AuthenticationSettings): AuthenticationSettings => ({
  ...settings,
  realm_id: accountRealmOf(settings.store_id).id,
});
