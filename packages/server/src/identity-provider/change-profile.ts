import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { findRealm } from "../realms/realm.ts";
import { getSettings, listDirectProfiles } from "../realms/settings.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { changeStore } from "../stores/store.ts";
import { adoptIdentities } from "./adoption.ts";
import type { Metadata } from "./discovery.ts";
import { findProfile, type Profile, type ProfileKey } from "./profile.ts";

export type Row = Tables["oidc_profiles"];

/**
 * The transaction around every write of a profile, under the store's lock. The rules that several profiles must keep together
 * are looked at after the write, on what is there then; a broken one undoes it.
 */
export async function changeProfile(
  deps: { storage: Storage },
  key: ProfileKey,
  { adoptIdentitiesOf }: { adoptIdentitiesOf?: string | undefined },
  write: (trx: Trx) => Promise<unknown>,
): Promise<void> {
  await changeStore(deps, key.storeId, async (trx) => {
    if (!(await findRealm(trx, key.storeId, key.realmId))) throw new Problem("realm_not_found");
    await write(trx);
    const profile = await findProfile(trx, key);
    if (!profile) throw new Problem("profile_not_found");
    await refuseBrokenRules(trx, profile);
    await adopt(trx, key, { ...profile, adoptIdentitiesOf });
  });
}

/** One statement decides: true when the profile was there and what the change depends on was still so. */
export async function writeColumns(
  trx: Trx,
  { clock }: { clock: Clock },
  { storeId, realmId, profileId }: ProfileKey,
  columns: Partial<Row>,
  condition: Partial<Pick<Row, "updated_at" | "pending_metadata">>,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("oidc_profiles")
    .set({ ...columns, updated_at: laterThan("updated_at", clock.now()) })
    .where("store_id", "=", storeId)
    .where("realm_id", "=", realmId)
    .where("id", "=", profileId)
    .where(({ and }) => and(condition))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

async function refuseBrokenRules(trx: Trx, profile: Profile): Promise<void> {
  const { id, storeId, realmId, clientId } = profile;
  if (!profile.enabled || profile.flow !== "direct") return;
  // There only the provider looks at the verifier.
  if (!profile.metadata?.supportsS256)
    throw new Problem("direct_pkce_missing", { source: { pointer: "/data/flow" } });
  const direct = await listDirectProfiles(trx, storeId, realmId);
  if (direct.some((other) => other.id !== id))
    throw new Problem("direct_profile_exists", { source: { pointer: "/data/flow" } });
  const settings = await getSettings({ storage: { db: trx } }, storeId);
  if (settings.clientId !== clientId)
    throw new Problem("direct_client_id_mismatch", { source: { pointer: "/data/client_id" } });
}

async function adopt(
  trx: Trx,
  { storeId, realmId, profileId }: ProfileKey,
  of: { adoptIdentitiesOf?: string | undefined; clientId: string; metadata: Metadata | null },
): Promise<void> {
  if (of.adoptIdentitiesOf === undefined) return;
  const issuer = of.metadata?.issuer ?? "";
  await adoptIdentities(
    trx,
    { id: profileId, storeId, realmId, clientId: of.clientId, issuer },
    of.adoptIdentitiesOf,
  );
}
