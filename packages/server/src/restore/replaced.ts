import { changesOf } from "../events/changes.ts";
import { byOperator } from "../events/event.ts";
import { type EventDraft, noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { isSound } from "../storage/engine.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

export type Deps = { storage: Storage; clock: Clock };

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

/** The event of each deletion. */
const DELETIONS = {
  application_keys: "application_key.deleted",
  authentication_realms: "authentication_realm.deleted",
  customers: "customer.deleted",
  integrations: "integration.deleted",
  members: "member.deleted",
  oidc_profiles: "oidc_profile.deleted",
} as const;

/** Tables whose rows have an `id`. */
type Carried = keyof typeof DELETIONS | "customer_identities" | "sign_ons";
export type Owned = { id: string; store_id: string };
export type Changed<R> = Owned & { columns: Partial<R> };

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
  if (there.size === 0) return new Map();
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

async function readSome(
  db: Database,
  table: Carried,
  columns: readonly string[],
  ids: readonly string[],
): Promise<Owned[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom(table as "customers")
    .select(["id", "store_id", ...columns.map((column) => db.dynamic.ref<"id">(column))])
    .where("id", "in", ids)
    .orderBy("id")
    .execute() as Promise<Owned[]>;
}

/**
 * The rows of a page of which some columns differ in the replaced database, each with the values there. `decidedOf`
 * leaves out columns of a single row.
 */
export async function listDifferent<T extends Carried, C extends keyof Tables[T] & string>(
  { storage }: Pick<Deps, "storage">,
  replaced: Replaced,
  table: T,
  columns: readonly C[],
  page: readonly Owned[],
  decidedOf: (was: Pick<Tables[T], C>) => readonly C[] = () => columns,
): Promise<Changed<Pick<Tables[T], C>>[]> {
  const now = await readReplaced(replaced, table, columns, idsOf(page));
  const rows = await readRestored(storage, table, columns, idsOf(page));
  return rows.flatMap((was) => {
    const { id, store_id } = was;
    const is = now.get(id);
    const changed: Partial<Pick<Tables[T], C>> = {};
    for (const column of decidedOf(was))
      if (is && is[column] !== undefined && is[column] !== was[column]) changed[column] = is[column];
    return Object.keys(changed).length > 0 ? [{ id, store_id, columns: changed }] : [];
  });
}

/** Changes each row of a page that differs in the replaced database. Returns the number of these rows. */
export async function carryDifferences<T extends Carried, C extends keyof Tables[T] & string>(
  deps: Deps,
  replaced: Replaced,
  table: T,
  columns: readonly C[],
  page: readonly Owned[],
  change: (trx: Trx, deps: Deps, row: Changed<Pick<Tables[T], C>>) => Promise<void>,
): Promise<number> {
  const rows = await listDifferent(deps, replaced, table, columns, page);
  for (const row of rows) await deps.storage.transact((trx) => change(trx, deps, row));
  return rows.length;
}

/** Sets columns of a row, and returns the row before and after. */
export async function changeRow<T extends Carried>(
  trx: Trx,
  { clock }: Pick<Deps, "clock">,
  table: T,
  { id, store_id, columns }: Changed<Tables[T]>,
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

/** Sets columns of a row, and notes the event with the members of the resource that have changed, if any. */
export async function changeAndNote<T extends Carried>(
  trx: Trx,
  deps: Pick<Deps, "clock">,
  table: T,
  row: Changed<Tables[T]>,
  eventOf: (row: Tables[T]) => EventDraft,
  secrets: readonly string[] = [],
): Promise<void> {
  const { before, after } = await changeRow(trx, deps, table, row);
  const event = eventOf(after);
  const changes = changesOf({ ...eventOf(before).resource }, { ...event.resource }, secrets);
  if (changes) await noteEvents(trx, deps, byOperator(row.store_id), [{ ...event, changes }]);
}

/** Deletes rows, and notes an event for each. */
export async function deleteRows(
  trx: Trx,
  deps: Pick<Deps, "clock">,
  table: "application_keys" | "customers" | "members",
  rows: readonly Owned[],
): Promise<void> {
  if (rows.length === 0) return;
  await trx.deleteFrom(table).where("id", "in", idsOf(rows)).execute();
  const event = DELETIONS[table];
  const type = event.replace(".deleted", "");
  for (const { id, store_id } of rows)
    await noteEvents(trx, deps, byOperator(store_id), [{ type: event, subject: id, resource: { type, id } }]);
}

/**
 * Replaces each address that will change with the id of its row: two rows may have swapped addresses, and the index is
 * unique.
 */
export async function freeAddresses(
  db: Database,
  table: "customers" | "members",
  rows: readonly Changed<{ email_key: string }>[],
): Promise<void> {
  const moved = rows.filter(({ columns }) => columns.email_key !== undefined);
  if (moved.length === 0) return;
  await db
    .updateTable(table)
    .set(({ ref }) => ({ email_key: ref("id") }))
    .where("id", "in", idsOf(moved))
    .execute();
}

/** Which of these rows the replaced database has deleted. */
export async function listGone(
  replaced: Replaced,
  table: keyof typeof DELETIONS,
  rows: readonly Owned[],
): Promise<Owned[]> {
  if (replaced.columnsOf(table).size === 0) return [];
  const there = await readReplaced(replaced, table, [], idsOf(rows));
  const gone = rows.filter(({ id }) => !there.has(id));
  if (replaced.isSound) return gone;
  const logged: Owned[] = [];
  for (const { id, store_id } of gone) {
    const event = await replaced.storage.db
      .selectFrom("events")
      .select("sequence")
      .where("store_id", "=", store_id)
      .where("subject", "=", id)
      .where("type", "=", DELETIONS[table])
      .limit(atMost(1))
      .executeTakeFirst();
    if (event) logged.push({ id, store_id });
  }
  return logged;
}
