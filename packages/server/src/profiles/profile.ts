import type { Caller } from "../contract/caller.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import type { GroupCache } from "../lib/cache.ts";
import type { Page, Place } from "../lib/condition.ts";
import { type Metadata, storedMetadata } from "../openid/discovery.ts";
import { getVisibleRealm, type Reader } from "../realms/account-realm.ts";
import { atMost } from "../storage/at-most.ts";
import { readPage } from "../storage/lists/page.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { type Adoptable, listAdoptable } from "./adopt-identities.ts";

/** An identity provider as a store has configured it for a realm. */
export type Profile = {
  id: string;
  store_id: string;
  realm_id: string;
  name: string;
  discovery_url: string;
  client_id: string;
  sealed_client_secret: string;
  sealed_client_secret_next: string | null;
  enabled: boolean;
  flow: Flow;
  provisioning: Provisioning;
  /** Who signs out here is sent on to the provider. */
  propagate_logout: boolean;
  /** What we go by: the last document that was accepted. Null: none was read yet. */
  metadata: Metadata | null;
  /** A document with another issuer or other hosts, which waits for an administrator. */
  pending: { metadata: Metadata; since: number } | null;
  /** Deleted profiles whose identities count as this one's. */
  former_profile_ids: readonly string[];
  /** What the provider was called before it moved, where its people were carried over. */
  former_issuers: readonly FormerIssuer[];
  /** Another issuer than the approved one, which its document names. */
  issuerFound: { issuer: string; since: number } | null;
  /** When its document was last read, to within hours. */
  read_at: number | null;
  /** What the log was last told of its health. */
  told_health: string | null;
  /** The algorithm of the latest ID token that was accepted. Null: there was none yet. */
  id_token_alg: string | null;
  /** The latest logout token that it has signed and we have refused. */
  refused_logout: { at: number; reason: string } | null;
  created_at: number;
  updated_at: number;
};

export type FormerIssuer = { issuer: string; clientId: string };
export type Flow = "brokered" | "direct";
export type Provisioning = "create" | "existing";

export const formerOf = (
  row: Pick<Tables["oidc_profiles"], "former_profile_ids" | "former_issuers">,
): Pick<Profile, "former_profile_ids" | "former_issuers"> => ({
  former_profile_ids: JSON.parse(row.former_profile_ids),
  former_issuers: JSON.parse(row.former_issuers ?? "[]"),
});

