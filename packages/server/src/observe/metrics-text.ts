import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import type { Clock } from "../lib/clock.ts";
import type { Gathered, Workers } from "../workers.ts";

const REMEMBER_MS = 1000;

/** Makes the text for Prometheus at most once a second, because it takes milliseconds and anyone can request it. */
export function createMetricsText(deps: {
  clock: Clock;
  registry: Registry;
  workers?: Workers | undefined;
}): () => Promise<string> {
  const { clock, registry, workers } = deps;
  let last: { atMs: number; text: Promise<string> } | undefined;
  workers?.answer("metrics", () => registry.getMetricsAsJSON());
  const make = async () => (workers ? textOfAll(await workers.ask("metrics")) : registry.metrics());
  return () => {
    const atMs = clock.monotonicMs();
    if (!last || atMs - last.atMs >= REMEMBER_MS) last = { atMs, text: make() };
    return last.text;
  };
}

/**
 * Adds up the metrics of all workers, unless a metric names another `aggregator`. While the primary does not answer,
 * the counts of the other workers are unknown; counters and histograms are then left out, because their values would
 * fall.
 */
async function textOfAll({ answers, missing, workers, lost, startedAt }: Gathered): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const gauge = new Gauge({
    name: "latchkey_workers",
    help: "Worker processes, by whether they have answered this question",
    labelNames: ["state"],
    registers,
  });
  gauge.set({ state: "answering" }, answers.length);
  gauge.set({ state: "silent" }, workers - answers.length);
  if (startedAt === undefined) {
    const known = answers.map((figures) => (figures as Figure[]).filter(isOfOneProcess));
    return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...known]).metrics();
  }
  const help = "Worker processes that have ended and were replaced";
  new Counter({ name: "latchkey_workers_lost_total", help, registers }).inc(lost);
  const start = {
    name: "process_start_time_seconds",
    help: "Start of the primary process, in seconds since 1970",
  };
  new Gauge({ ...start, registers, aggregator: "first" }).set(startedAt);
  const own = await registry.getMetricsAsJSON();
  // First in the list: the first registry with a metric decides its aggregator, and the primary's start replaces a
  // worker's.
  return AggregatorRegistry.aggregate([own, ...answers, await addUp(missing)] as object[]).metrics();
}

type Figure = { name: string; type: string };

const isGrowing = ({ type }: Figure): boolean => type === "counter" || type === "histogram";

/** Metrics that are right for one process alone. The start time is not: only the primary knows it. */
const isOfOneProcess = (figure: Figure): boolean =>
  !isGrowing(figure) && figure.name !== "process_start_time_seconds";

/** Adds up counters and histograms of workers that have ended, so that the totals do not fall. */
export function addUp(counted: readonly unknown[]): Promise<unknown> {
  const growing = (counted as Figure[][]).map((figures) => figures.filter(isGrowing));
  return AggregatorRegistry.aggregate(growing).getMetricsAsJSON();
}
