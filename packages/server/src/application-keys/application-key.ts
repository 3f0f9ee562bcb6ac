import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import type { OpenidClient } from "../contract/openid-client.ts";
import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import type { Clock } from "../lib/clock.ts";
import { fits, mostReservable } from "../rate-limit/plan.ts";
import { statement } from "../storage/statement.ts";
import type { Database } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** The credentials of one of a store's programs, with its reserved share of the store's rate limit. */
export type ApplicationKey = Omit<Tables["application_keys"], keyof ParsedKey> &
  ParsedKey & {
    /** The secrets that work now, newest first. */
    secrets: SecretTimes[];
  };

type ParsedKey = {
  /** The role of its `client_credentials` tokens. */
  role: Role;
  /** Whether its sign-ons need PKCE (`pkce`) or not (`standard`). */
  openid_client: OpenidClient;
};

type SecretTimes = Pick<Tables["application_key_secrets"], "created_at" | "last_used_at" | "expires_at">;

/** A transaction can stand in for the database, so that a change reads its own result before the next change begins. */
type KeyReadDeps = { storage: { db: Database }; clock: Clock };

export async function getApplicationKey(
  { storage, clock }: KeyReadDeps,
  storeId: string,
  keyId: string,
): Promise<ApplicationKey> {
  const rows = await findKeyWithSecrets.all(storage.db, { storeId, keyId, now: clock.now() });
  const [row] = rows;
  if (!row) throw new Problem("application_key_not_found");
  return keyOf(row, secretsIn(rows));
}

/** A row for each secret that works now, newest first, or one row without a secret. */
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

const secretsIn = (rows: readonly SecretColumns[]): SecretTimes[] =>
  rows.flatMap((row) =>
    row.secret_created_at === null
      ? []
      : {
          created_at: row.secret_created_at,
          last_used_at: row.secret_last_used_at,
          expires_at: row.secret_expires_at,
        },
  );

/** The columns of a key that the planner needs. */
export type PlannedKey = { keyId: string; name: string; reserved: number; createdAt: number };

const plannedKeys = ({ db }: { db: Database }, storeId: string) =>
  db
    .selectFrom("application_keys")
    .where("store_id", "=", storeId)
    .select(["id as keyId", "name", "reserved_rate_limit as reserved", "created_at as createdAt"]);

/** A literal, not a parameter: otherwise the database does not use the partial index over keys with a reservation. */
const isReserving = sql<boolean>`reserved_rate_limit > 0`;

export const listReservingKeys = (storage: { db: Database }, storeId: string): Promise<PlannedKey[]> =>
  plannedKeys(storage, storeId).where(isReserving).execute();

/**
 * The key, and all keys with a reservation, each with the store's limit. The rows come from a single statement, because
 * a limit that is read before or after a change could be lower than the reservations.
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
    // There can be 100,000 keys, and SQLite answers synchronously: lets the event loop run.
    await setImmediate();
  }
  return found;
}

/** The keys of one page, each with its secrets. */
export async function withSecrets(
  { storage, clock }: KeyReadDeps,
  storeId: string,
  rows: readonly Tables["application_keys"][],
): Promise<ApplicationKey[]> {
  if (rows.length === 0) return [];
  const secrets = await storage.db
    .selectFrom("application_key_secrets")
    .select(["application_key_id", "created_at", "last_used_at", "expires_at"])
    .where("store_id", "=", storeId)
    .where(
      "application_key_id",
      "in",
      rows.map((row) => row.id),
    )
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", clock.now())]))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  const byKey = Map.groupBy(secrets, (secret) => secret.application_key_id);
  return rows.map((row) => keyOf(row, byKey.get(row.id) ?? []));
}

const keyOf = (row: Tables["application_keys"], secrets: SecretTimes[]): ApplicationKey => ({
  ...row,
  role: row.role as Role,
  openid_client: row.openid_client as OpenidClient,
  secrets,
});

export function refuseOverReservation(rateLimit: number, reservedByOthers: number, reserved: number): void {
  if (fits(rateLimit, reservedByOthers, reserved)) return;
  const most = mostReservable(rateLimit, reservedByOthers);
  throw new Problem("reservation_exceeds_store_limit", {
    source: { pointer: "/data/reserved_rate_limit" },
    detail: `The store's limit is ${rateLimit} requests per second and other keys have reserved ${reservedByOthers}: this key can have at most ${most}.`,
    meta: { rate_limit: rateLimit, reserved_by_others: reservedByOthers, most_reservable: most },
  });
}
