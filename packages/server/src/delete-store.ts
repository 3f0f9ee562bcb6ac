import { type SqlBool, sql } from "kysely";
import type { Clock } from "./lib/clock.ts";
import { deleteAlong } from "./storage/delete-along.ts";
import { isUnavailable } from "./storage/failures.ts";
import type { Storage } from "./storage/storage.ts";

type Deps = { storage: Storage; clock: Clock };

/** Called with the rows deleted so far, and with their total unless counting it took too long. */
type OnProgress = (done: number, total: number | undefined) => void;

/**
 * The rows that let storefronts and customers in. They are few, so one transaction deletes them. Application keys may
 * be many; they stop working when the store gets its `deleted_at`.
 */
const WAYS_IN = [
  "customer_authentication_settings",
  "setup_links",
  "oidc_profiles",
  "authentication_realms",
  "integrations",
  // Events not numbered yet. The sequencer discards those that are still noted for the store afterwards.
  "event_outbox",
  "sign_on_tallies",
  "sign_on_tallies_by_key",
] as const;

/** The other tables, children before parents, each with its key and the index that the deletion walks along. */
const REST = [
  ["events", ["store_id", "sequence"], ["store_id", "sequence"]],
  ["event_heads", ["store_id"], ["store_id"]],
  ["integration_deliveries", ["id"], ["store_id", "integration_id", "sequence"]],
  ["deleted_integrations", ["id"], ["store_id", "id"]],
  ["event_erasures", ["person_id"], ["store_id", "person_id"]],
  ["erased_digests", ["store_id", "person_id", "digest"], ["store_id", "person_id", "digest"]],
  ["application_keys", ["id"], ["store_id", "id"]],
  ["members", ["id"], ["store_id", "created_at"]],
  ["customer_tokens", ["id"], ["store_id", "customer_id"]],
  ["customer_identities", ["id"], ["store_id", "customer_id"]],
  ["customers", ["id"], ["store_id", "id"]],
  ["sign_ons", ["id"], ["store_id", "started_at"]],
  [
    "sign_on_statistics",
    ["store_id", "step", "starts_at", "profile_id"],
    ["store_id", "step", "starts_at", "profile_id"],
  ],
  [
    "sign_on_statistics_parts",
    ["store_id", "kind", "step", "starts_at", "part_id"],
    ["store_id", "kind", "step", "starts_at", "part_id"],
  ],
  ["sign_on_attempts", ["id"], ["store_id", "profile_id"]],
  [
    "ended_idp_sessions",
    ["store_id", "profile_id", "subject", "idp_session"],
    ["store_id", "profile_id", "subject", "idp_session"],
  ],
  ["deleted_profiles", ["id"], ["store_id", "id"]],
  ["idempotent_answers", ["key_hash"], ["store_id"]],
  ["access_token_revocations", ["token_id"], ["store_id"]],
] as const;

/**
 * Deletes a store of any size, beside the running service. One short transaction ends its tokens and keys, on every
 * instance within a second; then its rows are deleted in batches. An interrupted deletion continues when it is called
 * again. `undefined`: there is no such store.
 */
export async function deleteStore(
  deps: Deps,
  storeId: string,
  onProgress: OnProgress = () => {},
): Promise<{ rows: number } | undefined> {
  const { db, changes } = deps.storage;
  if (!(await closeWaysIn(deps, storeId))) return undefined;
  changes.announce(storeId);
  const total = await countRows(deps, storeId);
  let rows = 0;
  onProgress(rows, total);
  // A range in place of `=`: with `=` PostgreSQL may choose an index without the store and read the rows of all stores.
  const where = sql<SqlBool>`store_id >= ${storeId} and store_id <= ${storeId}`;
  for (const [table, key, along] of REST) {
    await deleteAlong(deps, { table, key, along, where }, (deleted) => {
      rows += deleted;
      onProgress(rows, total);
    });
  }
  // Foreign keys delete rows that a request under way has still inserted.
  await db.deleteFrom("stores").where("id", "=", storeId).execute();
  changes.announce(storeId);
  return { rows };
}

function closeWaysIn({ storage, clock }: Deps, storeId: string): Promise<boolean> {
  return storage.transact(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("stores")
      .set(({ eb }) => ({ deleted_at: clock.now(), revision: eb("revision", "+", 1) }))
      .where("id", "=", storeId)
      .executeTakeFirst();
    for (const table of WAYS_IN) await trx.deleteFrom(table).where("store_id", "=", storeId).execute();
    return numUpdatedRows > 0n;
  });
}

/** For the progress only. Counting millions of rows may exceed the time limit of a statement. */
async function countRows({ storage: { db } }: Deps, storeId: string): Promise<number | undefined> {
  let total = 0;
  try {
    for (const [table] of REST) {
      const counted = await db
        .selectFrom(table)
        .where("store_id", "=", storeId)
        .select(({ fn }) => fn.countAll<number>().as("rows"))
        .executeTakeFirstOrThrow();
      total += counted.rows;
    }
    return total;
  } catch (error) {
    if (isUnavailable(error)) return undefined;
    throw error;
  }
}
