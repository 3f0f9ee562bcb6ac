import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Problem } from "../contract/problem.ts";
import type { ProblemCode } from "../contract/problems.ts";
import type { Log } from "../lib/log.ts";
import type { Answered, InFlight } from "./exchange.ts";

/**
 * Each request gets one log line, one count and one duration. The log line has the fields named here and no others, so
 * a secret in a request cannot reach the log.
 */
type Observer = { onAnswered(answered: Answered): void; inFlight: InFlight; registry: Registry };

export function createObserver({ log }: { log: Log }): Observer {
  const registry = new Registry();
  // A timer samples the event loop's delay. At the library's default of 10 ms, that timer is most of the work of an
  // idle process.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
  // Several workers report the highest value: the library's mean would hide one blocked worker among others that are
  // not.
  Object.assign(registry.getSingleMetric("nodejs_eventloop_lag_p99_seconds") ?? {}, { aggregator: "max" });
  const requests = new Counter({
    name: "latchkey_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "latchkey_http_request_duration_seconds",
    help: "Time from the first byte of a request's headers to its answer",
    labelNames: ["method", "route"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const refusals = new Counter({
    name: "latchkey_rate_limit_refusals_total",
    help: "Requests answered 429, by the first bucket that was empty",
    labelNames: ["bucket"],
    registers: [registry],
  });
  for (const bucket of BUCKETS) refusals.inc({ bucket }, 0);
  const inFlight: InFlight = { requests: 0 };
  new Gauge({
    name: "latchkey_http_requests_in_flight",
    help: "Requests that are not answered yet",
    registers: [registry],
    collect() {
      this.set(inFlight.requests);
    },
  });

  return {
    registry,
    inFlight,
    onAnswered(answered) {
      const { route, status, durationMs, caller, problem, failure } = answered;
      const method = knownMethod(answered.method);
      requests.inc({ method, route, status });
      durations.observe({ method, route }, durationMs / 1000);
      if (status === 429) refusals.inc({ bucket: bucketOf(problem) });
      const line = {
        event: "request",
        request_id: answered.requestId,
        method,
        route,
        status,
        duration_ms: Math.round(durationMs * 100) / 100,
        source: answered.source,
        store_id: caller?.storeId,
        application_key_id: caller?.holder.type === "application_key" ? caller.holder.id : undefined,
        member_id: caller?.holder.type === "member" ? caller.holder.id : undefined,
        customer_id: caller?.customer?.customerId,
        problems: problem?.faults.map((fault) => fault.code),
        reference: failure?.reference ?? problem?.faults[0].meta?.reference,
        reason: failure?.reason ?? problem?.faults[0].meta?.reason,
      };
      // A 4xx is the caller's mistake and logged as information, unless the redirect that answered it hides a failure
      // of the service.
      if (status < 500 && failure?.cause === undefined) log.info(line);
      else log.error({ ...line, cause: describeCause(problem?.cause ?? failure?.cause) });
    },
  };
}

/** Limits that do not count requests have a problem code of their own, which names the limit. */
const NAMED_BUCKETS: Partial<Record<ProblemCode, string>> = {
  sign_in_attempts_exceeded: "password",
  sign_ups_exceeded: "sign_ups",
  own_changes_exceeded: "own_changes",
  discovery_tries_exceeded: "discovery",
};
const BUCKETS = ["reserved", "shared", "source", ...Object.values(NAMED_BUCKETS)];

function bucketOf(problem: Problem | undefined): string {
  const named = problem && NAMED_BUCKETS[problem.code];
  if (named) return named;
  const { bucket, reserved } = problem?.faults[0].meta ?? {};
  // A key with a reservation was refused by its reservation first, and then by the shared pool.
  if (bucket === "shared" && Number(reserved) > 0) return "reserved";
  return typeof bucket === "string" ? bucket : "other";
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);
const knownMethod = (method: string): string => (METHODS.has(method) ? method : "other");

/**
 * The class of an unexpected error and where it was thrown. The message is left out, because database drivers quote
 * values in it.
 */
export function describeCause(cause: unknown): { name: string; code?: string; at?: string[] } | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code } = cause as Error & { code?: unknown };
  const at = cause.stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .map((line) => line.trim());
  return { name: cause.name, ...(typeof code === "string" && { code }), ...(at && { at }) };
}
