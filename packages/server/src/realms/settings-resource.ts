import type { Caller } from "../contract/caller.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type * as contract from "../contract/realms.ts";
import type { GroupCache } from "../lib/cache.ts";
import { createKeptText } from "../lib/kept-text.ts";
import type { Storage } from "../storage/storage.ts";
import { accountRealmOf } from "./account-realm.ts";
import { realmUrl } from "./resource.ts";
import { type AuthenticationSettings, getSettings, readSettings } from "./settings.ts";

type Where = { publicUrl: string };
type Deps = Where & { storage: Storage; shownSettings: GroupCache<AuthenticationSettings> };
type Reader = Pick<Caller, "storeId" | "grant">;
type Answer = Output<typeof contract.getAuthenticationSettings>;

export const settingsResource = (
  where: Where,
  { store_id, client_id, realm_id }: AuthenticationSettings,
): Answer["data"] => ({
  id: store_id,
  type: "customer-authentication-settings",
  client_id,
  realm_id,
  meta: { client_id },
  relationships: {
    "authentication-realm": {
      data: { id: realm_id, type: "authentication-realm", links: { self: realmUrl(where, realm_id) } },
    },
  },
});

export const settingsAnswer = (where: Where, settings: AuthenticationSettings): Answer => ({
  data: settingsResource(where, settings),
  links: { self: `${where.publicUrl}/v2/customer-authentication-settings` },
});

const settingsText = createKeptText<AuthenticationSettings>();

/** The answer as text. Settings that come from memory are written as JSON once. */
export async function showSettings(deps: Deps, caller: Reader): Promise<string> {
  const settings = await readSettings(deps, caller);
  return settingsText(settings, "", () => settingsAnswer(deps, settings));
}

/** A store has one set of settings, whose id is the store's id. */
export async function showSettingsById(
  deps: Where & { storage: Storage },
  storeId: string,
  settingsId: string,
): Promise<Answer> {
  const settings = await getSettings(deps, storeId);
  if (settingsId !== storeId) throw new Problem("settings_not_found");
  return settingsAnswer(deps, settings);
}

/** The same settings under `/v2/settings`, as some clients of this API family read them. */
export const showStoreSettings = async (deps: Deps, caller: Reader) =>
  inOtherShape(deps, await readSettings(deps, caller), "settings", "/v2/settings");

/** The settings for accounts. Their client id is the customers' client id, because clients expect one. */
export async function showAccountSettings(deps: Deps, caller: Reader) {
  const settings = { ...(await readSettings(deps, caller)), realm_id: accountRealmOf(caller.storeId).id };
  const type = "account_authentication_settings";
  return inOtherShape(deps, settings, type, "/v2/settings/account-authentication");
}

function inOtherShape<T extends string>(
  where: Where,
  settings: AuthenticationSettings,
  type: T,
  path: string,
) {
  const { id, meta, relationships } = settingsResource(where, settings);
  return {
    data: { id, type, meta, relationships: { authentication_realm: relationships["authentication-realm"] } },
    links: { self: `${where.publicUrl}${path}` },
  };
}
