import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/oidc-profiles.ts";
import type { Input } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { isSealedEmpty } from "../lib/seal.ts";
import { type Metadata, storedMetadata } from "../openid/discovery.ts";
import { getVisibleRealm } from "../realms/account-realm.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

export type ProfileRow = Tables["oidc_profiles"];
/** Columns to write. Kysely leaves out `undefined`. */
export type ProfileColumns = { [Name in keyof ProfileRow]?: ProfileRow[Name] | undefined };

type ParsedColumns = {
  enabled: boolean;
  flow: Flow;
  provisioning: Provisioning;
  /** Whether a shopper who signs out is sent on to the provider. */
  propagate_logout: boolean;
  /** The approved document. Null: no document was accepted yet. */
  metadata: Metadata | null;
  /** Deleted profiles whose identities this profile has taken over. */
  former_profile_ids: readonly string[];
  /** The issuers before a move, where the identities were carried over. */
  former_issuers: readonly FormerIssuer[];
  /** The latest logout token that the provider has signed and Latchkey has refused. */
  refused_logout: { at: number; reason: string } | null;
};

/** An identity provider as a store has configured it for a realm: its row, with these columns parsed. */
export type Profile = Omit<ProfileRow, keyof ParsedColumns> &
  ParsedColumns & {
    /** A document with another issuer or other hosts, which waits for an administrator. */
    pending: { metadata: Metadata; since: number } | null;
    /** Another issuer than the approved one, which the provider's document names. */
    issuerFound: { issuer: string; since: number } | null;
  };

export type FormerIssuer = { issuer: string; clientId: string };
type Flow = "brokered" | "direct";
type Provisioning = "create" | "existing";

export type NewProfile = Input<typeof contract.createProfile>["body"]["data"];
export type ProfileChange = Input<typeof contract.updateProfile>["body"]["data"];
/** `adopt_identities_of`: the profile's own id to carry its identities over, or null to leave them behind. */
export type MoveChoice = Pick<ProfileChange, "adopt_identities_of" | "confirm">;

export const formerOf = (
  row: Pick<ProfileRow, "former_profile_ids" | "former_issuers">,
): Pick<Profile, "former_profile_ids" | "former_issuers"> => ({
  former_profile_ids: JSON.parse(row.former_profile_ids),
  former_issuers: JSON.parse(row.former_issuers ?? "[]"),
});

export const profileOf = (row: ProfileRow): Profile => ({
  ...row,
  ...formerOf(row),
  enabled: row.enabled === 1,
  flow: row.flow as Flow,
  provisioning: row.provisioning as Provisioning,
  propagate_logout: row.propagate_logout === 1,
  metadata: row.metadata === null ? null : storedMetadata(row.metadata),
  pending:
    row.pending_metadata === null
      ? null
      : { metadata: storedMetadata(row.pending_metadata), since: row.pending_since ?? 0 },
  issuerFound:
    row.issuer_found === null ? null : { issuer: row.issuer_found, since: row.issuer_found_at ?? 0 },
  refused_logout: row.refused_logout === null ? null : JSON.parse(row.refused_logout),
});

/** A disabled profile may have none: an empty text is sealed, which the release before can read, too. */
export const hasSecret = ({ sealed_client_secret: sealed }: Pick<Profile, "sealed_client_secret">): boolean =>
  !isSealedEmpty(sealed);

/** Store, realm and id: every query names all three. */
export type ProfileKey = { storeId: string; realmId: string; profileId: string };

export type ProfileIds = { realm: string; id: string };

export const profileKey = ({ storeId }: { storeId: string }, { realm, id }: ProfileIds): ProfileKey => ({
  storeId,
  realmId: realm,
  profileId: id,
});

export const keyOf = (of: Pick<Profile, "store_id" | "realm_id" | "id">): ProfileKey => ({
  storeId: of.store_id,
  realmId: of.realm_id,
  profileId: of.id,
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

/** The statement that writes columns of one profile. The caller may add conditions. */
export const profileUpdate = (
  db: Database,
  { store_id, id }: Pick<ProfileRow, "store_id" | "id">,
  columns: ProfileColumns,
) => db.updateTable("oidc_profiles").set(columns).where("store_id", "=", store_id).where("id", "=", id);

/** For a command, which knows only the profile's id. */
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

/** By default as the back office, which also sees the profiles of the members' realm. */
export async function getProfile(
  deps: { storage: Storage },
  key: ProfileKey,
  { grant }: Pick<Caller, "grant"> = { grant: "client_credentials" },
): Promise<Profile> {
  await getVisibleRealm(deps, { grant, storeId: key.storeId }, key.realmId);
  const profile = await findProfile(deps.storage.db, key);
  if (!profile) throw new Problem("profile_not_found");
  return profile;
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
