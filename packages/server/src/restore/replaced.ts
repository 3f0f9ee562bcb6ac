import type { EventType } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { isSound } from "../storage/engine.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/**
 * The database that a restore replaces. Another release may have written it, so only columns that it has are read. It
 * may be damaged; a missing row then counts as deleted only if the log has its deletion.
 */
export type Replaced = {
  storage: Storage;
  isSound: boolean;
  /** Empty: the database has no such table. */
  columnsOf(table: keyof Tables): ReadonlySet<string>;
};

export async function describeReplaced(storage: Storage): Promise<Replaced> {
  const tables = await storage.db.introspection.getTables();
  const columns = new Map(
    tables.map((table) => [table.name, new Set(table.columns.map(({ name }) => name))] as const),
  );
  return {
    storage,
    isSound: await isSound(storage.db),
    columnsOf: (table) => columns.get(table) ?? new Set(),
  };
}

/** Tables whose rows have an `id`. */
type Carried =
  | "application_keys"
  | "authentication_realms"
  | "customer_identities"
  | "customers"
  | "integrations"
  | "members"
  | "oidc_profiles"
  | "sign_ons";

export type Owned = { id: string; store_id: string };

const PAGE = 200;

/** The rows of the restored database in pages, by id. */
export async function* pagesOf({ db }: Storage, table: Carried): AsyncGenerator<Owned[]> {
  for (let after = ""; ; ) {
    const rows = await db
      .selectFrom(table)
      .select(["id", "store_id"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(atMost(PAGE))
      .execute();
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.id;
  }
}

export async function listStoreIds({ db }: Storage): Promise<string[]> {
  const rows = await db.selectFrom("stores").select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

export const idsOf = (rows: readonly Owned[]): string[] => rows.map(({ id }) => id);

/** Some columns of rows, as far as the replaced database has them. */
export async function readReplaced<T extends Carried, C extends keyof Tables[T] & string>(
  { storage, columnsOf }: Replaced,
  table: T,
  columns: readonly C[],
  ids: readonly string[],
): Promise<Map<string, Partial<Pick<Tables[T], C>>>> {
  const there = columnsOf(table);
  if (there.size === 0 || ids.length === 0) return new Map();
  const rows = await readSome(
    storage.db,
    table,
    columns.filter((column) => there.has(column)),
    ids,
  );
  return new Map(rows.map((row) => [row.id, row as unknown as Partial<Pick<Tables[T], C>>]));
}

/** The same columns of the restored database, which has all of them. */
export async function readRestored<T extends Carried, C extends keyof Tables[T] & string>(
  { db }: Storage,
  table: T,
  columns: readonly C[],
  ids: readonly string[],
): Promise<(Owned & Pick<Tables[T], C>)[]> {
  return (await readSome(db, table, columns, ids)) as (Owned & Pick<Tables[T], C>)[];
}

const readSome = (
  db: Database,
  table: Carried,
  columns: readonly string[],
  ids: readonly string[],
): Promise<Owned[]> =>
  db
    .selectFrom(table as "customers")
    .select(["id", "store_id", ...columns.map((column) => db.dynamic.ref<"id">(column))])
    .where("id", "in", ids)
    .orderBy("id")
    .execute() as Promise<Owned[]>;

/** The rows of a page of which some of these columns differ in the replaced database, each with the values there. */
export async function listDifferent<T extends Carried, C extends keyof Tables[T] & string>(
  restored: Storage,
  replaced: Replaced,
  table: T,
  columns: readonly C[],
  page: readonly Owned[],
): Promise<(Owned & { columns: Partial<Pick<Tables[T], C>> })[]> {
  const now = await readReplaced(replaced, table, columns, idsOf(page));
  const rows = await readRestored(restored, table, columns, idsOf(page));
  return rows.flatMap((was) => {
    const { id, store_id } = was;
    const different = differences<Pick<Tables[T], C>>(was, now.get(id), columns);
    return different ? [{ id, store_id, columns: different }] : [];
  });
}

/** Sets columns of a row, and returns the row before and after. */
export async function changeRow<T extends Carried>(
  trx: Trx,
  { clock }: { clock: Clock },
  table: T,
  { id, store_id }: Owned,
  columns: Partial<Tables[T]>,
): Promise<{ before: Tables[T]; after: Tables[T] }> {
  const name = table as "customers";
  const before = await trx
    .selectFrom(name)
    .selectAll()
    .where("store_id", "=", store_id)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const after = await trx
    .updateTable(name)
    .set({ ...(columns as object), updated_at: laterThan("updated_at", clock.now()) })
    .where("store_id", "=", store_id)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { before, after } as unknown as { before: Tables[T]; after: Tables[T] };
}

/** The columns of a row that differ in the replaced database, with their values there. */
export function differences<R extends object>(
  was: R,
  is: Partial<R> | undefined,
  columns: readonly (keyof R)[],
) {
  const changed: Partial<R> = {};
  for (const column of columns)
    if (is && is[column] !== undefined && is[column] !== was[column]) changed[column] = is[column];
  return Object.keys(changed).length > 0 ? changed : undefined;
}

/** Which of these rows the replaced database has deleted. */
export async function listGone(
  replaced: Replaced,
  table: Carried,
  deletion: EventType,
  rows: readonly Owned[],
): Promise<Owned[]> {
  if (replaced.columnsOf(table).size === 0) return [];
  const there = await readReplaced(replaced, table, [], idsOf(rows));
  const gone = rows.filter(({ id }) => !there.has(id));
  if (replaced.isSound || gone.length === 0) return gone;
  const said: Owned[] = [];
  for (const row of gone) if (await isSaid(replaced, deletion, row)) said.push(row);
  return said;
}

async function isSaid(
  { storage: { db } }: Replaced,
  deletion: EventType,
  { id, store_id }: Owned,
): Promise<boolean> {
  const event = await db
    .selectFrom("events")
    .select("sequence")
    .where("store_id", "=", store_id)
    .where("subject", "=", id)
    .where("type", "=", deletion)
    .limit(atMost(1))
    .executeTakeFirst();
  return event !== undefined;
}
