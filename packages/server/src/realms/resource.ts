import type { Input, Output } from "../contract/operation.ts";
import { presentPage, presentPageLinks } from "../contract/paging.ts";
import type * as contract from "../contract/realms.ts";
import { toIso } from "../lib/clock.ts";
import { createKeptText } from "../lib/kept-text.ts";
import type { Realm, RealmChange, RealmList } from "./realm.ts";
import type { AuthenticationSettings, SettingsChange } from "./settings.ts";

type Where = { publicUrl: string };

const realmUrl = (publicUrl: string, realmId: string): string =>
  `${publicUrl}/v2/authentication-realms/${realmId}`;

export const presentSettingsMembers = (
  { publicUrl }: Where,
  { store_id: storeId, client_id: clientId, realm_id: realmId }: AuthenticationSettings,
): Output<typeof contract.getAuthenticationSettings>["data"] => ({
  id: storeId,
  type: "customer-authentication-settings",
  client_id: clientId,
  realm_id: realmId,
  meta: { client_id: clientId },
  relationships: {
    "authentication-realm": {
      data: { id: realmId, type: "authentication-realm", links: { self: realmUrl(publicUrl, realmId) } },
    },
  },
});

export const presentSettings = (
  where: Where,
  settings: AuthenticationSettings,
): Output<typeof contract.getAuthenticationSettings> => ({
  data: presentSettingsMembers(where, settings),
  links: { self: `${where.publicUrl}/v2/customer-authentication-settings` },
});

const settingsText = createKeptText<AuthenticationSettings>();

/** As text: settings that come from memory were written before. */
export const writeSettings = (where: Where, settings: AuthenticationSettings): string =>
  settingsText(settings, "", () => presentSettings(where, settings));

/** The same in the shape that some clients of this API family read. */
export const presentSettingsAs = <T extends string>(
  where: Where,
  settings: AuthenticationSettings,
  type: T,
  path: string,
) => {
  const { id, meta, relationships } = presentSettingsMembers(where, settings);
  return {
    data: { id, type, meta, relationships: { authentication_realm: relationships["authentication-realm"] } },
    links: { self: `${where.publicUrl}${path}` },
  };
};

export const toSettingsChange = ({
  data,
}: Input<typeof contract.updateAuthenticationSettings>["body"]): SettingsChange => ({
  client_id: data.client_id,
  realm_id: data.realm_id,
});

export const realmResource = (realm: Realm): Output<typeof contract.getRealm>["data"] => ({
  id: realm.id,
  type: "authentication-realm",
  name: realm.name,
  purpose: realm.purpose,
  redirect_uris: realm.redirect_uris,
  duplicate_email_policy: realm.duplicate_email_policy,
  id_token_signed_response_alg: realm.id_token_signed_response_alg,
  profile_updates: realm.profile_updates,
  home_url: realm.home_url,
  logo_url: realm.logo_url,
  accent_color: realm.accent_color,
  relationships: { origin: { data: { id: realm.store_id, type: "customer-authentication-settings" } } },
  meta: { created_at: toIso(realm.created_at), updated_at: toIso(realm.updated_at) },
});

export const presentRealm = ({ publicUrl }: Where, realm: Realm): Output<typeof contract.getRealm> => ({
  data: realmResource(realm),
  links: { self: realmUrl(publicUrl, realm.id) },
});

export const presentRealmList = (
  { publicUrl }: Where,
  { realms, place, page }: RealmList,
): Output<typeof contract.listRealms> => ({
  data: realms.map((realm) => ({ ...realmResource(realm), links: { self: realmUrl(publicUrl, realm.id) } })),
  meta: presentPage(page, place),
  links: presentPageLinks(`${publicUrl}/v2/authentication-realms`, page, place),
});

export const toRealmChange = <T extends Input<typeof contract.updateRealm>["body"]>({ data }: T) =>
  ({
    name: data.name,
    purpose: data.purpose,
    redirect_uris: data.redirect_uris,
    duplicate_email_policy: data.duplicate_email_policy,
    id_token_signed_response_alg: data.id_token_signed_response_alg,
    profile_updates: data.profile_updates,
    home_url: data.home_url,
    logo_url: data.logo_url,
    accent_color: data.accent_color,
  }) as RealmChange & { name: T["data"]["name"] };
