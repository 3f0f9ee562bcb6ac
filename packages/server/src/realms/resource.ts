import type { Input, Output } from "../contract/operation.ts";
import { pageOf } from "../contract/paging.ts";
import { isBackOffice } from "../contract/permissions.ts";
import type * as contract from "../contract/realms.ts";
import { toIso } from "../lib/clock.ts";
import type { Page } from "../lib/condition.ts";
import { type Given, given } from "../lib/given.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { getVisibleRealm, type RealmReader } from "./account-realm.ts";
import { type Realm, realmOf } from "./realm.ts";

/** The members of a realm that a request can write. */
export type RealmChange = Omit<Input<typeof contract.updateRealm>["body"]["data"], "type">;

const URL_PATH = "/v2/authentication-realms";

export const realmUrl = ({ publicUrl }: { publicUrl: string }, realmId: string): string =>
  `${publicUrl}${URL_PATH}/${realmId}`;

/** The columns that a request writes. `purpose` is missing, because it is set once, when the realm is created. */
export const toColumns = (data: RealmChange): Given<Tables["authentication_realms"]> =>
  given({
    name: data.name,
    redirect_uris: data.redirect_uris && JSON.stringify(data.redirect_uris),
    duplicate_email_policy: data.duplicate_email_policy,
    id_token_signed_response_alg: data.id_token_signed_response_alg,
    profile_updates: data.profile_updates,
    home_url: data.home_url,
    logo_url: data.logo_url,
    accent_color: data.accent_color,
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

export const realmAnswer = (deps: { publicUrl: string }, realm: Realm): Output<typeof contract.getRealm> => ({
  data: realmResource(realm),
  links: { self: realmUrl(deps, realm.id) },
});

type Deps = { storage: Storage; publicUrl: string };

export const showRealm = async (deps: Deps, caller: RealmReader, realmId: string) =>
  realmAnswer(deps, await getVisibleRealm(deps, caller, realmId));

export async function listRealms(
  { storage, publicUrl }: Deps,
  caller: RealmReader,
  page: Page,
): Promise<Output<typeof contract.listRealms>> {
  const of = { store_id: caller.storeId, ...(!isBackOffice(caller) && { purpose: "customers" }) };
  const { rows, place } = await readPage(storage, "authentication_realms", of, page);
  const data = rows.map((row) => realmResource(realmOf(row)));
  return pageOf(`${publicUrl}${URL_PATH}`, data, { page, place });
}