export const profileOf = (row: Tables["oidc_profiles"]): Profile => ({
  id: row.id,
  store_id: row.store_id,
  realm_id: row.realm_id,
  name: row.name,
  discovery_url: row.discovery_url,
  client_id: row.client_id,
  sealed_client_secret: row.sealed_client_secret,
  sealed_client_secret_next: row.sealed_client_secret_next,
  enabled: row.enabled === 1,
  flow: row.flow as Flow,
  provisioning: row.provisioning as Provisioning,
  propagate_logout: row.propagate_logout === 1,
  metadata: row.metadata === null ? null : storedMetadata(row.metadata),
  pending:
    row.pending_metadata === null
      ? null
      : { metadata: storedMetadata(row.pending_metadata), since: row.pending_since ?? 0 },
  ...formerOf(row),
  issuerFound:
    row.issuer_found === null ? null : { issuer: row.issuer_found, since: row.issuer_found_at ?? 0 },
  read_at: row.read_at,
  told_health: row.told_health,
  id_token_alg: row.id_token_alg,
  refused_logout: row.refused_logout === null ? null : JSON.parse(row.refused_logout),
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** Which profile of which realm of which store: every query names all three. */
export type ProfileKey = { storeId: string; realmId: string; profileId: string };

export const profileKey = (caller: { storeId: string }, ids: { realm: string; id: string }): ProfileKey => ({
  storeId: caller.storeId,
  realmId: ids.realm,
  profileId: ids.id,
});

/** The key of a profile that was read. */
export const keyOf = ({
  store_id,
  realm_id,
  id,
}: Pick<Profile, "store_id" | "realm_id" | "id">): ProfileKey => ({
  storeId: store_id,
  realmId: realm_id,
  profileId: id,
});

export async function findProfile(db: Database, key: ProfileKey): Promise<Profile | undefined> {
  const row = await findRow.first(db, key);
  return row && profileOf(row);
}

const findRow = statement((db, of: ProfileKey) =>
  db
    .selectFrom("oidc_profiles")
    .selectAll()
    .where("store_id", "=", of.storeId)
    .where("realm_id", "=", of.realmId)
    .where("id", "=", of.profileId),
);

/** For whoever knows only the profile's id. */
export async function getRealmOf(
  { storage }: { storage: Storage },
  storeId: string,
  profileId: string,
): Promise<string> {
  const row = await storage.db
    .selectFrom("oidc_profiles")
    .select("realm_id")
    .where("store_id", "=", storeId)
    .where("id", "=", profileId)
    .executeTakeFirst();
  if (!row) throw new Problem("profile_not_found");
  return row.realm_id;
}

export async function getProfile(
  deps: { storage: Storage },
  key: ProfileKey,
  reader: Pick<Caller, "grant"> = BACK_OFFICE,
): Promise<Profile> {
  await getVisibleRealm(deps, { ...reader, storeId: key.storeId }, key.realmId);
  const profile = await findProfile(deps.storage.db, key);
  if (!profile) throw new Problem("profile_not_found");
  return profile;
}

/** Who changes profiles also sees those of the members' realm. */
const BACK_OFFICE = { grant: "client_credentials" } as const;

/** A profile with what an administrator should know of it beside, and nobody else. */
export type ProfileView = Profile & { adoptable?: Adoptable[] };

export async function viewProfile(
  deps: { storage: Storage },
  key: ProfileKey,
  reader: Pick<Caller, "grant"> = BACK_OFFICE,
): Promise<ProfileView> {
  const profile = await getProfile(deps, key, reader);
  const issuer = profile.metadata?.issuer;
  if (!isBackOffice(reader) || issuer === undefined) return profile;
  return {
    ...profile,
    adoptable: await listAdoptable(deps.storage.db, { ...profile, issuer, clientId: profile.client_id }),
  };
}

export type ProfileList = { profiles: Profile[]; place: Place; page: Page; realmId: string };

export async function listProfiles(
  deps: { storage: Storage },
  caller: Reader,
  realmId: string,
  page: Page,
): Promise<ProfileList> {
  const seen = isBackOffice(caller) ? {} : { purpose: "customers" };
  const of = { store_id: caller.storeId, realm_id: realmId, ...seen };
  const { rows, place } = await readPage(deps.storage, "oidc_profiles", of, page);
  // A realm with a profile is there; only of an empty page it must be asked.
  if (rows.length === 0) await getVisibleRealm(deps, caller, realmId);
  return { profiles: rows.map(profileOf), place, page, realmId };
}

/** Of the first page, which a storefront's login page asks for, an implicit token is shown what memory has: see `readSettings`. */
export function readProfiles(
  deps: { storage: Storage; shownProfiles: GroupCache<ProfileList> },
  caller: Reader,
  realmId: string,
  page: Page,
): Promise<ProfileList> {
  const isFirst = page.offset === 0 && page.after === undefined;
  const read = () => listProfiles(deps, caller, realmId, page);
  if (isBackOffice(caller) || !isFirst) return read();
  return deps.shownProfiles.getOrLoad(caller.storeId, `${realmId} ${page.limit}`, read);
}

/** The enabled profiles of a realm that a shopper may choose from, oldest first. */
export async function listBrokered(db: Database, storeId: string, realmId: string): Promise<Profile[]> {
  const rows = await db
    .selectFrom("oidc_profiles")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("realm_id", "=", realmId)
    .where("enabled", "=", 1)
    .where("flow", "=", "brokered")
    .orderBy("created_at")
    .orderBy("id")
    .limit(atMost(100))
    .execute();
  return rows.map(profileOf);
}
