import { Problem } from "../contract/problem.ts";
import { atMost } from "../storage/at-most.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { COUNTED, countOf, withIssuer } from "./issuer-move.ts";
import type { FormerIssuer, Profile } from "./profile.ts";

/**
 * A profile that was deleted leaves its identities behind: which customer each subject was. One that is made again for the
 * same issuer and client id speaks of the same subjects, and may take them over, so that nobody becomes a new customer. The
 * identities stay where they are; the heir's row names the former profile, and whoever looks for an identity looks there, too.
 */
export type Adoptable = { profileId: string; identities: number };

/** The profile that takes over, as far as it matters whose identities are its own. */
type Heir = FormerIssuer & { id: string; store_id: string; realm_id: string };

type Former = { ids: readonly string[]; issuers: readonly FormerIssuer[] };

const LISTED = 25;
/** Deleted profiles that are looked at, the latest first. */
const REMEMBERED = 100;

export async function listAdoptable(db: Database, heir: Heir): Promise<Adoptable[]> {
  const speakers = await listSpeakers(db, heir);
  const adoptable = new Map<string, Adoptable>();
  const offer = async (profileId: string, former: Former) => {
    const left = await listLeftBehind(db, heir, speakers, profileId, former);
    const others = left.filter((one) => one.profileId === profileId || !adoptable.has(one.profileId));
    const identities = Math.min(
      others.reduce((sum, one) => sum + one.identities, 0),
      COUNTED,
    );
    if (identities > 0 && adoptable.size < LISTED) adoptable.set(profileId, { profileId, identities });
  };
  // From one profile id to the next, each by the index: the identities in between are not looked at.
  let profileId = await findNext(db, heir, "");
  while (profileId !== undefined && adoptable.size < LISTED) {
    await offer(profileId, { ids: [], issuers: [] });
    profileId = await findNext(db, heir, profileId);
  }
  for (const { id, ...former } of await listDeletedAs(db, heir)) await offer(id, former);
  return [...adoptable.values()].sort((one, other) => (one.profileId < other.profileId ? -1 : 1));
}

/** Under the lock on the store, so that no two profiles take over the same one. What that one had taken over comes along. */
export async function adoptIdentities(trx: Trx, heir: Heir, formerProfileId: string): Promise<void> {
  const deleted = await readFormer(trx, "deleted_profiles", heir.store_id, formerProfileId);
  const leftBehind = await listLeftBehind(trx, heir, await listSpeakers(trx, heir), formerProfileId, deleted);
  if (leftBehind.length === 0)
    throw new Problem("adoption_impossible", { source: { pointer: "/data/adopt_identities_of" } });
  const former = await readFormer(trx, "oidc_profiles", heir.store_id, heir.id);
  const issuers = deleted.issuers
    .reduce(withIssuer, [...former.issuers])
    .filter((one) => !isNamed(one, heir));
  await trx
    .updateTable("oidc_profiles")
    .set({
      former_profile_ids: JSON.stringify([...former.ids, ...leftBehind.map(({ profileId }) => profileId)]),
      former_issuers: JSON.stringify(issuers),
    })
    .where("store_id", "=", heir.store_id)
    .where("id", "=", heir.id)
    .execute();
}

const isNamed = (one: FormerIssuer, { issuer, clientId }: FormerIssuer): boolean =>
  one.issuer === issuer && one.clientId === clientId;

const hadInTheEnd = (issuers: readonly FormerIssuer[], heir: Heir): boolean =>
  issuers.slice(-1).some((last) => isNamed(last, heir));

/**
 * Of a deleted profile and those that it had taken over, which have people that nobody else speaks for. They are looked for under the
 * heir's issuer and client; where the deleted profile had these two in the end, also under those that it had before.
 */
async function listLeftBehind(
  db: Database,
  heir: Heir,
  speakers: readonly Speaker[],
  formerProfileId: string,
  { ids, issuers }: Former,
): Promise<Adoptable[]> {
  const names = hadInTheEnd(issuers, heir) ? issuers : [heir];
  const left: Adoptable[] = [];
  for (const profileId of [formerProfileId, ...ids]) {
    if (speakers.some((speaker) => speaksFor(speaker, profileId, names))) continue;
    let identities = 0;
    for (const { issuer, clientId } of names)
      identities += await countIdentities(db, { ...heir, issuer, clientId }, profileId);
    if (identities > 0) left.push({ profileId, identities });
  }
  return left;
}

type Deleted = Pick<
  Profile,
  "id" | "store_id" | "client_id" | "metadata" | "former_profile_ids" | "former_issuers"
>;

/** What a profile had taken over when it is deleted, or was called before, with what it was called in the end. */
export async function rememberFormer(trx: Trx, deleted: Deleted): Promise<void> {
  const {
    id,
    store_id: storeId,
    client_id: clientId,
    metadata,
    former_profile_ids: formerIds,
    former_issuers: formerIssuers,
  } = deleted;
  if (formerIds.length === 0 && formerIssuers.length === 0) return;
  const issuers = metadata ? withIssuer(formerIssuers, { issuer: metadata.issuer, clientId }) : formerIssuers;
  await trx
    .insertInto("deleted_profiles")
    .values({
      id,
      store_id: storeId,
      former_profile_ids: JSON.stringify(formerIds),
      former_issuers: JSON.stringify(issuers),
    })
    .execute();
}

/** Deleted profiles that had the heir's issuer and client in the end, the oldest first: whom one has left behind, a later one had taken over. */
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
    .map((row) => ({ id: row.id, ...formerIn(row) }))
    .filter(({ issuers }) => hadInTheEnd(issuers, heir));
}

const formerIn = (
  row: Pick<Tables["deleted_profiles"], "former_profile_ids" | "former_issuers">,
): Former => ({
  ids: JSON.parse(row.former_profile_ids),
  issuers: JSON.parse(row.former_issuers ?? "[]"),
});

async function readFormer(
  trx: Trx,
  table: "oidc_profiles" | "deleted_profiles",
  storeId: string,
  profileId: string,
): Promise<Former> {
  const row = await trx
    .selectFrom(table)
    .select(["former_profile_ids", "former_issuers"])
    .where("store_id", "=", storeId)
    .where("id", "=", profileId)
    .executeTakeFirst();
  return row ? formerIn(row) : { ids: [], issuers: [] };
}

/** A profile that is there: it speaks for itself, and for those that it has taken over, by the clients that it has and had. */
type Speaker = { id: string; ids: readonly string[]; clientIds: readonly string[] };

const speaksFor = ({ id, ids, clientIds }: Speaker, profileId: string, names: readonly FormerIssuer[]) =>
  id === profileId || (ids.includes(profileId) && names.some(({ clientId }) => clientIds.includes(clientId)));

async function listSpeakers(
  db: Database,
  { store_id: storeId, realm_id: realmId }: Heir,
): Promise<Speaker[]> {
  const rows = await db
    .selectFrom("oidc_profiles")
    .select(["id", "client_id", "former_profile_ids", "former_issuers"])
    .where("store_id", "=", storeId)
    .where("realm_id", "=", realmId)
    .execute();
  return rows.map((row) => {
    const { ids, issuers } = formerIn(row);
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
