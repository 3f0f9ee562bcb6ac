import { sql } from "kysely";
import type { Clock } from "./lib/clock.ts";
import { inBatches } from "./storage/batches.ts";
import { isUnavailable, type Storage } from "./storage/storage.ts";

type Deps = { storage: Storage; clock: Clock };

/** How many rows are gone, and how many there were: unknown when counting them took too long. */
export type OnProgress = (done: number, total: number | undefined) => void;

/** What a store's programs, storefronts and customers come in by. There are few of these, so they go together. */
const WAYS_IN = [
  "application_keys",
  "customer_authentication_settings",
  "oidc_profiles",
  "authentication_realms",
] as const;

/**
 * Everything else of a store, children before their parents: the column that names a row, and the one that follows
 * `store_id` in an index. Batches go along that index, each from where the last one ended: PostgreSQL would otherwise
 * walk over all that was deleted before, again and again.
 */
const REST = [
  ["customer_tokens", "id", "customer_id"],
  ["customer_identities", "id", "customer_id"],
  ["customers", "id", "id"],
  ["sign_ons", "id", "started_at"],
  ["sign_on_attempts", "id", "profile_id"],
  ["idempotent_answers", "key_hash", "store_id"],
  ["access_token_revocations", "token_id", "store_id"],
] as const;

/** For the test that no table is left out. */
export const TABLES_OF_A_STORE: readonly string[] = [
  ...WAYS_IN,
  "application_key_secrets",
  ...REST.map(([table]) => table),
];

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
  for (const [table, key, along] of REST) {
    let from: string | number | undefined;
    await inBatches(deps, async (limit) => {
      const deleted = await deleteSome(deps, storeId, { table, key, along, from, limit });
      from = deleted.at(-1);
      rows += deleted.length;
      onProgress(rows, total);
      return deleted.length;
    });
  }
  // A request that was under way may have left a few more rows: they go with the store's.
  await db.deleteFrom("stores").where("id", "=", storeId).execute();
  changes.announce(storeId);
  return { rows };
}

type Batch = {
  table: (typeof REST)[number][0];
  key: string;
  along: string;
  from: string | number | undefined;
  limit: number;
};

/** Says where in the index each deleted row was. All before any of these are gone, so any will do to go on from. */
async function deleteSome(
  { storage: { db } }: Deps,
  storeId: string,
  { table, key, along, from, limit }: Batch,
): Promise<(string | number)[]> {
  const { ref } = db.dynamic;
  let some = db
    .selectFrom(table as "customers")
    .select(ref<"id">(key))
    .where("store_id", "=", storeId)
    .orderBy(ref(along))
    .limit(limit);
  if (from !== undefined) some = some.where(ref(along), ">=", from);
  const deleted = await db
    .deleteFrom(table as "customers")
    .where(ref(key), "in", some)
    .returning(sql<string | number>`${sql.ref(along)}`.as("place"))
    .execute();
  return deleted.map(({ place }) => place);
}

function closeWaysIn({ storage, clock }: Deps, storeId: string): Promise<boolean> {
  return storage.db.transaction().execute(async (trx) => {
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
