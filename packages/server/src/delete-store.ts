import { type SqlBool, sql } from "kysely";
import type { Clock } from "./lib/clock.ts";
import { deleteAlong } from "./storage/delete-along.ts";
import { isUnavailable } from "./storage/failures.ts";
import type { Storage } from "./storage/storage.ts";

type Deps = { storage: Storage; clock: Clock };

/** How many rows are gone, and how many there were: unknown when counting them took too long. */
type OnProgress = (done: number, total: number | undefined) => void;

/**
 * What a store's storefronts and customers come in by. There are few of these, so they go together. Of its programs' keys there
 * may be many: they are dead as soon as the store has its `deleted_at`.
 */
const WAYS_IN = [
  "customer_authentication_settings",
  "oidc_profiles",
  "authentication_realms",
  "integrations",
  // What waits there to be numbered; what is still noted for the store, the sequencer throws away.
  "event_outbox",
  "sign_on_tallies",
] as const;

/** The rest, children before their parents: the columns that name a row, and the index that its rows go along. */
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
 * Deletes a store of any size. One short transaction takes its ways in: from then on its tokens and keys are dead on
 * every instance within a second, and nothing new is made in it. Then its rows go in batches, beside the running service.
 * Whoever was interrupted does it again, and it goes on. `undefined`: there is no such store.
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
  // A range and not "=": with that, PostgreSQL may go along an index without the store, over the rows of all others.
  const where = sql<SqlBool>`store_id >= ${storeId} and store_id <= ${storeId}`;
  for (const [table, key, along] of REST) {
    await deleteAlong(deps, { table, key, along, where }, (deleted) => {
      rows += deleted;
      onProgress(rows, total);
    });
  }
  // A request that was under way may have left a few more rows: they go with the store's.
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

/** For the progress only: counting millions of rows may take longer than a statement may. */
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
