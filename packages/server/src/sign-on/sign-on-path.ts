import { MEMBERS_CLIENT_ID } from "../contract/access-tokens.ts";
import type { GroupCache } from "../lib/cache.ts";
import { type Profile, profileOf } from "../profiles/profile.ts";
import { REALM_COLUMNS, type Realm, realmOf } from "../realms/realm.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import { createStoreCache } from "../storage/store-cache.ts";
import type { Tables } from "../storage/tables.ts";
import type { Place } from "./attempt.ts";

/** What the database says of the path that a sign-on begins under and comes back to. */
export type SignOnPath = {
  realm: Realm;
  /** The client id of the store's storefronts, or of the console. */
  clientId: string | undefined;
  /** What was begun before is over: a restore forgets which attempts had come back, and which codes were redeemed. */
  endedBefore: number;
  profile: Profile | undefined;
};

export type KnownPaths = GroupCache<SignOnPath | undefined>;

const MAX_KNOWN = 2000;

/** A place without a profile is not kept: made-up profile ids would fill the cache. */
export const createKnownPaths = ({ storage }: { storage: Storage }): KnownPaths =>
  createStoreCache({ storage }, MAX_KNOWN, (place) => place?.profile !== undefined);

/**
 * As it was when the store last changed: here that is known at once, in another process within a second. What was switched off since
 * is found by the redeem, which asks the database.
 */
export function recallPath(
  { storage, knownPlaces }: { storage: Storage; knownPlaces: KnownPaths },
  place: Place,
): Promise<SignOnPath | undefined> {
  const load = () => findPath(storage.db, place);
  return knownPlaces.getOrLoad(place.storeId, `${place.realmId} ${place.profileId}`, load);
}

/** One statement, because every leg of a sign-on asks all of it. Undefined: there is no such realm. */
export async function findPath(db: Database, place: Place): Promise<SignOnPath | undefined> {
  const row = await readPlace.first(db, place);
  if (!row) return undefined;
  return {
    realm: realmOf(realmColumnsOf(row)),
    clientId: row.realm_purpose === "members" ? MEMBERS_CLIENT_ID : (row.settings_client_id ?? undefined),
    endedBefore: row.tokens_from ?? 0,
    profile: row.id === null ? undefined : profileOf(row as Tables["oidc_profiles"]),
  };
}

type RealmRow = Tables["authentication_realms"];

/** The columns of the joined realm, without the prefix that keeps them apart from the profile's. */
const realmColumnsOf = (row: Record<`realm_${keyof RealmRow}`, unknown>): RealmRow =>
  Object.fromEntries(REALM_COLUMNS.map((name) => [name, row[`realm_${name}`]])) as RealmRow;

const readPlace = statement((db, at: Place) =>
  db
    .selectFrom("authentication_realms as realm")
    .innerJoin("stores as store", "store.id", "realm.store_id")
    .leftJoin("customer_authentication_settings as settings", "settings.store_id", "realm.store_id")
    .leftJoin("oidc_profiles as profile", (join) =>
      join
        .onRef("profile.store_id", "=", "realm.store_id")
        .onRef("profile.realm_id", "=", "realm.id")
        .on("profile.id", "=", at.profileId),
    )
    .selectAll("profile")
    .select([
      ...REALM_COLUMNS.map((name) => `realm.${name} as realm_${name}` as const),
      "settings.client_id as settings_client_id",
      "store.tokens_from",
    ])
    .where("realm.store_id", "=", at.storeId)
    .where("realm.id", "=", at.realmId),
);
