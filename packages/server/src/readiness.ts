import { Problem } from "./contract/problem.ts";
import type { Valkey } from "./counters/valkey.ts";
import type { Calls } from "./identity-provider/calls.ts";
import type { Clock } from "./lib/clock.ts";
import { isWriteRefused, type Storage } from "./storage/storage.ts";

/**
 * Identity providers that are not well are told here, and never a reason not to be ready: others are. Neither is what is
 * `degraded`: requests are served, and what is promised of them holds in part.
 */
type Ready = {
  status: "ready";
  identity_providers: { down: number; degraded: number };
  degraded?: string[];
};

/** Whether this instance should be sent requests, and if not, why. */
export type Readiness = {
  check(): Promise<Ready>;
  /** From now on: no. The balancer hears it before the last request is served. */
  drain(): void;
  /** What does not hold in full just now, in words for an operator. */
  degraded(): Promise<string[]>;
};

const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const ANSWER_WITHIN_MS = 2000;
const REMEMBER_MS = 500;

type Deps = {
  storage: Storage;
  clock: Clock;
  calls: Pick<Calls, "count">;
  valkey: Pick<Valkey, "isAway" | "instances"> | undefined;
};

export function createReadiness({ storage, clock, calls, valkey }: Deps): Readiness {
  let draining = false;
  let otherInstances = 0;
  let last: { atMs: number; reasons: Promise<string[]> } | undefined;

  async function findReasons(): Promise<string[]> {
    const reasons: string[] = [];
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("too late")), ANSWER_WITHIN_MS);
    try {
      const answer = await Promise.race([storage.ping(), late]);
      const { nowMs } = answer;
      otherInstances = answer.otherInstances;
      if (nowMs !== undefined && Math.abs(nowMs - clock.now()) > MAX_CLOCK_DIFFERENCE_MS) {
        reasons.push("the clock of this machine and that of the database are more than 60 seconds apart");
      }
    } catch (error) {
      reasons.push(
        isWriteRefused(error)
          ? "the database cannot be written to: its disk is full or read-only"
          : "the database does not answer",
      );
    } finally {
      clearTimeout(timer);
    }
    if (clock.stepMs() !== 0) {
      reasons.push(
        `the clock of this machine was moved by ${Math.round(clock.stepMs() / 1000)} seconds while we ran`,
      );
    }
    return reasons;
  }

  function findDegraded(): string[] {
    if (valkey?.isAway())
      return [
        `counters: Valkey does not answer; of each store's shared pool this instance gives one part in ${valkey.instances()}, reservations are kept whole`,
      ];
    if (!valkey && otherInstances > 0)
      return [
        `counters: ${otherInstances} more on this database, and LATCHKEY_VALKEY_URL is not set; each instance counts for itself, so that limits add up`,
      ];
    return [];
  }

  async function reasonsNow(): Promise<string[]> {
    // Anybody may ask, so asking often must not mean asking the database often.
    if (!last || clock.monotonicMs() - last.atMs >= REMEMBER_MS) {
      last = { atMs: clock.monotonicMs(), reasons: findReasons() };
    }
    return last.reasons;
  }

  return {
    async degraded() {
      await reasonsNow();
      return findDegraded();
    },
    drain() {
      draining = true;
    },
    async check() {
      if (draining) throw new Problem("not_ready", { meta: { reasons: ["the instance is shutting down"] } });
      const reasons = await reasonsNow();
      if (reasons.length > 0) throw new Problem("not_ready", { meta: { reasons } });
      const degraded = findDegraded();
      return {
        status: "ready",
        identity_providers: calls.count(),
        ...(degraded.length > 0 && { degraded }),
      };
    },
  };
}
