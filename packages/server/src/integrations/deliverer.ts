import type { Numbered } from "../events/sequencer.ts";
import type { Log } from "../lib/log.ts";
import { createTurns } from "../lib/turns.ts";
import type { Trx } from "../storage/storage.ts";
import type { AttemptDeps } from "./attempt.ts";
import { markStores } from "./due.ts";
import { type IntegrationRow, isEnabled } from "./integration.ts";
import { createLane, type Lane } from "./lane.ts";
import { countFailing, findBehindMs, release, takeDue } from "./lease.ts";
import { type RunDeps, runTurn } from "./run.ts";
import type { Settled } from "./settle.ts";

/**
 * Delivers to integrations that are due, beside the requests. Any instance can take any integration, and one at a time
 * serves it. Slow and failing integrations have places of their own, so they do not delay the others. Stores share the
 * places of both kinds (lane.ts).
 */
export type Deliverer = {
  /** Takes due integrations while places are free, and returns without waiting for them. */
  look(): Promise<void>;
  /**
   * Delivers as soon as this process has numbered events. `look`, once a second, finds the events of other instances.
   */
  start(): void;
  /** Called in the transaction that numbers events of these stores. */
  mark(trx: Trx, numberedOf: ReadonlyMap<string, Numbered>): Promise<void>;
  /** Called after that transaction. */
  onNumbered(): void;
  /** Resolves when no delivery is under way. */
  idle(): Promise<void>;
  /** Takes no new integration and waits a short time for those under way. The next instance sends the rest again. */
  stop(): Promise<void>;
  /** Counts the failing integrations. */
  count(): Promise<void>;
  counts(): { running: number; behindMs: number; failing: number };
};

/** `given_up`: the attempt failed and is not repeated. */
export type OnAttempt = (outcome: "delivered" | "failed" | "given_up", elapsedMs: number) => void;

type Deps = AttemptDeps & Pick<RunDeps, "storage" | "random"> & { log: Log; onAttempt: OnAttempt };

/** Twice the places that one store may hold. */
const PLACES = { quick: 64, slow: 32 };
const TURNS_AT_DATABASE = 2;
const STOP_WITHIN_MS = 3000;

export function createDeliverer(deps: Deps): Deliverer {
  const lanes = { quick: createLane(PLACES.quick), slow: createLane(PLACES.slow) };
  const inTurn = createTurns(TURNS_AT_DATABASE);
  let looking: Promise<void> | undefined;
  let isStarted = false;
  let isStopping = false;
  let stopping: Promise<void> | undefined;
  let isMarked = false;
  let behindMs = 0;
  let failing = 0;
  const runDeps: RunDeps = {
    ...deps,
    inTurn,
    isStopping: () => isStopping,
    onSettled: (settled) => tell(deps, settled),
  };

  /** Returns false when the turn was interrupted. */
  async function run(integration: IntegrationRow): Promise<boolean> {
    let isWhole = true;
    try {
      await runTurn(runDeps, integration);
    } catch (error) {
      isWhole = false;
      deps.log.warn({ event: "webhooks_interrupted", integration_id: integration.id, cause: String(error) });
    }
    // If the database refuses this too, the lease runs out.
    await inTurn(() => release(deps, integration)).catch(() => {});
    return isWhole;
  }

  function begin(lane: Lane, integration: IntegrationRow): void {
    const work = run(integration).then((isWhole) => {
      lane.leave(integration.id);
      // An interrupted integration is due at once and may be interrupted again, so it waits for the next look.
      if (isWhole) wake();
    });
    lane.hold(integration, work);
  }

  /**
   * Takes as many integrations at once as one store may hold, until none is due or every store with due integrations
   * has its share.
   */
  async function takeFrom(lane: Lane): Promise<void> {
    for (;;) {
      const atOnce = lane.atOnce();
      if (atOnce === 0 || isStopping) return;
      const due = await inTurn(() => takeDue(deps, lane === lanes.slow, atOnce, lane.fullStores()));
      for (const integration of due) begin(lane, integration);
      if (due.length < atOnce) return;
    }
  }

  function look(): Promise<void> {
    looking ??= takeFrom(lanes.quick)
      .then(() => takeFrom(lanes.slow))
      .then(async () => {
        const isAnyFull = Object.values(lanes).some((lane) => lane.fullStores().length > 0);
        behindMs = isAnyFull ? await findBehindMs(deps) : 0;
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  /** Errors are ignored here: the next look tries again. */
  function wake(): void {
    if (isStarted && !isStopping) look().catch(() => {});
  }

  const all = () => Object.values(lanes).flatMap(({ held }) => [...held.values()]);
  const works = () => all().map(({ work }) => work);

  async function end(): Promise<void> {
    isStopping = true;
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_WITHIN_MS);
    });
    await Promise.race([Promise.allSettled([looking, ...works()]), enough]);
    clearTimeout(timer);
    // Releases the leases of unfinished integrations, so that another instance need not wait for their end.
    for (const { integration } of all()) await release(deps, integration).catch(() => {});
  }

  return {
    look,
    start() {
      isStarted = true;
    },
    async mark(trx, numberedOf) {
      if (await markStores(trx, numberedOf, deps.clock.now())) isMarked = true;
    },
    onNumbered() {
      if (isMarked) wake();
      isMarked = false;
    },
    async idle() {
      for (;;) {
        await looking?.catch(() => {});
        if (all().length === 0) return;
        await Promise.allSettled(works());
      }
    },
    stop() {
      stopping ??= end();
      return stopping;
    },
    async count() {
      failing = await countFailing(deps.storage.db);
    },
    counts: () => ({ running: all().length, behindMs, failing }),
  };
}

function tell({ log, onAttempt }: Deps, { before, after, deliveries }: Settled): void {
  const of = { integration_id: after.id, store_id: after.store_id };
  for (const { id, attempt, status: state } of deliveries) {
    if (!attempt) continue;
    const { status, reason, milliseconds } = attempt;
    onAttempt(reason === null ? "delivered" : state === "failed" ? "given_up" : "failed", milliseconds);
    log.debug({ event: "webhook", ...of, delivery_id: id, status, reason, milliseconds });
  }
  if (before.failing_since === null && after.failing_since !== null)
    log.info({ event: "integration_failing", ...of });
  if (before.failing_since !== null && after.failing_since === null)
    log.info({ event: "integration_recovered", ...of });
  if (isEnabled(before) && !isEnabled(after))
    log.warn({ event: "integration_disabled", ...of, reason: after.disabled_reason });
}
