import { Problem } from "../contract/problem.ts";
import type { Database, Trx } from "../storage/storage.ts";

/**
 * A profile that was deleted leaves its identities behind: which customer each subject was. One that is made again for the
 * same issuer and client id speaks of the same subjects, and may take them over, so that nobody becomes a new customer.
 */
export type Adoptable = { profileId: string; identities: number };

/** The profile that takes over, as far as it matters whose identities are its own. */
type Heir = { id: string; storeId: string; realmId: string; clientId: string; issuer: string };

export async function listAdoptable(db: Database, heir: Heir): Promise<Adoptable[]> {
  // The heir's own identities, which may be millions, stand between the two and are not looked at.
  const before = await countOrphans(db, heir, "<");
  const after = await countOrphans(db, heir, ">");
  return [...before, ...after];
}

const countOrphans = (db: Database, heir: Heir, side: "<" | ">"): Promise<Adoptable[]> =>
  orphans(db, heir)
    .where("identity.profile_id", side, heir.id)
    .groupBy("identity.profile_id")
    .select(["identity.profile_id as profileId", ({ fn }) => fn.countAll<number>().as("identities")])
    .orderBy("profileId")
    .execute();

const orphans = (db: Database, { storeId, realmId, issuer, clientId }: Heir) =>
  db
    .selectFrom("customer_identities as identity")
    .where("identity.store_id", "=", storeId)
    .where("identity.realm_id", "=", realmId)
    .where("identity.issuer", "=", issuer)
    .where("identity.client_id", "=", clientId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("oidc_profiles as profile")
            .select("profile.id")
            .where("profile.store_id", "=", storeId)
            .whereRef("profile.id", "=", "identity.profile_id"),
        ),
      ),
    );

/** Those whom the heir has met already stay who they are. */
export async function adoptIdentities(trx: Trx, heir: Heir, formerProfileId: string): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable("customer_identities")
    .set({ profile_id: heir.id })
    .where("store_id", "=", heir.storeId)
    .where(
      "id",
      "in",
      orphans(trx, heir).where("identity.profile_id", "=", formerProfileId).select("identity.id"),
    )
    .where("subject", "not in", ({ selectFrom }) =>
      selectFrom("customer_identities as known")
        .select("known.subject")
        .where("known.store_id", "=", heir.storeId)
        .where("known.profile_id", "=", heir.id),
    )
    .executeTakeFirst();
  if (numUpdatedRows === 0n) {
    throw new Problem("adoption_impossible", { source: { pointer: "/data/adopt_identities_of" } });
  }
}
