import type { Caller } from "../contract/caller.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { GroupCache } from "../lib/cache.ts";
import type { Clock } from "../lib/clock.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { findRealm } from "./realm.ts";
import { presentSettingsMembers } from "./resource.ts";

/** Which realm a store's customers sign in to, and the client id that its storefronts use for that. */
export type AuthenticationSettings = { store_id: string; client_id: string; realm_id: string };
export type SettingsChange = { client_id?: string | undefined; realm_id?: string | undefined };

export const FIRST_CLIENT_ID = "customers";

type Deps = { storage: Storage; clock: Clock };

export async function insertSettings(
  trx: Trx,
  { clock }: { clock: Clock },
  settings: AuthenticationSettings,
): Promise<void> {
  const { store_id: storeId, client_id: clientId, realm_id: realmId } = settings;
  const row = { store_id: storeId, client_id: clientId, realm_id: realmId, updated_at: clock.now() };
  await trx.insertInto("customer_authentication_settings").values(row).execute();
}

export async function getSettings(
  { storage }: { storage: { db: Database } },
  storeId: string,
): Promise<AuthenticationSettings> {
  const row = await findSettings.first(storage.db, { storeId });
  if (!row) throw new Problem("token_invalid");
  return { store_id: storeId, client_id: row.client_id, realm_id: row.realm_id };
}

/**
 * As the API shows them. Storefronts ask for them on every page; with an implicit token, which anybody can have, they come from
 * memory, and so may be as old as a revoked token may be: a second, if another instance has changed them.
 */
export function readSettings(
  deps: { storage: Storage; shownSettings: GroupCache<AuthenticationSettings> },
  { storeId, grant }: Pick<Caller, "storeId" | "grant">,
): Promise<AuthenticationSettings> {
  if (isBackOffice({ grant })) return getSettings(deps, storeId);
  return deps.shownSettings.getOrLoad(storeId, "settings", () => getSettings(deps, storeId));
}

/** A store has one of them, under its own id. */
export async function getSettingsById(
  deps: { storage: { db: Database } },
  storeId: string,
  settingsId: string,
): Promise<AuthenticationSettings> {
  const settings = await getSettings(deps, storeId);
  if (settingsId !== storeId) throw new Problem("settings_not_found");
  return settings;
}

const findSettings = statement((db, of: { storeId: string }) =>
  db.selectFrom("customer_authentication_settings").selectAll().where("store_id", "=", of.storeId),
);

export async function updateSettings(
  deps: Deps & { publicUrl: string },
  by: By,
  change: SettingsChange,
): Promise<AuthenticationSettings> {
  const { storeId } = by;
  await changeStore(deps, storeId, async (trx) => {
    const current = await getSettings({ storage: { db: trx } }, storeId);
    const clientId = change.client_id ?? current.client_id;
    const realmId = change.realm_id ?? current.realm_id;
    // A realm never changes its purpose, so what was looked at here stays so.
    const realm = await findRealm(trx, storeId, realmId);
    if (realm?.purpose !== "customers")
      throw new Problem("realm_unknown", { source: { pointer: "/data/realm_id" } });
    await refuseDirectMismatch(trx, storeId, realmId, clientId);
    await trx
      .updateTable("customer_authentication_settings")
      .set({ client_id: clientId, realm_id: realmId, updated_at: deps.clock.now() })
      .where("store_id", "=", storeId)
      .execute();
    const { relationships: _, ...before } = presentSettingsMembers(deps, current);
    const { relationships, ...after } = presentSettingsMembers(deps, {
      store_id: storeId,
      client_id: clientId,
      realm_id: realmId,
    });
    const changes = changesOf(before, after);
    const resource = { ...after, relationships };
    const updated = { type: "customer_authentication_settings.updated", subject: storeId, resource } as const;
    if (changes) await noteEvents(trx, deps, by, [{ ...updated, changes }]);
  });
  return getSettings(deps, storeId);
}

/** With the direct flow the storefront shows the settings' client id to the identity provider: it must be the profile's. */
async function refuseDirectMismatch(
  trx: Trx,
  storeId: string,
  realmId: string,
  clientId: string,
): Promise<void> {
  const direct = await listDirectProfiles(trx, storeId, realmId);
  if (direct.some((profile) => profile.clientId !== clientId)) {
    throw new Problem("direct_client_id_mismatch", { source: { pointer: "/data/client_id" } });
  }
}

/** The enabled profiles of a realm with the direct flow; the rules allow one. */
export function listDirectProfiles(
  db: Database,
  storeId: string,
  realmId: string,
): Promise<{ id: string; clientId: string }[]> {
  return db
    .selectFrom("oidc_profiles")
    .select(["id", "client_id as clientId"])
    .where("store_id", "=", storeId)
    .where("realm_id", "=", realmId)
    .where("flow", "=", "direct")
    .where("enabled", "=", 1)
    .execute();
}
