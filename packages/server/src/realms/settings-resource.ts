import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/realms.ts";
import type { GroupCache } from "../lib/cache.ts";
import { createKeptText } from "../lib/kept-text.ts";
import type { Storage } from "../storage/storage.ts";
import { accountRealmOf, type RealmReader } from "./account-realm.ts";
import { realmUrl } from "./resource.ts";
import { type AuthenticationSettings, getSettings, readSettings } from "./settings.ts";

type Deps = { publicUrl: string; storage: Storage; shownSettings: GroupCache<AuthenticationSettings> };
type SettingsAnswer = Output<typeof contract.getAuthenticationSettings>;

export const settingsResource = (
  deps: Pick<Deps, "publicUrl">,
  { store_id, client_id, realm_id }: AuthenticationSettings,
): SettingsAnswer["data"] => ({
  id: store_id,
  type: "customer-authentication-settings",
  client_id,
  realm_id,
  meta: { client_id },
  relationships: {
    "authentication-realm": {
      data: { id: realm_id, type: "authentication-realm", links: { self: realmUrl(deps, realm_id) } },
    },
  },
});

export const settingsAnswer = (
  deps: Pick<Deps, "publicUrl">,
  settings: AuthenticationSettings,
): SettingsAnswer => ({
  data: settingsResource(deps, settings),
  links: { self: `${deps.publicUrl}/v2/customer-authentication-settings` },
});

const settingsText = createKeptText<AuthenticationSettings>();

/** The answer as text. Settings that come from memory are written as JSON once. */
export async function showSettings(deps: Deps, caller: RealmReader): Promise<string> {
  const settings = await readSettings(deps, caller);
  return settingsText(settings, "", () => settingsAnswer(deps, settings));
}

/** A store has one set of settings, whose id is the store's id. */
export async function showSettingsById(
  deps: Pick<Deps, "publicUrl"> & { storage: Storage },
  storeId: string,
  settingsId: string,
): Promise<SettingsAnswer> {
  const settings = await getSettings(deps, storeId);
  if (settingsId !== storeId) throw new Problem("settings_not_found");
  return settingsAnswer(deps, settings);
}

/** The same settings under `/v2/settings`, as some clients of this API family read them. */
export const showStoreSettings = async (deps: Deps, caller: RealmReader) =>
  inOtherShape(deps, await readSettings(deps, caller), "settings", "/v2/settings");

/** The settings for accounts. Their client id is the customers' client id, because clients expect one. */
export async function showAccountSettings(deps: Deps, caller: RealmReader) {
  const settings = { ...(await readSettings(deps, caller)), realm_id: accountRealmOf(caller.storeId).id };
  const type = "account_authentication_settings";
  return inOtherShape(deps, settings, type, "/v2/settings/account-authentication");
}

function inOtherShape<T extends string>(
  deps: Pick<Deps, "publicUrl">,
  settings: AuthenticationSettings,
  type: T,
  path: string,
) {
  const { id, meta, relationships } = settingsResource(deps, settings);
  return {
    data: { id, type, meta, relationships: { authentication_realm: relationships["authentication-realm"] } },
    links: { self: `${deps.publicUrl}${path}` },
  };
}
