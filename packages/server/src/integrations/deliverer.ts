import { setTimeout as wait } from "node:timers/promises";
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
import type { SettledTurn } from "./settle.ts";

/** `given_up`: the attempt failed and is not repeated. */
export type OnAttempt = (outcome: "delivered" | "failed" | "given_up", elapsedMs: number) => void;

type Deps = AttemptDeps & Pick<RunDeps, "storage" | "random"> & { log: Log; onAttempt: OnAttempt };

/** Twice the places that one store may hold. */
const PLACES = { quick: 64, slow: 32 };
const TURNS_AT_DATABASE = 2;
const STOP_WITHIN_MS = 3000;

/**
 * Delivers to integrations that are due, beside the requests. Any instance can take any integration, and one at a time
 * serves it. Slow and failing integrations have places of their own, so they do not delay the others. Stores share the
 * places of both kinds (lane.ts).
 */
export class Deliverer {
  readonly #deps: Deps & RunDeps;
  readonly #lanes = { quick: createLane(PLACES.quick), slow: createLane(PLACES.slow) };
  #looking: Promise<void> | undefined;
  #isStarted = false;
  #isStopping = false;
  #stopping: Promise<void> | undefined;
  #isMarked = false;
  #behindMs = 0;
  #failing = 0;

  constructor(deps: Deps) {
    this.#deps = {
      ...deps,
      inTurn: createTurns(TURNS_AT_DATABASE),
      isStopping: () => this.#isStopping,
      onSettled: (settled) => tell(deps, settled),
    };
  }

  /** Takes due integrations while places are free, and returns without waiting for them. */
  look(): Promise<void> {
    this.#looking ??= this.#takeAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /**
   * Delivers as soon as this process has numbered events. `look`, once a second, finds the events of other instances.
   */
  start(): void {
    this.#isStarted = true;
  }

  /** Called in the transaction that numbers events of these stores. */
  async mark(trx: Trx, numberedOf: ReadonlyMap<string, Numbered>): Promise<void> {
    if (await markStores(trx, numberedOf, this.#deps.clock.now())) this.#isMarked = true;
  }

  /** Called after that transaction. */
  onNumbered(): void {
    if (this.#isMarked) this.#wake();
    this.#isMarked = false;
  }

  /** Resolves when no delivery is under way. */
  async idle(): Promise<void> {
    for (;;) {
      await this.#looking?.catch(() => {});
      if (this.#held().length === 0) return;
      await Promise.allSettled(this.#held().map(({ work }) => work));
    }
  }

  /** Takes no new integration and waits a short time for those under way. The next instance sends the rest again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  /** Counts the failing integrations. */
  async count(): Promise<void> {
    this.#failing = await countFailing(this.#deps.storage.db);
  }

  counts(): { running: number; behindMs: number; failing: number } {
    return { running: this.#held().length, behindMs: this.#behindMs, failing: this.#failing };
  }

  #held() {
    return Object.values(this.#lanes).flatMap(({ held }) => [...held.values()]);
  }

  /** Errors are ignored here: the next look tries again. */
  #wake(): void {
    if (this.#isStarted && !this.#isStopping) this.look().catch(() => {});
  }

  async #takeAll(): Promise<void> {
    await this.#takeFrom(this.#lanes.quick);
    await this.#takeFrom(this.#lanes.slow);
    const isAnyFull = Object.values(this.#lanes).some((lane) => lane.fullStores().length > 0);
    this.#behindMs = isAnyFull ? await findBehindMs(this.#deps) : 0;
  }

  /**
   * Takes as many integrations at once as one store may hold, until none is due or every store with due integrations
   * has its share.
   */
  async #takeFrom(lane: Lane): Promise<void> {
    const isSlow = lane === this.#lanes.slow;
    for (;;) {
      const atOnce = lane.atOnce();
      if (atOnce === 0 || this.#isStopping) return;
      const due = await this.#deps.inTurn(() => takeDue(this.#deps, isSlow, atOnce, lane.fullStores()));
      for (const integration of due) this.#begin(lane, integration);
      if (due.length < atOnce) return;
    }
  }

  #begin(lane: Lane, integration: IntegrationRow): void {
    const work = this.#run(integration).then((isWhole) => {
      lane.leave(integration.id);
      // An interrupted integration is due at once and may be interrupted again, so it waits for the next look.
      if (isWhole) this.#wake();
    });
    lane.hold(integration, work);
  }

  /** Returns false when the turn was interrupted. */
  async #run(integration: IntegrationRow): Promise<boolean> {
    const deps = this.#deps;
    let isWhole = true;
    try {
      await runTurn(deps, integration);
    } catch (error) {
      isWhole = false;
      deps.log.warn({ event: "webhooks_interrupted", integration_id: integration.id, cause: String(error) });
    }
    // If the database refuses this too, the lease runs out.
    await deps.inTurn(() => release(deps, integration)).catch(() => {});
    return isWhole;
  }

  async #end(): Promise<void> {
    this.#isStopping = true;
    const underWay = [this.#looking, ...this.#held().map(({ work }) => work)];
    await Promise.race([Promise.allSettled(underWay), wait(STOP_WITHIN_MS, undefined, { ref: false })]);
    // Releases the leases of unfinished integrations, so that another instance need not wait for their end.
    for (const { integration } of this.#held()) await release(this.#deps, integration).catch(() => {});
  }
}

function tell({ log, onAttempt }: Deps, { before, after, deliveries }: SettledTurn): void {
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
