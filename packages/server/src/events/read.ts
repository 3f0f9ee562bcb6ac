import { type RawBuilder, sql } from "kysely";
import type * as contract from "../contract/events.ts";
import type { Input, Output } from "../contract/operation.ts";
import { toListParameters } from "../contract/paging.ts";
import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import type { Condition } from "../lib/condition.ts";
import { isId, timeOfId } from "../lib/ids.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import { EVENT_TYPES, type EventRow } from "./event.ts";
import { presentEventFor } from "./for-reader.ts";
import { type LogHead, readHead } from "./head.ts";

type EventQuery = Input<typeof contract.listEvents>["query"];
type EventPage = { rows: EventRow[]; next?: number | undefined };

/** The most events that a page examines one by one when an index does not fit the filter. */
const LOOKED_AT = 5000;
/** Each event is read whole and may have 10 KB; SQLite reads this many in less than 5 ms. */
const SLICE = 200;
/** With several types, each type contributes this many numbers, of which the page keeps the first. */
const SLICE_OF_TYPES = 100;

export async function listEvents(
  { storage, publicUrl }: { storage: Storage; publicUrl: string },
  { storeId, role }: { storeId: string; role: Role | null },
  query: EventQuery,
): Promise<Output<typeof contract.listEvents>> {
  const head = await readHead(storage.db, storeId);
  const { rows, next } = await readEventPage(storage, storeId, head, query);
  const urlAfter = (after: number | undefined) => {
    const parameters = {
      ...(after !== undefined && { after }),
      ...(query.types && { types: query.types.join(",") }),
      ...toListParameters(query.filter ?? []),
      "page[limit]": query["page[limit]"],
    };
    const pairs = Object.entries(parameters).map((pair) => pair.map(encodeURIComponent).join("="));
    return `${publicUrl}/v2/events?${pairs.join("&")}`;
  };
  return {
    data: rows.map((row) => presentEventFor(role, row)),
    meta: { last_sequence: String(head.last_sequence) },
    links: { current: urlAfter(query.after), next: next === undefined ? null : urlAfter(next) },
  };
}

/**
 * One page in the order of the numbers. One condition is read along an index; the others are checked event by event, up
 * to a bound. A page that reaches the bound is short, and the next page continues.
 */
async function readEventPage(
  { db, searches }: Storage,
  storeId: string,
  head: LogHead,
  { after, types: named, filter = [], "page[limit]": limit }: EventQuery,
): Promise<EventPage> {
  const last = head.last_sequence;
  let from = startAfter(head, after);
  const types = typesOf(named, filter);
  const conditions = [...filter, ...timeOfRequest(filter)];
  const rows: EventRow[] = [];
  if (types?.size === 0) return { rows };
  from = Math.max(from, (await findTime(db, storeId, conditions, head)) - 1);
  const walk = walkFor(storeId, types, conditions);
  for (let lookedAt = 0; ; ) {
    const slice = types ? SLICE_OF_TYPES : SLICE;
    const isFirst = lookedAt === 0;
    const part = { from, to: last, limit: isFirst ? limit + 1 : slice };
    const found = await (isFirst ? walk(db, part) : searches.slice(storeId, () => walk(db, part)));
    for (const row of found) {
      if (!isMeant(row, types, conditions)) continue;
      if (rows.length === limit) return { rows, next: rows.at(-1)?.sequence };
      rows.push(row);
    }
    if (found.length < part.limit || isPast(found, conditions)) return { rows };
    from = found.at(-1)?.sequence ?? last;
    lookedAt += found.length;
    if (lookedAt >= LOOKED_AT) return { rows, next: from };
    // A cursor that continues an earlier page is always accepted.
    if (isFirst) searches.refuseCrowd(storeId);
  }
}

/** Where the page begins. Deleted events cannot be followed: a reader whose position was deleted must begin again. */
export function startAfter({ first_sequence: first }: LogHead, after: number | undefined): number {
  if (after === undefined) return first - 1;
  if (after + 1 >= first) return after;
  throw new Problem("events_gone", {
    detail: `The oldest event that is kept is number ${first}.`,
    meta: { oldest_sequence: String(first) },
  });
}

/** The types that the filter matches, by name; undefined for all types. */
function typesOf(
  types: readonly string[] | undefined,
  conditions: readonly Condition[],
): Set<string> | undefined {
  const named = types?.flatMap((type) =>
    type.endsWith(".*") ? EVENT_TYPES.filter((known) => known.startsWith(type.slice(0, -1))) : [type],
  );
  const wanted = conditions.filter(({ field }) => field === "type").map(({ value }) => String(value));
  if (!named && wanted.length === 0) return undefined;
  const all = new Set(named ?? wanted);
  return new Set([...all].filter((type) => wanted.every((one) => one === type)));
}

type SequenceRange = { from: number; to: number; limit: number };
type EventWalk = (db: Database, part: SequenceRange) => Promise<EventRow[]>;

