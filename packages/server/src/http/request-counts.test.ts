import fc from "fast-check";
import { AggregatorRegistry, Counter, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { createRequestCounts } from "./request-counts.ts";

const requests = fc.array(
  fc.record({
    method: fc.constantFrom("GET", "PUT"),
    route: fc.constantFrom("/v2/settings", "/v2/keys/{id}"),
    status: fc.constantFrom(200, 404, 429),
    // Bounds themselves, too.
    seconds: fc.constantFrom(0, 0.0004, 0.001, 0.0011, 0.25, 0.7, 10, 10.5),
  }),
);

type Request = { method: string; route: string; status: number; seconds: number };

/** As prom-client counts them. */
function countedByTheLibrary(all: readonly Request[]): Registry {
  const registry = new Registry();
  const requests = new Counter({
    name: "latchkey_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const duration = new Histogram({
    name: "latchkey_http_request_duration_seconds",
    help: "Time from the first byte of a request's headers to its answer",
    labelNames: ["method", "route"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  for (const { method, route, status, seconds } of all) {
    requests.inc({ method, route, status });
    duration.observe({ method, route }, seconds);
  }
  return registry;
}

function countedHere(all: readonly Request[]): Registry {
  const registry = new Registry();
  const count = createRequestCounts(registry);
  for (const { method, route, status, seconds } of all) count(method, route, status, seconds);
  return registry;
}

const lines = async (registry: Pick<Registry, "metrics">) => (await registry.metrics()).split("\n").sort();

/** As the figures of several workers are added up, which send them as JSON. */
const twice = async (registry: Registry) => {
  const figures: object[] = JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()));
  return AggregatorRegistry.aggregate([figures, figures]);
};

test("requests and their durations read as if prom-client had counted them, of one process and of several", () =>
  fc.assert(
    fc.asyncProperty(requests, async (all) => {
      const [ours, theirs] = [countedHere(all), countedByTheLibrary(all)];
      expect(await lines(ours)).toEqual(await lines(theirs));
      expect(await lines(await twice(ours))).toEqual(await lines(await twice(theirs)));
    }),
  ));
