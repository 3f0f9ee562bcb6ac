import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/oidc-profiles.ts";
import type { Input } from "../contract/operation.ts";
import { toPage } from "../contract/paging.ts";
import { isBackOffice } from "../contract/permissions.ts";
import type { GroupCache } from "../lib/cache.ts";
import type { Page } from "../lib/condition.ts";
import { createKeptText } from "../lib/kept-text.ts";
import { getVisibleRealm, type RealmReader } from "../realms/account-realm.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import { listAdoptable } from "./adopt-identities.ts";
import { getProfile, type ProfileIds, type ProfileKey, profileKey, profileOf } from "./profile.ts";
import {
  type Presenting,
  type ProfileAnswer,
  type ProfileList,
  type ProfileView,
  presentProfile,
  presentProfileList,
  shownHealth,
} from "./resource.ts";

type Deps = Presenting & { storage: Storage };

export const viewProfile = async (deps: Deps, caller: RealmReader, ids: ProfileIds): Promise<ProfileAnswer> =>
  presentProfile(deps, caller, await readProfile(deps, profileKey(caller, ids), caller));

/** Only the back office is shown the deleted profiles that this one could take over. */
export async function readProfile(
  deps: { storage: Storage },
  key: ProfileKey,
  reader: Pick<Caller, "grant">,
): Promise<ProfileView> {
  const profile = await getProfile(deps, key, reader);
  const issuer = profile.metadata?.issuer;
  if (!isBackOffice(reader) || issuer === undefined) return profile;
  const heir = { ...profile, issuer, clientId: profile.client_id };
  return { ...profile, adoptable: await listAdoptable(deps.storage.db, heir) };
}

export async function readProfileList(
  deps: { storage: Storage },
  caller: RealmReader,
  realmId: string,
  page: Page,
): Promise<ProfileList> {
  const seen = isBackOffice(caller) ? {} : { purpose: "customers" };
  const of = { store_id: caller.storeId, realm_id: realmId, ...seen };
  const { rows, place } = await readPage(deps.storage, "oidc_profiles", of, page);
  // A realm with a profile exists; only an empty page leaves that open.
  if (rows.length === 0) await getVisibleRealm(deps, caller, realmId);
  return { profiles: rows.map(profileOf), place, page, realmId };
}

/**
 * The list as JSON text. An implicit token is shown the first page, which a storefront's login page reads, from memory:
 * see `readSettings`. The text of a list is kept for each kind of reader until the health of one of its profiles
 * changes.
 */
export async function listProfiles(
  deps: Deps & { shownProfiles: GroupCache<ProfileList> },
  caller: RealmReader,
  { realm: realmId }: { realm: string },
  query: Input<typeof contract.listProfiles>["query"],
): Promise<string> {
  const page = toPage(query);
  const isFirst = page.offset === 0 && page.after === undefined;
  const read = () => readProfileList(deps, caller, realmId, page);
  const list =
    isBackOffice(caller) || !isFirst
      ? await read()
      : await deps.shownProfiles.getOrLoad(caller.storeId, `${realmId} ${page.limit}`, read);
  const healths = list.profiles.map((profile) => {
    const { status, since } = shownHealth(deps, profile);
    return `${status} ${since}`;
  });
  const besides = `${isBackOffice(caller)} ${healths.join()}`;
  return listText(list, besides, () => presentProfileList(deps, caller, list));
}

const listText = createKeptText<ProfileList>();
