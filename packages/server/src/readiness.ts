import { Problem } from "./contract/problem.ts";
import type { Calls } from "./identity-provider/calls.ts";
import type { Clock } from "./lib/clock.ts";
import { isWriteRefused, type Storage } from "./storage/storage.ts";

/** Identity providers that are not well are told here, and never a reason not to be ready: others are. */
type Ready = { status: "ready"; identity_providers: { down: number; degraded: number } };

/** Whether this instance should be sent requests, and if not, why. */
export type Readiness = {
  check(): Promise<Ready>;
  /** From now on: no. The balancer hears it before the last request is served. */
  drain(): void;
};

const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const ANSWER_WITHIN_MS = 2000;
const REMEMBER_MS = 500;

type Deps = { storage: Storage; clock: Clock; calls: Pick<Calls, "count"> };

export function createReadiness({ storage, clock, calls }: Deps): Readiness {
  let draining = false;
  let last: { atMs: number; reasons: Promise<string[]> } | undefined;

  async function findReasons(): Promise<string[]> {
    const reasons: string[] = [];
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("too late")), ANSWER_WITHIN_MS);
    try {
      const { nowMs } = await Promise.race([storage.ping(), late]);
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

  return {
    drain() {
      draining = true;
    },
    async check() {
      if (draining) throw new Problem("not_ready", { meta: { reasons: ["the instance is shutting down"] } });
      // Anybody may ask, so asking often must not mean asking the database often.
      if (!last || clock.monotonicMs() - last.atMs >= REMEMBER_MS) {
        last = { atMs: clock.monotonicMs(), reasons: findReasons() };
      }
      const reasons = await last.reasons;
      if (reasons.length > 0) throw new Problem("not_ready", { meta: { reasons } });
      return { status: "ready", identity_providers: calls.count() };
    },
  };
}
