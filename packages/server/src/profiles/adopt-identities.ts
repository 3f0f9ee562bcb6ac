import { Problem } from "../contract/problem.ts";
import { atMost } from "../storage/at-most.ts";
import type { Database, Trx } from "../storage/storage.ts";
import { COUNTED, countOf, withIssuer } from "./issuer-move.ts";
import { type FormerIssuer, formerOf, type Profile, profileUpdate } from "./profile.ts";

/**
 * A deleted profile leaves its identities behind: which subject is which customer. A new profile for the same issuer
 * and client id, the heir, has the same subjects and may take the identities over, so that no customer becomes a new
 * one. The identity rows stay as they are; the heir's row names the former profile, and every search for an identity
 * looks under former profiles, too.
 */
export type Adoptable = { profile_id: string; identities: number };

/** The profile that takes over. */
type Heir = FormerIssuer & { id: string; store_id: string; realm_id: string };

/** The deleted profiles that a profile has taken over, and the issuers that it had. */
type Former = ReturnType<typeof formerOf>;

const LISTED = 25;
/** Deleted profiles that are searched, the latest first. */
const REMEMBERED = 100;

export async function listAdoptable(db: Database, heir: Heir): Promise<Adoptable[]> {
  const owners = await listOwners(db, heir);
  const adoptable = new Map<string, Adoptable>();
  const offer = async (profileId: string, former: Former) => {
    const left = await listLeftBehind(db, heir, owners, profileId, former);
    const others = left.filter((one) => one.profile_id === profileId || !adoptable.has(one.profile_id));
    const identities = Math.min(
      others.reduce((sum, one) => sum + one.identities, 0),
      COUNTED,
    );
    if (identities > 0 && adoptable.size < LISTED)
      adoptable.set(profileId, { profile_id: profileId, identities });
  };
  // From one profile id to the next, each by the index: the identities in between are not read.
  let profileId = await findNext(db, heir, "");
  while (profileId !== undefined && adoptable.size < LISTED) {
    await offer(profileId, NOTHING);
    profileId = await findNext(db, heir, profileId);
  }
  for (const deleted of await listDeletedAs(db, heir)) await offer(deleted.id, deleted);
  return [...adoptable.values()].sort((one, other) => (one.profile_id < other.profile_id ? -1 : 1));
}

/** Runs under the store's lock, so that no two profiles take over the same one. */
export async function adoptIdentities(trx: Trx, heir: Heir & Former, formerProfileId: string): Promise<void> {
  const deleted = await readFormer(trx, heir.store_id, formerProfileId);
  const leftBehind = await listLeftBehind(trx, heir, await listOwners(trx, heir), formerProfileId, deleted);
  if (leftBehind.length === 0)
    throw new Problem("adoption_impossible", { source: { pointer: "/data/adopt_identities_of" } });
  const issuers = deleted.former_issuers.reduce(withIssuer, [...heir.former_issuers]);
  const profileIds = [...heir.former_profile_ids, ...leftBehind.map(({ profile_id }) => profile_id)];
  await profileUpdate(trx, heir, {
    former_profile_ids: JSON.stringify(profileIds),
    former_issuers: JSON.stringify(issuers.filter((one) => !isNamed(one, heir))),
  }).execute();
}

const isNamed = (one: FormerIssuer, { issuer, clientId }: FormerIssuer): boolean =>
  one.issuer === issuer && one.clientId === clientId;

const hadInTheEnd = (issuers: readonly FormerIssuer[], heir: Heir): boolean =>
  issuers.slice(-1).some((last) => isNamed(last, heir));

/**
 * A deleted profile and the profiles that it had taken over, if they have identities that no existing profile has.
 * Searches by the heir's issuer and client id. If these were also the deleted profile's last ones, searches by its
 * earlier ones too.
 */
async function listLeftBehind(
  db: Database,
  heir: Heir,
  owners: readonly IdentityOwner[],
  formerProfileId: string,
  { former_profile_ids: ids, former_issuers: issuers }: Former,
): Promise<Adoptable[]> {
  const names = hadInTheEnd(issuers, heir) ? issuers : [heir];
  const left: Adoptable[] = [];
  for (const profileId of [formerProfileId, ...ids]) {
    if (owners.some((owner) => owns(owner, profileId, names))) continue;
    let identities = 0;
    for (const { issuer, clientId } of names)
      identities += await countIdentities(db, { ...heir, issuer, clientId }, profileId);
    if (identities > 0) left.push({ profile_id: profileId, identities });
  }
  return left;
}

