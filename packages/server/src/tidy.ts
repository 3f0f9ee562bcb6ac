import type { Logger } from "pino";
import { forgetExpiredRevocations } from "./access/inspect.ts";
import { forgetOldAnswers } from "./customers/answer-once.ts";
import { forgetExpiredTokens } from "./customers/customer-token.ts";
import type { SigningKeys } from "./customers/signing-keys.ts";
import type { SignInThrottle } from "./customers/throttle.ts";
import { goOnErasing } from "./events/erase.ts";
import { forgetOldEvents } from "./events/forget.ts";
import type { Sequencer } from "./events/sequencer.ts";
import { describeCause } from "./http/observe.ts";
import type { Calls } from "./identity-provider/calls.ts";
import { tellHealth } from "./identity-provider/tell-health.ts";
import type { Clock } from "./lib/clock.ts";
import type { LastUsed } from "./rate-limit/last-used.ts";
import type { Limiter } from "./rate-limit/limiter.ts";
import type { SourceLimiter } from "./rate-limit/source-limiter.ts";
import { forgetOldAttempts } from "./sign-on/code.ts";
import { forgetStrangers, tidyRecords } from "./sign-on/forget-records.ts";
import type { Recorder } from "./sign-on/record.ts";
import type { RecordLimiter } from "./sign-on/record-limiter.ts";
import type { Storage } from "./storage/storage.ts";

const TIDY_EVERY_MS = 1000;
const FORGET_EVERY_MS = 60_000;

type Deps = {
  log: Logger;
  storage: Storage;
  clock: Clock;
  limiter: Limiter;
  sourceLimiter: SourceLimiter;
  lastUsed: LastUsed;
  signInThrottle: SignInThrottle;
  signingKeys: SigningKeys;
  calls: Calls;
  sequencer: Sequencer;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
  codeSeconds: number;
  recordDays: number;
  eventDays: number;
};

/** Work that nobody waits for: writes what was noted, forgets what is over. Runs once a second after `start`. */
export type Tidying = {
  tidy(): Promise<void>;
  start(): void;
  /** Waits for the round that is under way, and does a last one. */
  stop(): Promise<void>;
};

type Chores = Record<string, () => unknown>;

export function createTidying(deps: Deps): Tidying {
  const { clock, log } = deps;
  const { everySecond, everyMinute } = choresOf(deps);
  let timer: NodeJS.Timeout | undefined;
  let forgotAtMs = clock.monotonicMs();
  let underWay: Promise<void> | undefined;

  async function tidy(): Promise<void> {
    await doAll(log, everySecond);
    if (clock.monotonicMs() - forgotAtMs < FORGET_EVERY_MS) return;
    const isBehind = await doAll(log, everyMinute);
    if (!isBehind) forgotAtMs = clock.monotonicMs();
  }

  return {
    tidy,
    start() {
      timer = setInterval(() => {
        underWay ??= tidy().finally(() => {
          underWay = undefined;
        });
      }, TIDY_EVERY_MS);
      timer.unref();
      deps.sequencer.start();
    },
    async stop() {
      clearInterval(timer);
      await underWay;
      await tidy();
      await deps.sequencer.stop();
    },
  };
}

const choresOf = (deps: Deps): { everySecond: Chores; everyMinute: Chores } => ({
  everySecond: {
    last_used: deps.lastUsed.flush,
    records: deps.recorder.flush,
    health: () => tellHealth(deps),
    // After those that note something.
    events: deps.sequencer.run,
    erasures: () => goOnErasing(deps),
  },
  everyMinute: {
    limiter: deps.limiter.sweep,
    sources: deps.sourceLimiter.sweep,
    record_sources: deps.recordLimiter.sweep,
    throttle: deps.signInThrottle.sweep,
    revocations: () => forgetExpiredRevocations(deps),
    customer_tokens: () => forgetExpiredTokens(deps),
    answers: () => forgetOldAnswers(deps),
    attempts: () => forgetOldAttempts(deps),
    old_records: () => tidyRecords(deps, deps),
    strangers: () => forgetStrangers(deps, deps.recorder.takeStrangerStores()),
    old_events: () => forgetOldEvents(deps, deps),
    signing_keys: deps.signingKeys.maintain,
  },
});

/** One chore that fails must not keep the others from being done. True: one of them has more to do. */
async function doAll(log: Logger, chores: Chores): Promise<boolean> {
  let isBehind = false;
  for (const [chore, work] of Object.entries(chores)) {
    try {
      if ((await work()) === true) isBehind = true;
    } catch (error) {
      log.warn({ event: "tidy_failed", chore, cause: describeCause(error) });
    }
  }
  return isBehind;
}
