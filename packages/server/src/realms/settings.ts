import type { Caller } from "../contract/caller.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import type { GroupCache } from "../lib/cache.ts";
import type { Clock } from "../lib/clock.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** The realm that a store's customers sign in to, and the client id that its storefronts use there. */
export type AuthenticationSettings = Omit<Tables["customer_authentication_settings"], "updated_at">;

export const FIRST_CLIENT_ID = "customers";

type SettingsDeps = { storage: Storage; shownSettings: GroupCache<AuthenticationSettings> };

export async function insertSettings(
  trx: Trx,
  { clock }: { clock: Clock },
  settings: AuthenticationSettings,
): Promise<void> {
  const row = { ...settings, updated_at: clock.now() };
  await trx.insertInto("customer_authentication_settings").values(row).execute();
}

export async function getSettings(
  { storage }: { storage: { db: Database } },
  storeId: string,
): Promise<AuthenticationSettings> {
  const row = await findSettings.first(storage.db, { storeId });
  if (!row) throw new Problem("token_invalid");
  return row;
}

/**
 * Storefronts read the settings on every page, with implicit tokens, so they are read from memory. After a change by
 * another instance they can be one second old.
 */
export function readSettings(
  deps: SettingsDeps,
  { storeId, grant }: Pick<Caller, "storeId" | "grant">,
): Promise<AuthenticationSettings> {
  if (isBackOffice({ grant })) return getSettings(deps, storeId);
  return deps.shownSettings.getOrLoad(storeId, "settings", () => getSettings(deps, storeId));
}

const findSettings = statement((db, of: { storeId: string }) =>
  db
    .selectFrom("customer_authentication_settings")
    .select(["store_id", "client_id", "realm_id"])
    .where("store_id", "=", of.storeId),
);

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
