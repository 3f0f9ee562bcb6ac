import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import type { Page, Place } from "../lib/condition.ts";
import { readPage } from "../storage/page.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { getStore } from "../stores/administer.ts";
import type { Store } from "../stores/store.ts";

/** The credentials of one of a store's programs, with its reserved share of the store's rate limit. */
export type ApplicationKey = {
  id: string;
  storeId: string;
  name: string;
  clientId: string;
  reservedRateLimit: number;
  lastUsedAt: number | null;
  createdAt: number;
  updatedAt: number;
  /** Those that work now, newest first. */
  secrets: { createdAt: number; lastUsedAt: number | null; expiresAt: number | null }[];
};

/** The secret is known when it is made, and to nobody afterwards. */
export type KeyWithSecret = { key: ApplicationKey; clientSecret: string };

type Deps = { storage: Storage; clock: Clock };
/** Takes a transaction too, so that a change reads its own result back before the next change can follow. */
type ReadDeps = { storage: { db: Database }; clock: Clock };

export async function getApplicationKey(
  deps: ReadDeps,
  storeId: string,
  keyId: string,
): Promise<ApplicationKey> {
  const row = await deps.storage.db
    .selectFrom("application_keys")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("id", "=", keyId)
    .executeTakeFirst();
  if (!row) throw new Problem("application_key_not_found");
  const [key] = await withSecrets(deps.storage.db, storeId, [row], deps.clock.now());
  return key as ApplicationKey;
}

export type KeyList = { keys: ApplicationKey[]; place: Place; page: Page; store: Store };

/** One page, oldest first, with how many there are in all, and the store whose limit they share. */
export async function listApplicationKeys(deps: Deps, storeId: string, page: Page): Promise<KeyList> {
  const { db } = deps.storage;
  const { rows, place } = await readPage(deps.storage, "application_keys", { store_id: storeId }, page);
  const store = await getStore(deps, storeId);
  return { keys: await withSecrets(db, storeId, rows, deps.clock.now()), place, page, store };
}

/** Only what the planner needs, of every key of the store. */
export async function listReservations({ db }: { db: Database }, storeId: string) {
  const rows = await db
    .selectFrom("application_keys")
    .where("store_id", "=", storeId)
    .select(["id as keyId", "name", "reserved_rate_limit as reserved"])
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows;
}

async function withSecrets(
  db: Database,
  storeId: string,
  rows: Tables["application_keys"][],
  now: number,
): Promise<ApplicationKey[]> {
  if (rows.length === 0) return [];
  const secrets = await db
    .selectFrom("application_key_secrets")
    .selectAll()
    .where("store_id", "=", storeId)
    .where(
      "application_key_id",
      "in",
      rows.map((row) => row.id),
    )
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  const byKey = Map.groupBy(secrets, (secret) => secret.application_key_id);
  return rows.map((row) => ({
    id: row.id,
    storeId: row.store_id,
    name: row.name,
    clientId: row.client_id,
    reservedRateLimit: row.reserved_rate_limit,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    secrets: (byKey.get(row.id) ?? []).map((secret) => ({
      createdAt: secret.created_at,
      lastUsedAt: secret.last_used_at,
      expiresAt: secret.expires_at,
    })),
  }));
}
