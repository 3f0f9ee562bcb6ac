import { type RawBuilder, type SqlBool, sql } from "kysely";
import {
  type Condition,
  PATTERN_LENGTH,
  type Page,
  type PagePosition,
  ROWS_COUNTED,
  ROWS_SEARCHED,
  type Sort,
} from "../../lib/condition.ts";
import { atMost } from "../at-most.ts";
import { type Statement, statement } from "../statement.ts";
import type { Storage } from "../storage.ts";
import type { Tables } from "../tables.ts";
import { type Cursor, fingerprint, readCursor, writeCursor } from "./cursor.ts";
import { type Narrowing, toNarrowing } from "./filter.ts";
import { type IndexPosition, type Owner, orderSql, rowsSql, type View } from "./list-sql.ts";
import { LISTS, type ListDefinition, type Listed } from "./lists.ts";
import { inOrderOf, search } from "./search.ts";
import { findRoute, type IndexWalk } from "./walk.ts";

type ListOptions = {
  conditions?: readonly Condition[] | undefined;
  sort?: Sort | undefined;
  /** The check of each row for a condition that no index fits. Undefined: the list has an index for it. */
  checkOf?(condition: Condition): RawBuilder<SqlBool> | undefined;
  /** A further condition. A cursor is not bound to it. */
  only?: RawBuilder<SqlBool>;
};

