import { limits } from "../../contract/limits.ts";
import { byOperator } from "../../events/event.ts";
import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import { updateRealm } from "../../realms/administer.ts";
import { getRealm } from "../../realms/realm.ts";
import { faultOfRedirectUri } from "../../realms/redirect-uri.ts";
import { listRealms, realmResource } from "../../realms/resource.ts";
import { getSettings } from "../../realms/settings.ts";
import { quoted } from "../options.ts";
import { type FromStore, fromStore } from "./require-store.ts";
import { listFromStore, type PageGiven, printOne, rowsOf } from "./show-list.ts";

export const list = (given: FromStore & PageGiven): Promise<void> =>
  listFromStore(
    given,
    async (deps, storeId, page) => ({
      ...rowsOf(await listRealms(deps, { storeId, grant: "client_credentials" }, page)),
      empty: "this store has no realms; POST /v2/authentication-realms makes one",
    }),
    {
      name: "authentication_realms",
      head: ["id", "name", "duplicate e-mail", "redirect URIs"],
      toCells: (realm) => [realm.id, realm.name, realm.duplicate_email_policy, realm.redirect_uris.length],
    },
  );

export async function show({ argument, store, json }: FromStore & { argument: string }): Promise<void> {
  const realm = await fromStore(store, (deps, storeId) => getRealm(deps, storeId, argument));
  print(realmResource(realm), json);
}

type Allowed = FromStore & { argument: string; realm: string | undefined };

/** Adds a URI to the list, where an update through the API replaces the list. */
export async function allow({ argument: uri, store, realm, json }: Allowed): Promise<void> {
  const fault = faultOfRedirectUri(uri);
  if (fault !== undefined) throw usageFault(`${quoted(uri)} cannot be a redirect URI: ${fault}`);
  const { data } = await fromStore(store, async (deps, storeId) => {
    const realmId = realm ?? (await getSettings(deps, storeId)).realm_id;
    return updateRealm(deps, byOperator(storeId), realmId, ({ redirect_uris }) => {
      if (redirect_uris.includes(uri)) return {};
      if (redirect_uris.length >= limits.redirectUris)
        throw operatorFault(
          `the realm ${realmId} has ${limits.redirectUris} redirect URIs, which is the most; PUT /v2/authentication-realms/${realmId} replaces the list`,
        );
      return { redirect_uris: [...redirect_uris, uri] };
    });
  });
  print(data, json);
}

const print = (realm: ReturnType<typeof realmResource>, json: boolean): void =>
  printOne(
    json,
    { authentication_realm: realm },
    {
      id: realm.id,
      name: realm.name,
      "duplicate e-mail": realm.duplicate_email_policy,
      created: realm.meta.created_at,
      updated: realm.meta.updated_at,
      ...(realm.home_url && { "shop's page": realm.home_url }),
      ...(realm.logo_url && { logo: realm.logo_url }),
      ...(realm.accent_color && { colour: realm.accent_color }),
      "redirect URIs": realm.redirect_uris.join("\n") || "none: no storefront can sign on",
    },
  );
