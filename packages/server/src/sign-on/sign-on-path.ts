import { MEMBERS_CLIENT_ID } from "../contract/access-tokens.ts";
import type { GroupCache } from "../lib/cache.ts";
import { type Profile, type ProfileKey, profileOf } from "../profiles/profile.ts";
import { REALM_COLUMNS, type Realm, realmOf } from "../realms/realm.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import { createStoreCache } from "../storage/store-cache.ts";
import type { Tables } from "../storage/tables.ts";

/** The database's rows for the path of a sign-on: /stores/…/realms/…/profiles/…. */
export type SignOnPath = {
  realm: Realm;
  /** The public client id: of the store's storefronts, or of the console. */
  clientId: string | undefined;
  /** Attempts that began earlier are over. A restore sets this, because it loses claims and used codes. */
  endedBefore: number;
  profile: Profile | undefined;
};

export type PathCache = GroupCache<SignOnPath | undefined>;

const MAX_PATHS = 2000;

/** A path without a profile is not cached: made-up profile ids would fill the cache. */
export const createPathCache = ({ storage }: { storage: Storage }): PathCache =>
  createStoreCache({ storage }, MAX_PATHS, (path) => path?.profile !== undefined);

/**
 * From the cache. A change of the store drops its entries at once in this process, within a second in others. The
 * redeem reads the database, so it sees a profile that was switched off in between.
 */
export function cachedPath(
  { storage, signOnPaths }: { storage: Storage; signOnPaths: PathCache },
  key: ProfileKey,
): Promise<SignOnPath | undefined> {
  const load = () => findPath(storage.db, key);
  return signOnPaths.getOrLoad(key.storeId, `${key.realmId} ${key.profileId}`, load);
}

/** One statement reads all, because both legs need all. Undefined: there is no such realm. */
export async function findPath(db: Database, key: ProfileKey): Promise<SignOnPath | undefined> {
  const row = await readPath.first(db, key);
  if (!row) return undefined;
  return {
    realm: realmOf(realmColumnsOf(row)),
    clientId: row.realm_purpose === "members" ? MEMBERS_CLIENT_ID : (row.settings_client_id ?? undefined),
    endedBefore: row.tokens_from ?? 0,
    profile: row.id === null ? undefined : profileOf(row as Tables["oidc_profiles"]),
  };
}

type RealmRow = Tables["authentication_realms"];

/** The joined realm's columns without `realm_`, the prefix that separates them from the profile's. */
const realmColumnsOf = (row: Record<`realm_${keyof RealmRow}`, unknown>): RealmRow =>
  Object.fromEntries(REALM_COLUMNS.map((name) => [name, row[`realm_${name}`]])) as RealmRow;

const readPath = statement((db, key: ProfileKey) =>
  db
    .selectFrom("authentication_realms as realm")
    .innerJoin("stores as store", "store.id", "realm.store_id")
    .leftJoin("customer_authentication_settings as settings", "settings.store_id", "realm.store_id")
    .leftJoin("oidc_profiles as profile", (join) =>
      join
        .onRef("profile.store_id", "=", "realm.store_id")
        .onRef("profile.realm_id", "=", "realm.id")
        .on("profile.id", "=", key.profileId),
    )
    .selectAll("profile")
    .select([
      ...REALM_COLUMNS.map((name) => `realm.${name} as realm_${name}` as const),
      "settings.client_id as settings_client_id",
      "store.tokens_from",
    ])
    .where("realm.store_id", "=", key.storeId)
    .where("realm.id", "=", key.realmId),
);
