import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import type { OpenidClient } from "../contract/openid-client.ts";
import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import type { Clock } from "../lib/clock.ts";
import type { Condition, Page, Place } from "../lib/condition.ts";
import { readPage } from "../storage/lists/page.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { getStore } from "../stores/administer.ts";
import type { Store } from "../stores/store.ts";

/** The credentials of one of a store's programs, with its reserved share of the store's rate limit. */
export type ApplicationKey = {
  id: string;
  store_id: string;
  name: string;
  client_id: string;
  reserved_rate_limit: number;
  /** The role of its `client_credentials` tokens. */
  role: Role;
  /** Whether its sign-ons need PKCE (`pkce`) or not (`standard`). */
  openid_client: OpenidClient;
  last_used_at: number | null;
  created_at: number;
  updated_at: number;
  /** Those that work now, newest first. */
  secrets: { createdAt: number; lastUsedAt: number | null; expiresAt: number | null }[];
};

/** The secret is known when it is made, and to nobody afterwards. */
export type KeyWithSecret = { key: ApplicationKey; clientSecret: string };

type Deps = { storage: Storage; clock: Clock };
/** Takes a transaction too, so that a change reads its own result back before the next change can follow. */
type ReadDeps = { storage: { db: Database }; clock: Clock };

export async function getApplicationKey(
  { storage, clock }: ReadDeps,
  storeId: string,
  keyId: string,
): Promise<ApplicationKey> {
  const rows = await findKeyWithSecrets.all(storage.db, { storeId, keyId, now: clock.now() });
  const [row] = rows;
  if (!row) throw new Problem("application_key_not_found");
  return fromRow(row, rows.filter(hasSecret).map(toSecret));
}

/** One row for each secret that works now, newest first; one without a secret where there is none. */
const findKeyWithSecrets = statement((db, of: { storeId: string; keyId: string; now: number }) =>
  db
    .selectFrom("application_keys as key")
    .leftJoin("application_key_secrets as secret", (join) =>
      join
        .onRef("secret.store_id", "=", "key.store_id")
        .onRef("secret.application_key_id", "=", "key.id")
        .on(({ eb, or }) => or([eb("secret.expires_at", "is", null), eb("secret.expires_at", ">", of.now)])),
    )
    .where("key.store_id", "=", of.storeId)
    .where("key.id", "=", of.keyId)
    .selectAll("key")
    .select([
      "secret.created_at as secret_created_at",
      "secret.last_used_at as secret_last_used_at",
      "secret.expires_at as secret_expires_at",
    ])
    .orderBy("secret.created_at", "desc")
    .orderBy("secret.id", "desc"),
);

type SecretColumns = {
  secret_created_at: number | null;
  secret_last_used_at: number | null;
  secret_expires_at: number | null;
};

type WithSecret = SecretColumns & { secret_created_at: number };

const hasSecret = <Row extends SecretColumns>(row: Row): row is Row & WithSecret =>
  row.secret_created_at !== null;

const toSecret = (row: WithSecret): ApplicationKey["secrets"][number] => ({
  createdAt: row.secret_created_at,
  lastUsedAt: row.secret_last_used_at,
  expiresAt: row.secret_expires_at,
});

export type KeyList = {
  keys: ApplicationKey[];
  place: Place;
  page: Page;
  conditions: readonly Condition[];
  store: Store;
};

/** One page, oldest first, with how many there are in all, and the store whose limit they share. */
export async function listApplicationKeys(
  deps: Deps,
  storeId: string,
  page: Page,
  conditions: readonly Condition[] = [],
): Promise<KeyList> {
  const { storage, clock } = deps;
  const of = { store_id: storeId };
  const { rows, place } = await readPage(storage, "application_keys", of, page, { conditions });
  const store = await getStore(deps, storeId);
  return { keys: await withSecrets(storage.db, storeId, rows, clock.now()), place, page, conditions, store };
}

/** What the planner needs of a key. */
export type PlannedKey = { keyId: string; name: string; reserved: number; createdAt: number };

const plannedKeys = ({ db }: { db: Database }, storeId: string) =>
  db
    .selectFrom("application_keys")
    .where("store_id", "=", storeId)
    .select(["id as keyId", "name", "reserved_rate_limit as reserved", "created_at as createdAt"]);

/** A literal, not a parameter: only so does the planner know that the index over keys with a reservation will do. */
const isReserving = sql<boolean>`reserved_rate_limit > 0`;

export const listReservingKeys = (storage: { db: Database }, storeId: string): Promise<PlannedKey[]> =>
  plannedKeys(storage, storeId).where(isReserving).execute();

/**
 * A key, and all that reserve, it among them, each with the store's limit. One statement, because limit and reservations may change
 * together: read one after the other, more could seem reserved than there is.
 */
export function listPlan(
  storage: { db: Database },
  storeId: string,
  keyId: string,
): Promise<(PlannedKey & { rateLimit: number })[]> {
  const limit = storage.db.selectFrom("stores").where("id", "=", storeId).select("rate_limit");
  const keys = plannedKeys(storage, storeId).select(limit.$asScalar().$notNull().as("rateLimit"));
  return keys.where("id", "=", keyId).unionAll(keys.where(isReserving)).execute();
}

const AT_ONCE = 500;

export async function findPlannedKeys(
  storage: { db: Database },
  storeId: string,
  keyIds: readonly string[],
): Promise<PlannedKey[]> {
  const found: PlannedKey[] = [];
  for (let from = 0; from < keyIds.length; from += AT_ONCE) {
    const some = keyIds.slice(from, from + AT_ONCE);
    found.push(...(await plannedKeys(storage, storeId).where("id", "in", some).execute()));
    // There may be a hundred thousand, and on SQLite nothing above has waited for anything.
    await setImmediate();
  }
  return found;
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
  return rows.map((row) =>
    fromRow(
      row,
      (byKey.get(row.id) ?? []).map((secret) => ({
        createdAt: secret.created_at,
        lastUsedAt: secret.last_used_at,
        expiresAt: secret.expires_at,
      })),
    ),
  );
}

const fromRow = (row: Tables["application_keys"], secrets: ApplicationKey["secrets"]): ApplicationKey => ({
  id: row.id,
  store_id: row.store_id,
  name: row.name,
  client_id: row.client_id,
  reserved_rate_limit: row.reserved_rate_limit,
  role: row.role as Role,
  openid_client: row.openid_client as OpenidClient,
  last_used_at: row.last_used_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
  secrets,
});
