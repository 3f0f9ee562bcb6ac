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
 * Delivers what integrations are due, beside everything else. Any instance takes any integration; one at a time works for it. Those
 * that were slow or have failed have places of their own, so that however many there are, the others do not wait for them. Places of
 * both kinds are shared between stores (lane.ts).
 */
export type Deliverer = {
  /** Takes what is due, as far as there are places, and returns without waiting for any of it. */
  look(): Promise<void>;
  /** From now on as soon as this process has numbered events. `look` once a second finds what others have numbered. */
  start(): void;
  /** Called in the transaction that numbers events of these stores. */
  mark(trx: Trx, numberedOf: ReadonlyMap<string, Numbered>): Promise<void>;
  /** Called after that transaction. */
  onNumbered(): void;
  /** When nothing is under way. */
  idle(): Promise<void>;
  /** Takes no more, and waits for a moment, once, for what is under way; the rest is sent again by whoever comes next. */
  stop(): Promise<void>;
  /** Looks how many integrations fail. */
  count(): Promise<void>;
  counts(): { running: number; behindMs: number; failing: number };
};

/** `given_up`: it has failed, and will not be tried again. */
export type OnAttempt = (outcome: "delivered" | "failed" | "given_up", elapsedMs: number) => void;

type Deps = AttemptDeps & Pick<RunDeps, "storage" | "random"> & { log: Log; onAttempt: OnAttempt };

/** Twice what one store may hold. */
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

  /** False: it was interrupted. */
  async function run(integration: IntegrationRow): Promise<boolean> {
    let isWhole = true;
    try {
      await runTurn(runDeps, integration);
    } catch (error) {
      isWhole = false;
      deps.log.warn({ event: "webhooks_interrupted", integration_id: integration.id, cause: String(error) });
    }
    // Where not even this works, its lease runs out.
    await inTurn(() => release(deps, integration)).catch(() => {});
    return isWhole;
  }

  function begin(lane: Lane, integration: IntegrationRow): void {
    const work = run(integration).then((isWhole) => {
      lane.leave(integration.id);
      // What was interrupted is due at once, and may be interrupted each time: the next look is soon enough for it.
      if (isWhole) wake();
    });
    lane.hold(integration, work);
  }

  /** Takes as many at a time as one store may have, until nothing more is due or each store that has something due has its share. */
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

  /** What cannot be done now is found by the next look. */
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
    // Gives up the leases of what is not done by now, so that another instance need not wait until they run out.
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