function walkFor(
  storeId: string,
  types: ReadonlySet<string> | undefined,
  conditions: readonly Condition[],
): EventWalk {
  const asked = (name: string) => conditions.find(({ field }) => field === name)?.value;
  const [subject, actor] = [asked("subject"), asked("actor")];
  if (subject !== undefined)
    return (db, part) => bySubject.all(db, { storeId, subject: String(subject), ...part });
  if (actor !== undefined) return (db, part) => byActor.all(db, { storeId, actor: String(actor), ...part });
  if (types) return (db, part) => byTypes(db, storeId, types, part);
  return (db, part) => readAfter.all(db, { storeId, ...part });
}

const inOrder = (db: Database, { storeId, from, to, limit }: SequenceRange & { storeId: string }) =>
  db
    .selectFrom("events")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("sequence", ">", from)
    .where("sequence", "<=", to)
    .orderBy("sequence")
    .limit(atMost(limit));

/** All events of a store, from a number on. */
export const readAfter = statement((db, of: SequenceRange & { storeId: string }) => inOrder(db, of));

const bySubject = statement((db, of: SequenceRange & { storeId: string; subject: string }) =>
  inOrder(db, of).where("subject", "=", of.subject),
);
const byActor = statement((db, of: SequenceRange & { storeId: string; actor: string }) =>
  inOrder(db, of).where("actor_id", "=", of.actor),
);

/** The first numbers of each type's run in the index, merged, are the filter's first: only those events are read. */
async function byTypes(
  db: Database,
  storeId: string,
  types: ReadonlySet<string>,
  part: SequenceRange,
): Promise<EventRow[]> {
  const read = async <T extends { sequence: number }>(columns: RawBuilder<unknown>, to: number) => {
    const runs = [...types].map(
      (type) => sql`select * from (select ${columns} from events
        where store_id = ${storeId} and type = ${type} and sequence > ${part.from} and sequence <= ${to}
        order by sequence limit ${atMost(part.limit)}) as run`,
    );
    const { rows } = await sql<T>`${sql.join(runs, sql` union all `)}`.execute(db);
    return rows.sort((a, b) => a.sequence - b.sequence).slice(0, part.limit);
  };
  const numbers = await read(sql`sequence`, part.to);
  const last = numbers.at(-1);
  if (!last) return [];
  const events = await read<EventRow>(sql`*`, last.sequence);
  // Retention may have deleted some in between, so a short page is not always the last page.
  return events.length < numbers.length ? byTypes(db, storeId, types, part) : events;
}

/**
 * The first number that an event of this time can have. Times may be out of order, but the maximum time up to a number
 * only grows, so a binary search finds where it reaches the given time.
 */
async function findTime(
  db: Database,
  storeId: string,
  conditions: readonly Condition[],
  { first_sequence: first, last_sequence: last }: LogHead,
): Promise<number> {
  const bounds = conditions.filter(({ field, operator }) => field === "time" && /^[eg]/.test(operator));
  if (bounds.length === 0) return first;
  const time = Math.max(...bounds.map(({ value }) => Number(value)));
  let [low, high] = [first, last + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await findLatest.first(db, { storeId, sequence: middle });
    // An event that retention deleted meanwhile was older than all that are kept.
    if ((row?.time ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

const findLatest = statement((db, of: { storeId: string; sequence: number }) =>
  db
    .selectFrom("events")
    .select("latest_time as time")
    .where("store_id", "=", of.storeId)
    .where("sequence", "=", of.sequence),
);

/** A change is written within this time after its request began, and numbered within the same time again. */
const REQUEST_MS = 120_000;
/** A margin for clocks that were set back. */
const SET_BACK_MS = 5000;

/** The request id contains its start time, so the search reads only events around that time and needs no index. */
function timeOfRequest(conditions: readonly Condition[]): Condition[] {
  const asked = conditions.find(({ field }) => field === "request_id");
  if (!asked) return [];
  const id = String(asked.value);
  const begunAt = isId(id) ? timeOfId(id) : 0;
  return [
    { field: "time", operator: "ge", value: begunAt - SET_BACK_MS },
    { field: "time", operator: "le", value: begunAt + REQUEST_MS },
  ];
}

/**
 * Whether events from here on were numbered too late to belong to the request. It takes several, because the clock of
 * one instance may be minutes ahead of the others.
 */
function isPast(found: readonly EventRow[], conditions: readonly Condition[]): boolean {
  const [, until] = timeOfRequest(conditions);
  if (!until || found.length < SLICE_OF_TYPES) return false;
  return found.every(({ time }) => time > Number(until.value) + REQUEST_MS);
}

function isMeant(
  row: EventRow,
  types: ReadonlySet<string> | undefined,
  conditions: readonly Condition[],
): boolean {
  if (types && !types.has(row.type)) return false;
  return conditions.every(({ field, operator, value }) => {
    if (field === "subject") return row.subject === value;
    if (field === "actor") return row.actor_id === value;
    // Canonical JSON has no spaces and escapes quotation marks, so this text matches only the member itself.
    if (field === "request_id") return row.data.includes(`"request_id":${JSON.stringify(value)}`);
    return field !== "time" || COMPARED[operator as keyof typeof COMPARED](row.time, Number(value));
  });
}

const COMPARED = {
  eq: (a: number, b: number) => a === b,
  gt: (a: number, b: number) => a > b,
  ge: (a: number, b: number) => a >= b,
  lt: (a: number, b: number) => a < b,
  le: (a: number, b: number) => a <= b,
};
