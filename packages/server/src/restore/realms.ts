import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import { byOperator } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { removeProfile } from "../profiles/administer.ts";
import { profileEvent, shown } from "../profiles/events.ts";
import { profileOf } from "../profiles/profile.ts";
import { deleteRealm } from "../realms/administer.ts";
import { realmOf } from "../realms/realm.ts";
import { realmResource } from "../realms/resource.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import {
  changeRow,
  listDifferent,
  listGone,
  listStoreIds,
  type Owned,
  pagesOf,
  type Replaced,
} from "./replaced.ts";

type Deps = { storage: Storage; clock: Clock };
type CarriedCounts = { profiles: number; realms: number };

/** The columns that decide which provider a profile trusts. Its name is as in the backup. */
const TRUST = [
  "enabled",
  "discovery_url",
  "client_id",
  "sealed_client_secret",
  "sealed_client_secret_next",
  "flow",
  "provisioning",
  "metadata",
  "pending_metadata",
  "pending_since",
  "former_profile_ids",
  "former_issuers",
  "issuer_found",
  "issuer_found_at",
  "propagate_logout",
] as const;

/** The columns for redirect URIs and for two customers with one e-mail. */
const RULES = ["redirect_uris", "duplicate_email_policy", "profile_updates"] as const;

/** Profiles before realms: a realm with a profile, or in the settings, cannot be deleted. */
export async function carryRealms(deps: Deps, replaced: Replaced): Promise<CarriedCounts> {
  const { storage } = deps;
  const counts = { profiles: 0, realms: 0 };
  for await (const page of pagesOf(storage, "oidc_profiles")) {
    const gone = await listGone(replaced, "oidc_profiles", "oidc_profile.deleted", page);
    for (const { id, store_id } of gone)
      await storage.transact((trx) => deleteProfile(trx, deps, { id, store_id }));
    counts.profiles += gone.length + (await carryTrust(deps, replaced, page));
  }
  await carrySettings(deps, replaced);
  for await (const page of pagesOf(storage, "authentication_realms")) {
    const gone = await listGone(replaced, "authentication_realms", "authentication_realm.deleted", page);
    for (const realm of gone) await removeRealm(deps, realm);
    counts.realms += gone.length + (await carryRules(deps, replaced, page));
  }
  return counts;
}

/** A realm that the settings still name cannot be deleted, so it stays without redirect URIs. */
async function removeRealm(deps: Deps, { id, store_id }: Owned): Promise<void> {
  try {
    await deleteRealm(deps, byOperator(store_id), id);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await deps.storage.transact((trx) => changeRealm(trx, deps, { id, store_id }, { redirect_uris: "[]" }));
  }
}

/** A command does not call providers, so it knows nothing of their health. */
const calls = { healthOf: () => undefined };

async function deleteProfile(trx: Trx, deps: Deps, { id, store_id }: Owned): Promise<void> {
  const row = await profileRow(trx, { id, store_id }).executeTakeFirst();
  if (row) await removeProfile(trx, deps, byOperator(store_id), profileOf(row));
}

const profileRow = (trx: Trx, { id, store_id }: Owned) =>
  trx.selectFrom("oidc_profiles").selectAll().where("store_id", "=", store_id).where("id", "=", id);

async function carryTrust(deps: Deps, replaced: Replaced, page: readonly Owned[]): Promise<number> {
  const changed = await listDifferent(deps.storage, replaced, "oidc_profiles", TRUST, page);
  for (const profile of changed)
    await deps.storage.transact((trx) => changeProfile(trx, deps, profile, profile.columns));
  return changed.length;
}

async function changeProfile(
  trx: Trx,
  deps: Deps,
  profile: Owned,
  columns: Partial<Tables["oidc_profiles"]>,
): Promise<void> {
  const rows = await changeRow(trx, deps, "oidc_profiles", profile, columns);
  const [before, after] = [profileOf(rows.before), profileOf(rows.after)];
  const secrets = [
    ...("sealed_client_secret" in columns ? ["client_secret"] : []),
    ...("sealed_client_secret_next" in columns ? ["client_secret_next"] : []),
  ];
  const seen = { calls, clock: deps.clock };
  const changes = changesOf(shown(seen, before), shown(seen, after), secrets);
  if (changes)
    await noteEvents(trx, deps, byOperator(profile.store_id), [
      { ...profileEvent(seen, "oidc_profile.updated", after), changes },
    ]);
}

/** The realm that customers sign in to, if the backup has it. */
async function carrySettings(
  { storage, clock }: Deps,
  { storage: from, columnsOf }: Replaced,
): Promise<void> {
  if (columnsOf("customer_authentication_settings").size === 0) return;
  for (const storeId of await listStoreIds(storage)) {
    const now = await from.db
      .selectFrom("customer_authentication_settings")
      .select(["client_id", "realm_id"])
      .where("store_id", "=", storeId)
      .executeTakeFirst();
    if (!now) continue;
    await storage.db
      .updateTable("customer_authentication_settings")
      .set({ ...now, updated_at: clock.now() })
      .where("store_id", "=", storeId)
      .where((of) =>
        of.exists(
          of
            .selectFrom("authentication_realms as realm")
            .select("realm.id")
            .where("realm.store_id", "=", storeId)
            .where("realm.id", "=", now.realm_id),
        ),
      )
      .where((of) => of.or([of("client_id", "<>", now.client_id), of("realm_id", "<>", now.realm_id)]))
      .execute();
  }
}

async function carryRules(deps: Deps, replaced: Replaced, page: readonly Owned[]): Promise<number> {
  const changed = await listDifferent(deps.storage, replaced, "authentication_realms", RULES, page);
  for (const realm of changed)
    await deps.storage.transact((trx) => changeRealm(trx, deps, realm, realm.columns));
  return changed.length;
}

async function changeRealm(
  trx: Trx,
  deps: Deps,
  realm: Owned,
  columns: Partial<Tables["authentication_realms"]>,
): Promise<void> {
  const { before, after } = await changeRow(trx, deps, "authentication_realms", realm, columns);
  const resource = realmResource(realmOf(after));
  const changes = changesOf(realmResource(realmOf(before)), resource);
  if (changes)
    await noteEvents(trx, deps, byOperator(realm.store_id), [
      { type: "authentication_realm.updated", subject: realm.id, resource, changes },
    ]);
}
