import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "./at-most.ts";
import { inBatches } from "./batches.ts";
import type { Storage } from "./storage.ts";
import type { Tables } from "./tables.ts";

type Along = {
  table: keyof Tables;
  /** The columns that name a row. */
  key: readonly string[];
  /** The first columns of an index, in whose order the rows are deleted. */
  along: readonly string[];
  where: RawBuilder<SqlBool>;
};

type StatementPosition = (string | number)[];

/** A long deletion goes on after the database was busy for half a minute. */
const RETRIES = 30;

/**
 * Deletes any number of rows in batches along an index, each from where the last one ended: PostgreSQL would otherwise
 * step over all deleted index entries again in each batch. Returns how many rows there were.
 */
export async function deleteAlong(
  deps: { storage: Storage; clock: Clock },
  rows: Along,
  onDeleted: (rows: number) => void = () => {},
): Promise<number> {
  let from: StatementPosition | undefined;
  const deleteNext = async (limit: number) => {
    const deleted = await deleteSome(deps.storage, rows, from, limit);
    // All rows before these are gone, so the next batch can begin at any of these.
    from = deleted.at(-1);
    onDeleted(deleted.length);
    return deleted.length;
  };
  let done = 0;
  do done += (await inBatches(deps, deleteNext, { retries: RETRIES })).rows;
  while (await isAnyLeft(deps.storage, rows));
  return done;
}

/** Of two processes that delete the same rows, the one that waits for the locks finds an empty batch. */
async function isAnyLeft({ db }: Storage, { table, key, where }: Along): Promise<boolean> {
  const left = await db
    .selectFrom(table as "customers")
    .select(key.map((column) => db.dynamic.ref<"id">(column)))
    .where(where)
    .limit(atMost(1))
    .executeTakeFirst();
  return left !== undefined;
}

async function deleteSome(
  { db }: Storage,
  { table, key, along, where }: Along,
  from: StatementPosition | undefined,
  limit: number,
): Promise<StatementPosition[]> {
  const { ref } = db.dynamic;
  let some = db
    .selectFrom(table as "customers")
    .select(key.map((column) => ref<"id">(column)))
    .where(where)
    .limit(atMost(limit));
  for (const column of along) some = some.orderBy(ref(column));
  if (from) {
    const columns = sql.join(along.map((column) => sql.ref(column)));
    some = some.where(sql<SqlBool>`(${columns}) >= (${sql.join(from)})`);
  }
  const deleted = await db
    .deleteFrom(table as "customers")
    .where(sql<SqlBool>`(${sql.join(key.map((column) => sql.ref(column)))}) in ${some}`)
    .returning(along.map((column) => ref<"id">(column)))
    .execute();
  return deleted.map((row) => along.map((column) => (row as Record<string, string | number>)[column] ?? ""));
}
