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
    storeId,
    name: "Accounts",
    purpose: "customers",
    redirectUris: [],
    duplicateEmailPolicy: "allowed",
    idTokenAlgorithm: "RS256",
    profileUpdates: "always",
    homeUrl: null,
    logoUrl: null,
    accentColor: null,
    createdAt,
    updatedAt: createdAt,
  };
}

/** The client id is the customers' because clients expect one. */
export const accountSettingsOf = (settings: AuthenticationSettings): AuthenticationSettings => ({
  ...settings,
  realmId: accountRealmOf(settings.storeId).id,
});