/** A list that cannot be read with this filter or cursor. */
export class ListRefused extends Error {
  readonly reason: "cursor_unfit" | "filter_too_wide";
  constructor(reason: ListRefused["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

type PageOf<T extends Listed> = { rows: Tables[T][]; place: PagePosition };
type ListRow = Record<string, unknown>;
/** `nameOf`: the fingerprint that cursors are bound to, computed only where there is a cursor. */
type PageRequest = {
  page: Page;
  nameOf(): string;
  conditions: readonly Condition[];
  walk: IndexWalk;
  after: Cursor | undefined;
};

/** One page of a store's rows. Its cost does not grow with the list; a page that would cost more is refused. */
export async function readPage<T extends Listed>(
  storage: Storage,
  table: T,
  of: Owner,
  page: Page,
  { conditions = [], sort, checkOf, only }: ListOptions = {},
): Promise<PageOf<T>> {
  const list: ListDefinition = LISTS[table];
  const narrowings = conditions.map((condition) => {
    const check = checkOf?.(condition);
    return check ? checkedOnly(check) : toNarrowing(list, condition);
  });
  if (only) narrowings.push(checkedOnly(only));
  const { inOrder, byFilter } = findRoute(list, narrowings, sort);
  // A list that is filtered by the beginning of a text comes in the order of the text.
  const isByText = inOrder.keys[inOrder.fixed]?.form !== "plain" && inOrder.fixed < inOrder.keys.length;
  const isDescending = sort ? sort.descending : list.order.descending && !isByText;
  const view: View = { storage, table, of, isDescending };
  const nameOf = () => fingerprint([table, of, inOrder.keys, isDescending, conditions]);
  const after = page.after === undefined ? undefined : readCursor(nameOf(), inOrder, page.after);
  if (page.after !== undefined && !after) throw new ListRefused("cursor_unfit");
  const asked: PageRequest = { page, nameOf, conditions, walk: inOrder, after };
  if (inOrder.checks.length === 0) return (await readIndexed(view, asked)) as PageOf<T>;
  const read =
    (byFilter && (await readFiltered(view, asked, byFilter))) ??
    (await readSearched(view, asked, conditions.length > 0 ? ROWS_SEARCHED : Number.POSITIVE_INFINITY));
  return read as PageOf<T>;
}

const checkedOnly = (check: RawBuilder<SqlBool>): Narrowing => ({ ranges: [], isExact: false, check });

/** Fewer rows where patterns are long, so that one request costs half a second at most. */
function rowsWithin(most: number, conditions: readonly Condition[]): number {
  const patterns = conditions.filter(({ operator }) => operator === "like");
  const length = patterns.reduce((sum, { value }) => sum + String(value).length, 0);
  return Math.ceil(most / Math.max(1, Math.ceil(length / PATTERN_LENGTH)));
}

type RowsAndPlace = { rows: ListRow[]; place: PagePosition };

type RowRange = { limit: number; offset: number };

const partSql = (
  view: View,
  walk: IndexWalk,
  { limit, offset }: RowRange,
  after?: IndexPosition,
) => sql<ListRow>`
  select * ${rowsSql(view, walk, after)} ${orderSql(view, walk)} limit ${atMost(limit)} offset ${offset}`;

const wholeLists = new Map<string, Statement<Owner & RowRange, ListRow>>();

/** A list without a filter, as a statement: its text depends on the parts of `name` alone. */
function wholeList(view: View, walk: IndexWalk): Statement<Owner & RowRange, ListRow> {
  const { storage, table, of, isDescending } = view;
  const owner = Object.keys(of);
  const name = [storage.engine, table, isDescending, walk.keys.map(({ column }) => column), owner].join(" ");
  const known = wholeLists.get(name);
  if (known) return known;
  const made = statement(
    (_, places: Owner & RowRange) => {
      const ofPlaces = Object.fromEntries(owner.map((column) => [column, places[column as keyof Owner]]));
      return partSql({ ...view, of: ofPlaces as Owner }, walk, places);
    },
    { isNamed: false },
  );
  wholeLists.set(name, made);
  return made;
}

/** The index has exactly these rows, in order. */
async function readIndexed(view: View, asked: PageRequest): Promise<RowsAndPlace> {
  const { page, walk, after } = asked;
  const offset = after ? 0 : page.offset;
  const part: RowRange = { limit: page.limit + 1, offset };
  const { db } = view.storage;
  const rows =
    after || walk.ranges.length > 0
      ? (await partSql(view, walk, part, after?.values).execute(db)).rows
      : await wholeList(view, walk).all(db, { ...view.of, ...part });
  const place = placeOf(asked, rows);
  const seen = place.offset + Math.min(rows.length, page.limit);
  const shown = rows.slice(0, page.limit);
  // On the last page the total is known without counting. Past ROWS_COUNTED rows the total is "at least that many".
  if (!after && !place.next && (rows.length > 0 || offset === 0)) return { rows: shown, place };
  if (after && seen >= ROWS_COUNTED) return { rows: shown, place: { ...place, isAtLeast: true } };
  const counted = await countIndexed(view, asked);
  const isAtLeast = counted === ROWS_COUNTED;
  return {
    rows: shown,
    place: { ...place, total: isAtLeast ? Math.max(counted, seen) : counted, isAtLeast },
  };
}

/** Counts ROWS_COUNTED rows at the most. */
async function countIndexed(view: View, { walk, conditions }: PageRequest): Promise<number> {
  const { db, longLists } = view.storage;
  // The length does not depend on the order.
  const list = JSON.stringify([view.table, view.of, conditions]);
  if (longLists.has(list)) return ROWS_COUNTED;
  const some = sql`select 1 ${rowsSql(view, walk)} limit ${atMost(ROWS_COUNTED)}`;
  const { rows } = await sql<{ total: number }>`select count(*) as total from (${some}) as counted`.execute(
    db,
  );
  const total = rows[0]?.total ?? 0;
  if (total === ROWS_COUNTED) longLists.add(list);
  return total;
}

/** Reads all rows that one of the conditions leaves, and sorts them here. Undefined: there are too many. */
async function readFiltered(
  view: View,
  asked: PageRequest,
  byFilter: IndexWalk,
): Promise<RowsAndPlace | undefined> {
  const { page, after, walk } = asked;
  const inOrder = { walk, after: after?.values };
  const most = rowsWithin(ROWS_COUNTED, asked.conditions);
  const { found, isEnd } = await search(view, byFilter, { most, inOrder });
  if (!isEnd) return undefined;
  const left = inOrderOf(found, view.isDescending).filter((row) => row.isAfter);
  const offset = after ? 0 : page.offset;
  const these = left.slice(offset, offset + page.limit + 1).map(({ row }) => row);
  const place = { ...placeOf(asked, these), total: found.length };
  return { rows: await fetchRows(view, these.slice(0, page.limit)), place };
}

/** Reads the rows in order, and checks one by one until the page is full and ROWS_COUNTED were checked. */
async function readSearched(view: View, asked: PageRequest, most: number): Promise<RowsAndPlace> {
  const { page, walk, after } = asked;
  const offset = after ? 0 : page.offset;
  const wanted = offset + page.limit + 1;
  const { found, isEnd, last } = await search(view, walk, {
    from: after?.values,
    most: rowsWithin(most, asked.conditions),
    isEnough: (rows, lookedAt) => rows >= wanted && lookedAt >= ROWS_COUNTED,
  });
  const these = found.slice(offset, wanted).map(({ row }) => row);
  // Only an empty first page is refused, with a better filter. After a cursor a page may be short or empty.
  if (!isEnd && these.length === 0 && !after) throw new ListRefused("filter_too_wide");
  const shown = these.slice(0, page.limit);
  const place = placeOf(asked, these);
  return {
    rows: await fetchRows(view, shown),
    place: {
      ...place,
      total: (after?.offset ?? 0) + found.length,
      isAtLeast: !isEnd,
      next: place.next ?? (isEnd ? undefined : nextOf(asked, place.offset + shown.length, last)),
    },
  };
}

/** `rows`: the rows of the page, and the row after it if there is one. */
function placeOf(asked: PageRequest, rows: readonly ListRow[]): PagePosition {
  const { page, after } = asked;
  const offset = after?.offset ?? page.offset;
  const last = rows.length > page.limit ? rows[page.limit - 1] : undefined;
  const next = last && nextOf(asked, offset + page.limit, last);
  return { offset, total: offset + rows.length, isAtLeast: false, next };
}

const nextOf = (
  { nameOf, walk }: PageRequest,
  offset: number,
  last: ListRow,
): NonNullable<PagePosition["next"]> => ({
  after: writeCursor(nameOf(), walk, offset, last),
  offset,
});

/** Leaves out rows that were deleted meanwhile. */
async function fetchRows({ storage, table, of }: View, found: readonly ListRow[]): Promise<ListRow[]> {
  if (found.length === 0) return [];
  const { rows } = await sql<ListRow>`
    select * from ${sql.table(table)}
    where store_id = ${of.store_id} and id in (${sql.join(found.map(({ id }) => id))})`.execute(storage.db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return found.flatMap(({ id }): ListRow[] => {
    const row = byId.get(id);
    return row ? [row] : [];
  });
}
