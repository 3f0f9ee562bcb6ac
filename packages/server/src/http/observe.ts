import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Problem } from "../contract/problem.ts";
import type { Log } from "../lib/log.ts";
import type { Answered, InFlight } from "./exchange.ts";
import { createRequestCounts } from "./request-counts.ts";

/**
 * One log line and two figures for each request. The line is built from a list of fields, not from the request with
 * fields taken out: what is not named here cannot get into the log.
 */
type Observer = { onAnswered(answered: Answered): void; inFlight: InFlight; registry: Registry };

export function createObserver({ log }: { log: Log }): Observer {
  const registry = new Registry();
  // The event loop's delay is sampled by a timer; every 10 ms, as the library would, is most of what an idle process does.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
  // Of several workers the latest counts: in the library's mean, one that is blocked disappears among those that are not.
  Object.assign(registry.getSingleMetric("nodejs_eventloop_lag_p99_seconds") ?? {}, { aggregator: "max" });
  const countRequest = createRequestCounts(registry);
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
      const { method, route, status, durationMs, caller, problem, failure } = answered;
      countRequest(knownMethod(method), route, status, durationMs / 1000);
      if (status === 429) refusals.inc({ bucket: bucketOf(problem) });
      const line = {
        event: "request",
        request_id: answered.requestId,
        method: knownMethod(method),
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
      // A caller's mistake is no alarm of ours, whatever the parser threw; behind a redirect may stand a fault that is.
      if (status < 500 && failure?.cause === undefined) log.info(line);
      else log.error({ ...line, cause: describeCause(problem?.cause ?? failure?.cause) });
    },
  };
}

const BUCKETS = ["reserved", "shared", "source", "password", "sign_ups", "own_changes", "discovery"];

/** The limits that are not counted in requests have problems of their own, which name them. */
function bucketOf(problem: Problem | undefined): string {
  if (problem?.code === "sign_in_attempts_exceeded") return "password";
  if (problem?.code === "sign_ups_exceeded") return "sign_ups";
  if (problem?.code === "own_changes_exceeded") return "own_changes";
  if (problem?.code === "discovery_tries_exceeded") return "discovery";
  const { bucket, reserved } = problem?.faults[0].meta ?? {};
  // Whoever has a reservation was refused by that first, and then by the pool.
  if (bucket === "shared" && Number(reserved) > 0) return "reserved";
  return typeof bucket === "string" ? bucket : "other";
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);
const knownMethod = (method: string): string => (METHODS.has(method) ? method : "other");

/** The kind of an unexpected error and where it was raised. Its message is left out: a driver may quote values in it. */
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
