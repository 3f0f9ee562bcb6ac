import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { type EventDraft, noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { findRealm, type Realm } from "../realms/realm.ts";
import { getSettings, listDirectProfiles } from "../realms/settings.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { adoptIdentities } from "./adopt-identities.ts";
import type { Calls } from "./calls.ts";
import { isSame } from "./drift.ts";
import { driftEvent, profileEvent, shown } from "./events.ts";
import {
  findProfile,
  type Profile,
  type ProfileChange,
  type ProfileColumns,
  type ProfileKey,
  type ProfileRow,
} from "./profile.ts";

type Deps = { storage: Storage; clock: Clock; calls: Pick<Calls, "healthOf"> };

/** Facts about the write that its columns do not show; the rules and the events need them. */
type ProfileWrite = Pick<ProfileChange, "adopt_identities_of" | "client_secret" | "client_secret_next"> & {
  /** The document that waited is approved. */
  isApproval?: true;
  /** The issuer becomes another. */
  isRenamed?: boolean;
};

/**
 * The transaction around every write of a profile, under the store's lock. The rules that the profiles of a realm must
 * keep together are checked after the write, on the rows as they are then; a broken rule rolls the transaction back.
 */
export async function changeProfile(
  deps: Deps,
  by: By,
  key: ProfileKey,
  change: ProfileWrite,
  write: (trx: Trx, before: Profile | undefined) => Promise<unknown>,
): Promise<void> {
  const { adopt_identities_of: adoptIdentitiesOf } = change;
  await changeStore(deps, key.storeId, async (trx) => {
    const realm = await findRealm(trx, key.storeId, key.realmId);
    if (!realm) throw new Problem("realm_not_found");
    const before = await findProfile(trx, key);
    await write(trx, before);
    const profile = await findProfile(trx, key);
    if (!profile) throw new Problem("profile_not_found");
    await refuseBrokenRules(trx, profile, realm);
    // The profile's own id beside another issuer: the choice to carry its identities over. `write` has written it.
    const isChoice = change.isRenamed && adoptIdentitiesOf === profile.id;
    const issuer = profile.metadata?.issuer ?? "";
    if (adoptIdentitiesOf && !isChoice)
      await adoptIdentities(trx, { ...profile, issuer, clientId: profile.client_id }, adoptIdentitiesOf);
    await noteEvents(trx, deps, by, profileEvents(deps, change, before, profile));
  });
}

function profileEvents(
  deps: Deps,
  change: ProfileWrite,
  before: Profile | undefined,
  after: Profile,
): EventDraft[] {
  if (!before) return [profileEvent(deps, "oidc_profile.created", after)];
  const changes = {
    ...changesOf(shown(deps, before), shown(deps, after), [
      ...(change.client_secret === undefined ? [] : ["client_secret"]),
      ...(change.client_secret_next === undefined ? [] : ["client_secret_next"]),
    ]),
    ...(change.adopt_identities_of && {
      adopt_identities_of: { before: null, after: change.adopt_identities_of },
    }),
  };
  const happened: EventDraft[] = [];
  if (change.isApproval) happened.push(driftEvent(deps, "oidc_profile.drift_approved", before, after));
  if (Object.keys(changes).length > 0)
    happened.push({ ...profileEvent(deps, "oidc_profile.updated", after), changes });
  if (after.pending && (!before.pending || !isSame(before.pending.metadata, after.pending.metadata)))
    happened.push(driftEvent(deps, "oidc_profile.drift_detected", before, after));
  return happened;
}

/** A single statement decides: true when the profile exists and still has the values of `condition`. */
export async function writeColumns(
  trx: Trx,
  { clock }: { clock: Clock },
  { storeId, realmId, profileId }: ProfileKey,
  columns: ProfileColumns,
  condition: Partial<Pick<ProfileRow, "updated_at" | "pending_metadata">>,
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

async function refuseBrokenRules(trx: Trx, profile: Profile, realm: Realm): Promise<void> {
  const { id, store_id: storeId, realm_id: realmId, client_id: clientId } = profile;
  if (!profile.enabled || profile.flow !== "direct") return;
  if (realm.purpose === "members")
    throw new Problem("members_profile_direct", { source: { pointer: "/data/flow" } });
  // In the direct flow only the provider checks the PKCE verifier.
  if (!profile.metadata?.supportsS256)
    throw new Problem("direct_pkce_missing", { source: { pointer: "/data/flow" } });
  const direct = await listDirectProfiles(trx, storeId, realmId);
  if (direct.some((other) => other.id !== id))
    throw new Problem("direct_profile_exists", { source: { pointer: "/data/flow" } });
  const settings = await getSettings({ storage: { db: trx } }, storeId);
  if (settings.client_id !== clientId)
    throw new Problem("direct_client_id_mismatch", { source: { pointer: "/data/client_id" } });
}
