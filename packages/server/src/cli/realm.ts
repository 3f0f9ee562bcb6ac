import { toIso } from "../lib/clock.ts";
import { presentMembers } from "../realms/present.ts";
import { getRealm, listRealms } from "../realms/realm.ts";
import { fromStore } from "./require-store.ts";
import {
  nextOf,
  type PageGiven,
  printList,
  printMembers,
  readPageGiven,
  refuseInWords,
} from "./show-list.ts";

type FromStore = { store: string | undefined; json: boolean };

export async function list(given: FromStore & PageGiven): Promise<void> {
  const page = readPageGiven(given);
  const { realms, place } = await fromStore(given.store, (deps, storeId) =>
    refuseInWords(listRealms(deps, { storeId, grant: "client_credentials" }, page)),
  );
  printList(
    {
      name: "authentication_realms",
      rows: realms,
      present: presentMembers,
      head: ["id", "name", "duplicate e-mail", "redirect URIs"],
      toCells: (realm) => [realm.id, realm.name, realm.duplicateEmailPolicy, realm.redirectUris.length],
      empty: "this store has no realms; POST /v2/authentication-realms makes one",
      next: nextOf(place),
    },
    given,
  );
}

export async function show({ argument, store, json }: FromStore & { argument: string }): Promise<void> {
  const realm = await fromStore(store, (deps, storeId) => getRealm(deps, storeId, argument));
  if (json) return console.log(JSON.stringify({ authentication_realm: presentMembers(realm) }));
  printMembers({
    id: realm.id,
    name: realm.name,
    "duplicate e-mail": realm.duplicateEmailPolicy,
    created: toIso(realm.createdAt),
    updated: toIso(realm.updatedAt),
    ...(realm.homeUrl && { "shop's page": realm.homeUrl }),
    ...(realm.logoUrl && { logo: realm.logoUrl }),
    ...(realm.accentColor && { colour: realm.accentColor }),
    "redirect URIs": realm.redirectUris.join("\n               ") || "none: no storefront can sign on",
  });
}
