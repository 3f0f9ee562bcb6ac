import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { tryHold } from "../storage/hold.ts";
import { forIds, insertRows } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { digestOf, hashOf } from "./chain.ts";
import { ERASED, type EventRow } from "./event.ts";
import { EMPTY } from "./head.ts";
import { onNoted } from "./note.ts";

/**
 * Numbers noted events store by store and chains them. One instance at a time: the holder of the lock moves rows from
 * the outbox to the log in one transaction, so a crash neither loses nor doubles an event. Readers see a number only
 * after that commit, so no event appears later behind one that was read.
 */
export type Sequencer = {
  /** Numbers the waiting events, unless another instance is doing so. */
  run(): Promise<void>;
  /** Numbers events as soon as this process has noted them. `run`, once a second, finds those of other instances. */
  start(): void;
  stop(): Promise<void>;
  /** How long the oldest event has waited that the last round found and could not number; otherwise 0. */
  behindMs(): number;
};

type Deps = {
  storage: Storage;
  clock: Clock;
  publicUrl: string;
  /** Called last in the same transaction, for parts that must not miss the new numbers of these stores. */
  mark?: (trx: Trx, numberedOf: ReadonlyMap<string, Numbered>) => Promise<void>;
  /** Called after the commit, with the last number of each store that has new events. */
  onNumbered?: (lastByStore: ReadonlyMap<string, number>) => void;
};

/** The new events of a store: their types and the last number. */
export type Numbered = { types: ReadonlySet<string>; last: number };

/**
 * Sign-ons commit one by one, and each round takes a transaction. Waiting a tenth of a second lets them share a round.
 */
const GATHER_MS = 100;
/** The events of a busy tenth of a second, in one transaction of some milliseconds on SQLite. */
const LEAST_ROWS = 100;
/** The pause between two batches lets other work run. It is short, because streams and webhooks wait for the rest. */
const REST = 0.25;
const HELD = "event sequencer";
/** A paused instance loses the lock after this time, and another instance takes over with its next round. */
const PAUSED_MS = 3000;

export function createSequencer(deps: Deps): Sequencer {
  const { storage } = deps;
  let underWay: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStarted = false;
  let oldestAt: number | undefined;

  /** Set when events arrive during a round, which may have looked already. */
  async function run(): Promise<void> {
    while (underWay) await underWay.catch(() => {});
    underWay = numberAll(deps, (time) => {
      oldestAt = time;
    }).finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  function wake(): void {
    if (!isStarted || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      // Errors are ignored here: the next round tries again.
      run().catch(() => {});
    }, GATHER_MS);
    timer.unref();
  }

  onNoted(storage.db, wake);
  storage.changes.listen(wake);
  return {
    run,
    start() {
      isStarted = true;
    },
    async stop() {
      isStarted = false;
      clearTimeout(timer);
      await underWay?.catch(() => {});
    },
    behindMs: () => (oldestAt === undefined ? 0 : Math.max(0, deps.clock.now() - oldestAt)),
  };
}

async function numberAll(deps: Deps, onOldest: (time: number | undefined) => void): Promise<void> {
  // Looks without a lock first, because most rounds find nothing.
  const oldest = await findFirst.first(deps.storage.db, {});
  onOldest(oldest?.time);
  if (!oldest) return;
  let isMore = true;
  const number = async (limit: number) => {
    const taken = isMore ? await numberSome(deps, limit) : 0;
    // A commit after this point sets the wake again.
    isMore = taken === limit;
    if (taken > 0) onOldest(undefined);
    return taken;
  };
  await inBatches(deps, number, { leastRows: LEAST_ROWS, rest: REST });
}

const findFirst = statement((db, _: object) =>
  db.selectFrom("event_outbox").select("time").orderBy("position").limit(atMost(1)),
);

/** The number of rows moved; 0 when another instance holds the lock. */
async function numberSome({ storage, publicUrl, mark, onNumbered }: Deps, limit: number): Promise<number> {
  const source = `${publicUrl}/v2/store`;
  const done = await storage.transact(async (trx) => {
    if (!(await tryHold(trx, HELD, PAUSED_MS))) return { taken: 0, heads: [] };
    const waiting = await takeSome(trx, limit);
    if (waiting.length === 0) return { taken: 0, heads: [] };
    const heads = await readHeads(trx, [...new Set(waiting.map((row) => row.store_id))]);
    const numbered = chain(waiting, heads, source);
    await insertEvents(trx, numbered);
    await writeHeads(trx, [...heads.values()]);
    if (heads.size > 0) await mark?.(trx, byStore(numbered));
    return { taken: waiting.length, heads: [...heads.values()] };
  });
  if (done.heads.length > 0)
    onNumbered?.(new Map(done.heads.map((head) => [head.store_id, head.last_sequence])));
  return done.taken;
}

