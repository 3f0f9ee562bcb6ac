import { Problem } from "../contract/problem.ts";
import { atMost } from "../storage/at-most.ts";
import type { Database, Trx } from "../storage/storage.ts";
import { withIssuer } from "./issuer-move.ts";
import type { FormerIssuer } from "./profile.ts";

/**
 * A profile that was deleted leaves its identities behind: which customer each subject was. One that is made again for the
 * same issuer and client id speaks of the same subjects, and may take them over, so that nobody becomes a new customer. The
 * identities stay where they are; the heir's row names the former profile, and whoever looks for an identity looks there, too.
 */
export type Adoptable = { profileId: string; identities: number };

/** The profile that takes over, as far as it matters whose identities are its own. */
type Heir = { id: string; storeId: string; realmId: string; clientId: string; issuer: string };

type Former = { formerIds: readonly string[]; formerIssuers: readonly FormerIssuer[] };

/** Up to here identities are counted; there may be millions. */
const COUNTED_IDENTITIES = 10_000;
const LISTED = 25;

export async function listAdoptable(db: Database, heir: Heir): Promise<Adoptable[]> {
  const spokenFor = await listSpokenFor(db, heir);
  const adoptable: Adoptable[] = [];
  // From one profile id to the next, each by the index: the identities in between are not looked at.
  let profileId = await findNext(db, heir, "");
  while (profileId !== undefined && adoptable.length < LISTED) {
    if (!spokenFor.has(profileId))
      adoptable.push({ profileId, identities: await countIdentities(db, heir, profileId) });
    profileId = await findNext(db, heir, profileId);
  }
  return adoptable;
}

/** Under the lock on the store, so that no two profiles take over the same one. What that one had taken over comes along. */
export async function adoptIdentities(trx: Trx, heir: Heir, formerProfileId: string): Promise<void> {
  const spokenFor = await listSpokenFor(trx, heir);
  const deleted = await readFormer(trx, "deleted_profiles", heir.storeId, formerProfileId);
  const leftBehind: string[] = [];
  for (const profileId of [formerProfileId, ...deleted.ids]) {
    if (!spokenFor.has(profileId) && (await countIdentities(trx, heir, profileId)) > 0)
      leftBehind.push(profileId);
  }
  if (leftBehind.length === 0)
    throw new Problem("adoption_impossible", { source: { pointer: "/data/adopt_identities_of" } });
  const former = await readFormer(trx, "oidc_profiles", heir.storeId, heir.id);
  const issuers = deleted.issuers.reduce(withIssuer, former.issuers);
  await trx
    .updateTable("oidc_profiles")
    .set({
      former_profile_ids: JSON.stringify([...former.ids, ...leftBehind]),
      former_issuers: JSON.stringify(issuers),
    })
    .where("store_id", "=", heir.storeId)
    .where("id", "=", heir.id)
    .execute();
}

/** Called with what a profile had taken over when it is deleted. */
export async function rememberFormer(
  trx: Trx,
  { storeId, id, formerIds, formerIssuers }: Former & { storeId: string; id: string },
): Promise<void> {
  if (formerIds.length === 0 && formerIssuers.length === 0) return;
  await trx
    .insertInto("deleted_profiles")
    .values({
      id,
      store_id: storeId,
      former_profile_ids: JSON.stringify(formerIds),
      former_issuers: JSON.stringify(formerIssuers),
    })
    .execute();
}

async function readFormer(
  trx: Trx,
  table: "oidc_profiles" | "deleted_profiles",
  storeId: string,
  profileId: string,
): Promise<{ ids: string[]; issuers: FormerIssuer[] }> {
  const row = await trx
    .selectFrom(table)
    .select(["former_profile_ids", "former_issuers"])
    .where("store_id", "=", storeId)
    .where("id", "=", profileId)
    .executeTakeFirst();
  return {
    ids: JSON.parse(row?.former_profile_ids ?? "[]"),
    issuers: JSON.parse(row?.former_issuers ?? "[]"),
  };
}

/** The profiles that are there, and those that one of them has taken over for the same client. */
async function listSpokenFor(db: Database, { storeId, realmId, clientId }: Heir): Promise<Set<string>> {
  const rows = await db
    .selectFrom("oidc_profiles")
    .select(["id", "client_id", "former_profile_ids as former"])
    .where("store_id", "=", storeId)
    .where("realm_id", "=", realmId)
    .execute();
  return new Set(
    rows.flatMap(({ id, client_id, former }) => [
      id,
      ...(client_id === clientId ? (JSON.parse(former) as string[]) : []),
    ]),
  );
}

const identitiesOf = (db: Database, { storeId, realmId, issuer, clientId }: Heir) =>
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

async function countIdentities(db: Database, heir: Heir, profileId: string): Promise<number> {
  const some = identitiesOf(db, heir)
    .select("profile_id")
    .where("profile_id", "=", profileId)
    .limit(atMost(COUNTED_IDENTITIES));
  const { total } = await db
    .selectFrom(some.as("some"))
    .select(({ fn }) => fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return total;
}
