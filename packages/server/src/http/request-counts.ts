import { Counter, type Histogram, type Registry } from "prom-client";

/** The requests to one route by one method. */
type Tally = {
  labels: { method: string; route: string };
  byStatus: Map<number, number>;
  /** How many took up to each bound and longer than the one before; the last, longer than all. */
  byDuration: number[];
  count: number;
  seconds: number;
};

const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Requests and how long they took. They are counted in numbers of our own, which become metrics when somebody asks: prom-client makes a
 * text of the labels at each count, which is a twentieth of a short request.
 */
export function createRequestCounts(registry: Registry) {
  const tallies = new Map<string, Map<string, Tally>>();
  const all = () => [...tallies.values()].flatMap((byMethod) => [...byMethod.values()]);

  new Counter({
    name: "latchkey_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, byStatus } of all())
        for (const [status, count] of byStatus) this.inc({ ...labels, status }, count);
    },
  });
  const duration = {
    name: "latchkey_http_request_duration_seconds",
    help: "Time from the first byte of a request's headers to its answer",
    type: "histogram",
    aggregator: "sum",
  };
  const get = async () => ({
    ...duration,
    values: all().flatMap((tally) => durationsOf(duration.name, tally)),
  });
  // A registry asks a metric for its name and its figures alone; the type names the library's classes.
  registry.registerMetric({ ...duration, get } as unknown as Histogram);

  return (method: string, route: string, status: number, seconds: number): void => {
    const tally = tallies.get(route)?.get(method) ?? newTally(method, route);
    tally.byStatus.set(status, (tally.byStatus.get(status) ?? 0) + 1);
    const place = placeOf(seconds);
    tally.byDuration[place] = (tally.byDuration[place] ?? 0) + 1;
    tally.count++;
    tally.seconds += seconds;
  };

  function newTally(method: string, route: string): Tally {
    const byDuration = Array.from({ length: BOUNDS.length + 1 }, () => 0);
    const tally = { labels: { method, route }, byStatus: new Map(), byDuration, count: 0, seconds: 0 };
    const byMethod = tallies.get(route) ?? new Map<string, Tally>();
    tallies.set(route, byMethod.set(method, tally));
    return tally;
  }
}

function placeOf(seconds: number): number {
  const place = BOUNDS.findIndex((bound) => seconds <= bound);
  return place < 0 ? BOUNDS.length : place;
}

/** Each bucket says how many took up to its bound, so it holds those before it. */
function durationsOf(name: string, { labels, byDuration, count, seconds }: Tally) {
  let upTo = 0;
  const buckets = [...BOUNDS, "+Inf"].map((le, place) => {
    upTo += byDuration[place] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: upTo };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: seconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