function byStore(numbered: readonly EventRow[]): Map<string, Numbered> {
  const ofStores = Map.groupBy(numbered, (event) => event.store_id);
  const newOf = (events: EventRow[]): Numbered => ({
    types: new Set(events.map(({ type }) => type)),
    last: events.at(-1)?.sequence ?? 0,
  });
  return new Map([...ofStores].map(([storeId, events]) => [storeId, newOf(events)]));
}

type Waiting = Tables["event_outbox"];
type HeadRow = Tables["event_heads"];

/**
 * Takes rows by position, which the database assigns at the insert: a later insert always has a higher position, on any
 * instance and whatever its clock. One statement reads and deletes, so no commit can come between.
 */
async function takeSome(trx: Trx, limit: number): Promise<Waiting[]> {
  const rows = await takeFirst.all(trx, { limit });
  return rows.sort((a, b) => a.position - b.position);
}

const takeFirst = statement((db, of: { limit: number }) =>
  db
    .deleteFrom("event_outbox")
    .where(
      "position",
      "in",
      db.selectFrom("event_outbox").select("position").orderBy("position").limit(atMost(of.limit)),
    )
    .returningAll(),
);

/** The last number of each store. A deleted store, or one that is being deleted, has no log. */
async function readHeads(trx: Trx, storeIds: readonly string[]): Promise<Map<string, HeadRow>> {
  const found = await readSomeHeads(trx, storeIds);
  return new Map(
    found.map(({ id, ...head }) => [id, head.store_id === null ? emptyHead(id) : (head as HeadRow)]),
  );
}

/** Lists the stores, because PostgreSQL would otherwise read all heads instead of a hundred. */
const headsOf = (db: Database, storeIds: readonly string[]) =>
  db
    .selectFrom("stores as store")
    .leftJoin("event_heads as head", (join) =>
      join.onRef("head.store_id", "=", "store.id").on("head.store_id", "in", storeIds),
    )
    .where("store.id", "in", storeIds)
    .where("store.deleted_at", "is", null)
    .selectAll("head")
    .select("store.id as id");

/** Few at once: for a hundred ids SQLite reads the whole table of stores. */
const FEW = 8;
const readSomeHeads = forIds(FEW, headsOf);

const emptyHead = (storeId: string): HeadRow => ({
  ...EMPTY,
  store_id: storeId,
  oldest_time: null,
});

const SALT_BYTES = 16;

/** Writes the new ends of the logs. */
function chain(waiting: readonly Waiting[], heads: Map<string, HeadRow>, source: string): EventRow[] {
  const salts = randomBytes(SALT_BYTES * waiting.length);
  const numbered: EventRow[] = [];
  for (const [at, row] of waiting.entries()) {
    const head = heads.get(row.store_id);
    if (!head) continue;
    const salt = salts.subarray(at * SALT_BYTES, (at + 1) * SALT_BYTES);
    head.last_sequence++;
    head.latest_time = Math.max(head.latest_time, row.time);
    head.oldest_time ??= row.time;
    const event: EventRow = {
      store_id: row.store_id,
      sequence: head.last_sequence,
      id: row.id,
      type: row.type,
      subject: row.subject,
      actor_id: row.actor_id,
      person_id: row.person_id,
      source,
      time: row.time,
      latest_time: head.latest_time,
      salt: row.data === ERASED ? null : salt.toString("base64url"),
      digest: digestOf(salt, row.data),
      previous_hash: head.last_hash,
      hash: "",
      data: row.data,
    };
    head.last_hash = event.hash = hashOf(event);
    numbered.push(event);
  }
  return numbered;
}

const insertEvents = insertRows(
  "events",
  [
    "store_id",
    "sequence",
    "id",
    "type",
    "subject",
    "actor_id",
    "person_id",
    "source",
    "time",
    "latest_time",
    "salt",
    "digest",
    "previous_hash",
    "hash",
    "data",
  ],
  { isLater: true },
);

const writeHeads = insertRows(
  "event_heads",
  [
    "store_id",
    "last_sequence",
    "last_hash",
    "latest_time",
    "first_sequence",
    "forgotten_hash",
    "oldest_time",
  ],
  {
    // Retention may move the other end at the same moment.
    ending: sql`on conflict (store_id) do update set last_sequence = excluded.last_sequence, last_hash = excluded.last_hash,
    latest_time = excluded.latest_time, oldest_time = coalesce(event_heads.oldest_time, excluded.oldest_time)`,
    isLater: true,
  },
);