/** Stores a deleted profile's former profiles and issuers, and its last issuer, if there are any. */
export async function rememberFormer(trx: Trx, deleted: Profile): Promise<void> {
  const { id, store_id, client_id: clientId, metadata, former_profile_ids, former_issuers } = deleted;
  if (former_profile_ids.length === 0 && former_issuers.length === 0) return;
  const { issuer } = metadata ?? {};
  const issuers = issuer === undefined ? former_issuers : withIssuer(former_issuers, { issuer, clientId });
  await trx
    .insertInto("deleted_profiles")
    .values({
      id,
      store_id,
      former_profile_ids: JSON.stringify(former_profile_ids),
      former_issuers: JSON.stringify(issuers),
    })
    .execute();
}

/** Deleted profiles that had the heir's issuer and client in the end, oldest first. */
async function listDeletedAs(db: Database, heir: Heir): Promise<(Former & { id: string })[]> {
  const rows = await db
    .selectFrom("deleted_profiles")
    .select(["id", "former_profile_ids", "former_issuers"])
    .where("store_id", "=", heir.store_id)
    .orderBy("id", "desc")
    .limit(atMost(REMEMBERED))
    .execute();
  return rows
    .toReversed()
    .map((row) => ({ id: row.id, ...formerOf(row) }))
    .filter(({ former_issuers }) => hadInTheEnd(former_issuers, heir));
}

const NOTHING: Former = { former_profile_ids: [], former_issuers: [] };

async function readFormer(trx: Trx, storeId: string, profileId: string): Promise<Former> {
  const row = await trx
    .selectFrom("deleted_profiles")
    .select(["former_profile_ids", "former_issuers"])
    .where("store_id", "=", storeId)
    .where("id", "=", profileId)
    .executeTakeFirst();
  return row ? formerOf(row) : NOTHING;
}

/**
 * An existing profile with the ids of the profiles that it has taken over, and with its present and former client ids.
 */
type IdentityOwner = { id: string; ids: readonly string[]; clientIds: readonly string[] };

/** Whether the identities of a profile under one of these clients belong to this owner. */
const owns = ({ id, ids, clientIds }: IdentityOwner, profileId: string, names: readonly FormerIssuer[]) =>
  id === profileId || (ids.includes(profileId) && names.some(({ clientId }) => clientIds.includes(clientId)));

async function listOwners(
  db: Database,
  { store_id: storeId, realm_id: realmId }: Heir,
): Promise<IdentityOwner[]> {
  const rows = await db
    .selectFrom("oidc_profiles")
    .select(["id", "client_id", "former_profile_ids", "former_issuers"])
    .where("store_id", "=", storeId)
    .where("realm_id", "=", realmId)
    .execute();
  return rows.map((row) => {
    const { former_profile_ids: ids, former_issuers: issuers } = formerOf(row);
    return { id: row.id, ids, clientIds: [row.client_id, ...issuers.map(({ clientId }) => clientId)] };
  });
}

const identitiesOf = (db: Database, { store_id: storeId, realm_id: realmId, issuer, clientId }: Heir) =>
  db
    .selectFrom("customer_identities")
    .where("store_id", "=", storeId)
    .where("realm_id", "=", realmId)
    .where("issuer", "=", issuer)
    .where("client_id", "=", clientId);

async function findNext(db: Database, heir: Heir, afterProfileId: string): Promise<string | undefined> {
  const row = await identitiesOf(db, heir)
    .select("profile_id")
    .where("profile_id", ">", afterProfileId)
    .orderBy("profile_id")
    .limit(atMost(1))
    .executeTakeFirst();
  return row?.profile_id;
}

const countIdentities = (db: Database, heir: Heir, profileId: string): Promise<number> =>
  countOf(
    db,
    identitiesOf(db, heir).select("profile_id").where("profile_id", "=", profileId).limit(atMost(COUNTED)),
  );
