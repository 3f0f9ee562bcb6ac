import { Problem } from "../contract/problem.ts";
import { byOperator } from "../events/event.ts";
import { removeProfile } from "../profiles/administer.ts";
import { profileEvent } from "../profiles/events.ts";
import { profileOf } from "../profiles/profile.ts";
import { deleteRealm } from "../realms/administer.ts";
import { realmOf } from "../realms/realm.ts";
import { realmResource } from "../realms/resource.ts";
import type { Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import {
  type Changed,
  carryDifferences,
  changeAndNote,
  type Deps,
  listGone,
  listStoreIds,
  type Owned,
  pagesOf,
  type Replaced,
} from "./replaced.ts";

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
export async function carryRealms(deps: Deps, replaced: Replaced) {
  const { storage } = deps;
  const counts = { profiles: 0, realms: 0 };
  for await (const page of pagesOf(storage, "oidc_profiles")) {
    const gone = await listGone(replaced, "oidc_profiles", page);
    for (const profile of gone) await storage.transact((trx) => deleteProfile(trx, deps, profile));
    counts.profiles += gone.length;
    counts.profiles += await carryDifferences(deps, replaced, "oidc_profiles", TRUST, page, changeProfile);
  }
  await carrySettings(deps, replaced);
  for await (const page of pagesOf(storage, "authentication_realms")) {
    const gone = await listGone(replaced, "authentication_realms", page);
    for (const realm of gone) await removeRealm(deps, realm);
    counts.realms += gone.length;
    counts.realms += await carryDifferences(
      deps,
      replaced,
      "authentication_realms",
      RULES,
      page,
      changeRealm,
    );
  }
  return counts;
}

/** A realm that the settings still name cannot be deleted, so it stays without redirect URIs. */
async function removeRealm(deps: Deps, { id, store_id }: Owned): Promise<void> {
  try {
    await deleteRealm(deps, byOperator(store_id), id);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const columns = { redirect_uris: "[]" };
    await deps.storage.transact((trx) => changeRealm(trx, deps, { id, store_id, columns }));
  }
}

/** A command does not call providers, so it knows nothing of their health. */
const calls = { healthOf: () => undefined };

async function deleteProfile(trx: Trx, deps: Deps, { id, store_id }: Owned): Promise<void> {
  const row = await trx
    .selectFrom("oidc_profiles")
    .selectAll()
    .where("store_id", "=", store_id)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row) await removeProfile(trx, deps, byOperator(store_id), profileOf(row));
}

function changeProfile(trx: Trx, deps: Deps, profile: Changed<Tables["oidc_profiles"]>): Promise<void> {
  const { columns } = profile;
  const secrets = [
    ...("sealed_client_secret" in columns ? ["client_secret"] : []),
    ...("sealed_client_secret_next" in columns ? ["client_secret_next"] : []),
  ];
  const seen = { calls, clock: deps.clock };
  const eventOf = (row: Tables["oidc_profiles"]) =>
    profileEvent(seen, "oidc_profile.updated", profileOf(row));
  return changeAndNote(trx, deps, "oidc_profiles", profile, eventOf, secrets);
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

const changeRealm = (trx: Trx, deps: Deps, realm: Changed<Tables["authentication_realms"]>): Promise<void> =>
  changeAndNote(trx, deps, "authentication_realms", realm, (row) => ({
    type: "authentication_realm.updated",
    subject: realm.id,
    resource: realmResource(realmOf(row)),
  }));
