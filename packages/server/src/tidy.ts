import { forgetExpiredRevocations } from "./access/introspect-and-revoke.ts";
import { createErasing } from "./customers/erasing/continue-erasures.ts";
import { forgetErased } from "./customers/erasing/erased-digests.ts";
import { forgetOldAnswers } from "./customers/idempotent-answers.ts";
import { forgetExpiredTokens } from "./customers/tokens/revoke-tokens.ts";
import type { Deps } from "./deps.ts";
import { forgetOldEvents } from "./events/forget.ts";
import { describeCause } from "./http/observe.ts";
import { forgetDeletedIntegrations, forgetOldDeliveries } from "./integrations/forget.ts";
import { MAX_CLOCK_DIFFERENCE_MS } from "./lib/clock.ts";
import type { Log } from "./lib/log.ts";
import { probeProviders } from "./profiles/health/probe.ts";
import { reportHealth } from "./profiles/health/report-health.ts";
import { forgetSetupLinks } from "./profiles/setup-links/setup-link.ts";
import { forgetOldAttempts, KNOWN_MS } from "./sign-on/claim-attempt.ts";
import { forgetEndedSessions } from "./sign-on/ended-sessions.ts";
import { addUpTallies, countUncounted, forgetOldStatistics } from "./sign-on-records/add-up-statistics.ts";
import { forgetStrangers, tidyRecords } from "./sign-on-records/forget-records.ts";
import { mayHaveOtherInstances } from "./storage/engine.ts";

const TIDY_EVERY_MS = 1000;
const FORGET_EVERY_MS = 60_000;
/** How often this instance reads what other instances found out about identity providers. */
const REFRESH_EVERY_MS = 500;

type Chores = Record<string, () => unknown>;

/** Background work: writes what memory has collected and deletes expired rows. Runs once a second after `start`. */
export function createTidying(deps: Deps) {
  const { clock, log } = deps;
  const { whileRunning, everySecond, everyMinute, forgetting } = choresOf(deps);
  let timers: NodeJS.Timeout[] = [];
  let forgotAtMs = clock.monotonicMs();
  let underWay: Promise<void> | undefined;
  let preparing: Promise<unknown> | undefined;
  let isStopping = false;

  async function tidy(): Promise<void> {
    await doAll(log, whileRunning);
    await write();
  }

  async function write(): Promise<void> {
    await doAll(log, everySecond);
    if (clock.monotonicMs() - forgotAtMs < FORGET_EVERY_MS) return;
    // A stopping process has seconds left and needs them to write its memory. Expired rows can be deleted after the
    // next start.
    const chores = isStopping || (await isAhead(deps)) ? everyMinute : { ...everyMinute, ...forgetting };
    const isBehind = await doAll(log, chores, () => isStopping);
    if (!isBehind) forgotAtMs = clock.monotonicMs();
  }

  return {
    tidy,
    start(): void {
      const tidyOnce = () => {
        underWay ??= tidy().finally(() => {
          underWay = undefined;
        });
      };
      timers = [setInterval(tidyOnce, TIDY_EVERY_MS), setInterval(deps.calls.refresh, REFRESH_EVERY_MS)];
      for (const timer of timers) timer.unref();
      deps.sequencer.start();
      deps.deliverer.start();
      // Not awaited: until the next signing keys exist, ID tokens are signed with the present ones.
      preparing = doAll(log, { signing_keys: () => deps.signingKeys.prepare() });
    },
    /** Waits for the round under way, then runs a last round. */
    async stop(): Promise<void> {
      isStopping = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all([underWay, preparing]);
      await deps.deliverer.stop();
      // Before the last round, which adds up these counts with the last records.
      await doAll(log, { started: deps.started.flush });
      await write();
      await deps.sequencer.stop();
    },
  };
}

/**
 * Sets the clock back by twice the difference that readiness allows, so that a row counts as expired on the clock of
 * every instance. Otherwise a revocation deleted here would make its token valid on an instance whose clock is behind.
 * One process serves an SQLite database, so its own clock is enough.
 */
function bySlowestClock(deps: Deps): Deps {
  const { clock, storage } = deps;
  if (!mayHaveOtherInstances(storage)) return deps;
  return { ...deps, clock: { ...clock, now: () => clock.now() - 2 * MAX_CLOCK_DIFFERENCE_MS } };
}

const choresOf = (
  deps: Deps,
): Record<"whileRunning" | "everySecond" | "everyMinute" | "forgetting", Chores> => ({
  // Not part of the last round in `stop`: probes wait for identity providers, and a stop has no time for that.
  whileRunning: { probes: () => probeProviders(deps) },
  everySecond: {
    last_used: deps.lastUsed.flush,
    records: () => deps.recorder.flush(),
    // After the records, because writing them changes the tallies that this adds up.
    statistics: () => addUpTallies(deps),
    use: deps.useLog.flush,
    health: () => reportHealth(deps),
    // After the chores that note events.
    events: deps.sequencer.run,
    webhooks: () => deps.deliverer.look(),
    erasures: createErasing(deps),
  },
  everyMinute: {
    started: deps.started.flush,
    limiter: deps.limiter.sweep,
    sources: deps.anonymous.sweep,
    record_sources: deps.recordLimiter.sweep,
    discovery_tries: deps.discoveryTries.sweep,
    throttle: deps.signInThrottle.sweep,
    public_writes: deps.publicWrites.sweep,
    exports: deps.exports.sweep,
    failing_integrations: () => deps.deliverer.count(),
  },
  forgetting: {
    revocations: () => forgetExpiredRevocations(bySlowestClock(deps)),
    customer_tokens: () => forgetExpiredTokens(bySlowestClock(deps)),
    answers: () => forgetOldAnswers(bySlowestClock(deps)),
    attempts: () => forgetOldAttempts(bySlowestClock(deps)),
    setup_links: () => forgetSetupLinks(bySlowestClock(deps)),
    ended_sessions: () => forgetEndedSessions(deps),
    erased: () => forgetErased(deps, KNOWN_MS),
    old_statistics: () => forgetOldStatistics(deps),
    old_records: () => tidyRecords(deps),
    strangers: async () =>
      (await countUncounted(deps)) || forgetStrangers(deps, deps.recorder.takeStrangerStores()),
    old_events: () => forgetOldEvents(deps),
    old_deliveries: () => forgetOldDeliveries(deps),
    deleted_integrations: () => forgetDeletedIntegrations(deps),
    signing_keys: () => deps.signingKeys.maintain(),
  },
});

/**
 * A clock far ahead of the database's would delete revocations, codes and events that other instances still need. When
 * the database does not tell its time, nothing is deleted in this round.
 */
const isAhead = ({ storage, clock }: Pick<Deps, "storage" | "clock">): Promise<boolean> =>
  storage.ping().then(
    ({ nowMs }) => nowMs !== undefined && clock.now() - nowMs > MAX_CLOCK_DIFFERENCE_MS,
    () => true,
  );

/** Runs each chore, also after one has failed. Returns true when a chore has more to do. */
async function doAll(log: Log, chores: Chores, isEnough = () => false): Promise<boolean> {
  let isBehind = false;
  for (const [chore, work] of Object.entries(chores)) {
    if (isEnough()) return true;
    try {
      if ((await work()) === true) isBehind = true;
    } catch (error) {
      log.warn({ event: "tidy_failed", chore, cause: describeCause(error) });
    }
  }
  return isBehind;
}
