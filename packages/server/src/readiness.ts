import { Problem } from "./contract/problem.ts";
import type { Valkey } from "./counters/valkey.ts";
import { type Clock, MAX_CLOCK_DIFFERENCE_MS } from "./lib/clock.ts";
import type { Calls } from "./profiles/calls.ts";
import { isCrowded, isWriteRefused } from "./storage/failures.ts";
import type { Pool, Storage } from "./storage/storage.ts";
import type { Workers } from "./workers.ts";

/**
 * Identity providers that are not well are told here, and never a reason not to be ready: others are. Neither is what is
 * `degraded`: requests are served, and what is promised of them holds in part.
 */
type Ready = {
  status: "ready";
  identity_providers: { down: number; degraded: number };
  degraded?: string[];
};

/** What one process has found out. */
type Findings = Pick<Ready, "identity_providers"> & { reasons: string[]; degraded: string[] };

/** Whether this instance should be sent requests, and if not, why. */
export type Readiness = {
  check(): Promise<Ready>;
  /** From now on: no. The balancer hears it before the last request is served. */
  drain(): void;
  /** What does not hold in full just now, in words for an operator, as this process alone sees it. */
  degraded(): Promise<string[]>;
};

const ANSWER_WITHIN_MS = 2000;
const REMEMBER_MS = 500;

type Deps = {
  storage: Storage;
  clock: Clock;
  calls: Pick<Calls, "count">;
  valkey: Pick<Valkey, "isAway" | "instances" | "eviction"> | undefined;
  /** Where there are several of us behind one address: any answers for all. */
  workers?: Workers | undefined;
};

export function createReadiness({ storage, clock, calls, valkey, workers }: Deps): Readiness {
  let draining = false;
  let otherInstances = 0;
  let last: { atMs: number; findings: Promise<Findings> } | undefined;
  workers?.answer("readiness", look);

  async function look(): Promise<Findings> {
    const reasons: string[] = [];
    let isTooBusy = false;
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
      isTooBusy = isCrowded(error);
      if (isWriteRefused(error))
        reasons.push("the database cannot be written to: its disk is full or read-only");
      else if (!isTooBusy) reasons.push("the database does not answer");
    } finally {
      clearTimeout(timer);
    }
    if (clock.stepMs() !== 0) {
      reasons.push(
        `the clock of this machine was moved by ${Math.round(clock.stepMs() / 1000)} seconds while we ran`,
      );
    }
    if (draining) reasons.push(SHUTTING_DOWN);
    const degraded = [...notesOfCounters(valkey, otherInstances), ...notesOf(storage.pool?.(), isTooBusy)];
    return { reasons, degraded, identity_providers: calls.count() };
  }

  async function lookEverywhere(): Promise<Findings> {
    if (!workers) return look();
    const { answers, workers: count } = await workers.ask("readiness");
    // None could say in time what it has found: a database that swallows everything takes longer than that to be noticed.
    return joined(answers.length > 0 ? (answers as Findings[]) : [await look()], count);
  }

  /** Anybody may ask, so asking often must not mean asking the database often. */
  function findings(): Promise<Findings> {
    if (!last || clock.monotonicMs() - last.atMs >= REMEMBER_MS) {
      last = { atMs: clock.monotonicMs(), findings: lookEverywhere() };
    }
    return last.findings;
  }

  return {
    degraded: async () => (await look()).degraded,
    drain() {
      draining = true;
    },
    async check() {
      if (draining) throw new Problem("not_ready", { meta: { reasons: [SHUTTING_DOWN] } });
      const { reasons, degraded, identity_providers } = await findings();
      if (reasons.length > 0) throw new Problem("not_ready", { meta: { reasons } });
      return {
        status: "ready",
        identity_providers,
        ...(degraded.length > 0 && { degraded }),
      };
    },
  };
}

const SHUTTING_DOWN = "the instance is shutting down";

/**
 * Nobody can choose the worker that serves a request, so what keeps one of them from serving is a reason for all. One that does
 * not answer is not: new connections go to the others.
 */
function joined(findings: readonly Findings[], workers: number): Findings {
  const all = (of: "reasons" | "degraded") => [...new Set(findings.flatMap((found) => found[of]))];
  const most = (of: "down" | "degraded") =>
    Math.max(0, ...findings.map(({ identity_providers }) => identity_providers[of]));
  const silent = workers - findings.length;
  return {
    reasons: all("reasons"),
    degraded: [...all("degraded"), ...(silent > 0 ? [`${silent} of ${workers} workers do not answer`] : [])],
    identity_providers: { down: most("down"), degraded: most("degraded") },
  };
}

/**
 * An instance that has more to do than connections stays ready: taken out of the balancer it would leave its load to the others,
 * which have as much, and so one after the other would go. What is too much is refused, request by request. Somebody who
 * still waits when our own look has had its turn shows that the queue stands, and is not just passing through.
 */
function notesOf(pool: Pool | undefined, isTooBusy: boolean): string[] {
  const notes: string[] = [];
  if (pool && (isTooBusy || pool.waiting > 0))
    notes.push(
      `all ${pool.connections} connections to the database are in use and ${pool.waiting} requests wait`,
    );
  if (pool?.deafness)
    notes.push(
      `notices of other instances are not heard, so what is in memory is dropped three times a second: ${pool.deafness}`,
    );
  return notes;
}

function notesOfCounters(valkey: Deps["valkey"], otherInstances: number): string[] {
  if (valkey?.isAway())
    return [
      `counters: Valkey does not answer; of each store's shared pool this instance gives one part in ${valkey.instances()}, reservations are kept whole`,
    ];
  const eviction = valkey?.eviction();
  if (eviction !== undefined)
    return [
      `counters: Valkey throws keys away when its memory is full (maxmemory-policy ${eviction}), and limits then begin anew; set it to noeviction`,
    ];
  if (!valkey && otherInstances > 0)
    return [
      `counters: ${otherInstances} more on this database, and LATCHKEY_VALKEY_URL is not set; each instance counts for itself, so that limits add up`,
    ];
  return [];
}
