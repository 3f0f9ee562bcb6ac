import { type EventRow, presentEvent } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import type { Turns } from "../lib/turns.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import { type AttemptDeps, attemptOnce } from "./attempt.ts";
import { AT_ONCE, type DeliveryRow, deliveriesOf } from "./delivery.ts";
import { fanOut } from "./fan-out.ts";
import { type IntegrationKey, type IntegrationRow, isEnabled } from "./integration.ts";
import { messageOf } from "./message.ts";
import { type DeliveryOutcome, type SettledTurn, settle } from "./settle.ts";

export type RunDeps = AttemptDeps & {
  storage: Storage;
  clock: Clock;
  random: () => number;
  /** Limits the database connections that deliveries take from requests. */
  inTurn: Turns;
  onSettled(settled: SettledTurn): void;
  isStopping(): boolean;
};

/** How many messages to one receiver are under way at once; few for a receiver that fails. */
const AT_A_TIME = 8;
const AT_A_TIME_FAILING = 2;
/** The length of a turn, after which other integrations are served. Messages under way are still awaited. */
const TURN_MS = 5000;

/** How many events a turn examines at once for matches, before other work uses the database. */
const PAGES = 5;

/** Deliveries read at once. Those not sent when the turn ends are read again by the next turn. */
const READ = 32;

/**
 * One turn of an integration: sends due deliveries, in order within each subject, until none is due or the turn is
 * over. Few deliveries are in memory at any time. Results are written as they arrive, while the next messages are sent.
 * A turn among the quick ones ends when the receiver proves slow.
 */
export async function runTurn(deps: RunDeps, taken: IntegrationRow): Promise<void> {
  const { clock, inTurn } = deps;
  const startedMs = clock.monotonicMs();
  const underWay = new Map<string, Promise<void>>();
  /** Deliveries read and not settled yet. In the database they are still due. */
  const inHand = new Set<string>();
  let waiting: Due[] = [];
  let ended: DeliveryOutcome[] = [];
  let integration = taken;
  let failure: unknown;
  /** How long this turn has waited for the receiver, and for how many answers. */
  const awaited = { ms: 0, answers: 0 };
  let awaitedFromMs = 0;

  const isOver = () =>
    failure !== undefined ||
    deps.isStopping() ||
    !isEnabled(integration) ||
    (integration.is_slow === 1 && taken.is_slow === 0) ||
    clock.monotonicMs() - startedMs >= TURN_MS;

  async function send(row: DeliveryRow, event: EventRow): Promise<void> {
    try {
      const message = messageOf(integration, presentEvent(event), row.tries + 1);
      const attempted = await attemptOnce(deps, integration, message);
      ended.push({ row, attempted });
    } catch (error) {
      failure ??= error;
    } finally {
      underWay.delete(row.id);
      const nowMs = clock.monotonicMs();
      awaited.ms += nowMs - awaitedFromMs;
      awaited.answers++;
      awaitedFromMs = nowMs;
      begin();
    }
  }

  function begin(): void {
    const places = integration.failing_since === null ? AT_A_TIME : AT_A_TIME_FAILING;
    while (underWay.size < places && !isOver()) {
      const next = waiting.shift();
      if (!next) return;
      const { row, event } = next;
      if (underWay.size === 0) awaitedFromMs = clock.monotonicMs();
      if (event) underWay.set(row.id, send(row, event));
      else ended.push({ row, attempted: undefined });
    }
  }

  try {
    for (;;) {
      if (waiting.length === 0 && !isOver()) {
        waiting = await inTurn(() => takeSome(deps, integration, inHand));
        for (const { row } of waiting) inHand.add(row.id);
      }
      begin();
      if (underWay.size === 0 && ended.length === 0) break;
      if (ended.length === 0) await Promise.race(underWay.values());
      const outcomes = ended;
      ended = [];
      if (outcomes.length === 0) continue;
      const settled = await inTurn(() => settle(deps, integration, outcomes, awaited));
      // Another instance has the integration now, and sends the messages under way again.
      if (!settled) break;
      for (const { row } of outcomes) inHand.delete(row.id);
      integration = settled.after;
      deps.onSettled(settled);
    }
  } finally {
    // Also waits when the database has failed: the next holder of the integration would send beside these.
    waiting = [];
    await Promise.allSettled(underWay.values());
  }
  if (failure !== undefined) throw failure;
}

type Due = { row: DeliveryRow; event: EventRow | undefined };

/** Turns events into deliveries only while there are too few deliveries. */
async function takeSome(deps: RunDeps, integration: IntegrationRow, inHand: ReadonlySet<string>) {
  const { db } = deps.storage;
  const of = { storeId: integration.store_id, id: integration.id };
  for (let pages = 0; ; pages++) {
    const limit = READ + inHand.size;
    const retries = await findRetries.all(db, { ...of, now: deps.clock.now(), limit });
    const fresh = await findFresh.all(db, { ...of, limit });
    const isNew = ({ id }: DeliveryRow) => !inHand.has(id);
    const [again, first] = [retries.filter(isNew), fresh.filter(isNew)];
    // Half of them are retries, so that neither first attempts nor retries wait for the end of the others.
    const kept = again.slice(0, Math.max(READ / 2, READ - first.length));
    const rows = [...kept, ...first].slice(0, READ);
    if (rows.length < READ && pages < PAGES && (await fanOut(deps, integration))) continue;
    return withEvents(db, of.storeId, rows);
  }
}

const findRetries = statement((db, of: IntegrationKey & { limit: number; now: number }) =>
  deliveriesOf(db, of)
    .selectAll()
    .where("next_attempt_at", ">", AT_ONCE)
    .where("next_attempt_at", "<=", of.now)
    .orderBy("next_attempt_at")
    .orderBy("sequence")
    .limit(atMost(of.limit)),
);

const findFresh = statement((db, of: IntegrationKey & { limit: number }) =>
  deliveriesOf(db, of)
    .selectAll()
    .where("next_attempt_at", "=", AT_ONCE)
    .orderBy("sequence")
    .limit(atMost(of.limit)),
);

async function withEvents(db: Database, storeId: string, rows: readonly DeliveryRow[]): Promise<Due[]> {
  if (rows.length === 0) return [];
  const sequences = rows.map(({ sequence }) => sequence);
  const events = await db
    .selectFrom("events")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("sequence", "in", sequences)
    .execute();
  const bySequence = new Map(events.map((event) => [event.sequence, event]));
  return rows.map((row) => ({ row, event: bySequence.get(row.sequence) }));
}
