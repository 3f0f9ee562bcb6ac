import type { Output } from "./contract/operation.ts";
import { Problem } from "./contract/problem.ts";
import type * as contract from "./contract/service.ts";
import type { Valkey } from "./counters/valkey.ts";
import { type Clock, MAX_CLOCK_DIFFERENCE_MS } from "./lib/clock.ts";
import type { Calls } from "./profiles/calls.ts";
import { isCrowded, isWriteRefused } from "./storage/failures.ts";
import type { Pool, Storage } from "./storage/storage.ts";
import type { Workers } from "./workers.ts";

/**
 * The answer of a ready instance. Providers that are down, and the notes in `degraded`, are reported and do not make
 * the instance unready: it still serves requests.
 */
type Ready = Output<typeof contract.ready>;

/** The findings of one process. */
type Findings = Pick<Ready, "identity_providers"> & { reasons: string[]; degraded: string[] };

const ANSWER_WITHIN_MS = 2000;
const REMEMBER_MS = 500;

type Deps = {
  storage: Storage;
  clock: Clock;
  calls: Pick<Calls, "count">;
  valkey: Pick<Valkey, "isAway" | "instances" | "eviction"> | undefined;
  /** The other workers of this instance, for which this one answers as well. */
  workers?: Workers | undefined;
};

/** Decides whether a load balancer should send requests to this instance, and if not, why. */
export function createReadiness({ storage, clock, calls, valkey, workers }: Deps) {
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
        `the clock of this machine was moved by ${Math.round(clock.stepMs() / 1000)} seconds while the service ran`,
      );
    }
    if (draining) reasons.push(SHUTTING_DOWN);
    const degraded = [...notesOfCounters(valkey, otherInstances), ...notesOf(storage.pool?.(), isTooBusy)];
    return { reasons, degraded, identity_providers: calls.count() };
  }

  async function lookEverywhere(): Promise<Findings> {
    if (!workers) return look();
    const { answers, workers: count } = await workers.ask("readiness");
    // No worker answered in time: a database that accepts statements and never answers takes longer than that to be
    // noticed.
    return joined(answers.length > 0 ? (answers as Findings[]) : [await look()], count);
  }

  /**
   * Remembers the findings for half a second, because anyone can call `/health/ready` and must not load the database
   * with it.
   */
  function findings(): Promise<Findings> {
    if (!last || clock.monotonicMs() - last.atMs >= REMEMBER_MS) {
      last = { atMs: clock.monotonicMs(), findings: lookEverywhere() };
    }
    return last.findings;
  }

  return {
    /** Notes for the operator about limits and notices that work only in part, as this process sees them. */
    degraded: async () => (await look()).degraded,
    /** Makes the instance unready at once, before it serves its last requests. */
    drain(): void {
      draining = true;
    },
    async check(): Promise<Ready> {
      if (draining) throw new Problem("not_ready", { meta: { reasons: [SHUTTING_DOWN] } });
      const { reasons, degraded, identity_providers } = await findings();
      if (reasons.length > 0) throw new Problem("not_ready", { meta: { reasons } });
      return { status: "ready", identity_providers, ...(degraded.length > 0 && { degraded }) };
    },
  };
}

const SHUTTING_DOWN = "the instance is shutting down";

/**
 * A client cannot choose its worker, so a reason that one worker gives counts for the instance. A silent worker is no
 * reason, because new connections go to the other workers.
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
 * An instance whose database connections are all in use stays ready: without it the other instances would get its load
 * and become unready too. It refuses single requests instead. A request that still waits after this check had its
 * connection shows that the queue is not just short-lived.
 */
function notesOf(pool: Pool | undefined, isTooBusy: boolean): string[] {
  const notes: string[] = [];
  if (pool && (isTooBusy || pool.waiting > 0))
    notes.push(
      `all ${pool.connections} connections to the database are in use and ${pool.waiting} requests wait`,
    );
  if (pool?.deafness)
    notes.push(
      `notices of other instances do not arrive, so cached data is dropped three times a second: ${pool.deafness}`,
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
