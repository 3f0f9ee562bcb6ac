import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import build from "../../package.json" with { type: "json" };
import type { Standings } from "../access/authenticate.ts";
import type { Traces } from "../contract/traces.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Sequencer } from "../events/sequencer.ts";
import type { Streams } from "../events/stream.ts";
import type { Deliverer, OnAttempt } from "../integrations/deliverer.ts";
import type { LineWriter } from "../lib/line-writer.ts";
import type { Passwords } from "../passwords/password.ts";
import type { SignInThrottle } from "../passwords/sign-in-throttle.ts";
import type { Calls, OnCall } from "../profiles/calls.ts";
import type { Cap } from "../rate-limit/cap.ts";
import type { Limiter } from "../rate-limit/limiter.ts";
import type { UseLog } from "../rate-limit/use-log.ts";
import type { CountSignOn, Recorder } from "../sign-on-records/recorder.ts";
import type { StartedCounts } from "../sign-on-records/started.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * The release, Node version and database engine. A dashboard joins them to other metrics by instance, and shows a
 * rollout.
 */
export function describeBuild(registry: Registry, engine: Storage["engine"]): void {
  new Gauge({
    name: "latchkey_build_info",
    help: "Always 1; the labels say what runs here",
    labelNames: ["version", "node", "engine"],
    registers: [registry],
    aggregator: "first",
  }).set({ version: build.version, node: process.version, engine }, 1);
}

/**
 * Labels are outcome and reason, which are fixed tables. Store, realm and provider are no labels, because ten thousand
 * stores would make as many series of each; the records of sign-ons have them (ADR 26).
 */
export function countSignOns(registry: Registry): CountSignOn {
  const signOns = new Counter({
    name: "latchkey_sign_ons_total",
    help: "Sign-ons that came so far: started, code_issued, exchanged; or ended: failed, expired, with the reason",
    labelNames: ["outcome", "reason"],
    registers: [registry],
  });
  for (const outcome of ["started", "code_issued", "exchanged"]) signOns.inc({ outcome, reason: "" }, 0);
  return (outcome, reason, times = 1) => signOns.inc({ outcome, reason: reason ?? "" }, times);
}

/** Durations by kind of request. The records of sign-ons have the durations of each provider. */
export function measureCalls(registry: Registry): OnCall {
  const duration = new Histogram({
    name: "latchkey_idp_request_duration_seconds",
    help: "Time that requests to identity providers took, connecting included",
    labelNames: ["request", "outcome"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8],
    registers: [registry],
  });
  for (const request of ["discovery", "keys", "token", "userinfo"])
    for (const outcome of ["ok", "refused", "failed"]) duration.zero({ request, outcome });
  return (request, outcome, elapsedMs) => duration.observe({ request, outcome }, elapsedMs / 1000);
}

/** Durations by outcome. The deliveries of an integration show its own attempts. */
export function measureDeliveries(registry: Registry): OnAttempt {
  const duration = new Histogram({
    name: "latchkey_webhook_duration_seconds",
    help: "Time that attempts to deliver a webhook took, by what came of them; given_up: failed for the last time",
    labelNames: ["outcome"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    registers: [registry],
  });
  for (const outcome of ["delivered", "failed", "given_up"]) duration.zero({ outcome });
  return (outcome, elapsedMs) => duration.observe({ outcome }, elapsedMs / 1000);
}

type Measured = {
  registry: Registry;
  limiter: Limiter;
  anonymous: Cap;
  useLog: UseLog;
  standings: Standings;
  passwords: Passwords;
  signInThrottle: SignInThrottle;
  recorder: Recorder;
  started: StartedCounts;
  calls: Calls;
  valkey: Valkey | undefined;
  lines: Pick<LineWriter, "waiting" | "dropped"> | undefined;
  traces: Traces | undefined;
  sequencer: Sequencer;
  streams: Streams;
  deliverer: Deliverer;
};

/** Makes metrics with a single value, which is read at each scrape. */
const figuresIn = (registry: Registry) => ({
  gauge: (name: string, help: string, read: () => number, aggregator: "sum" | "max" | "min" = "sum") =>
    new Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      collect() {
        this.set(read());
      },
    }),
  /** For a value that its owner counts, and that only grows. */
  counter: (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    }),
});

/** Sizes of what memory holds, and counts of what was lost. http/observe.ts counts requests. */
export function measureMemory(measured: Measured): void {
  const { registry, limiter, anonymous, useLog, standings, signInThrottle, passwords, lines } = measured;
  const { recorder, started, valkey, traces, streams, sequencer, deliverer, calls } = measured;
  const { gauge, counter } = figuresIn(registry);
  gauge(
    "latchkey_limiter_keys",
    "Application keys that the limiter has in memory",
    () => limiter.size().keys,
  );
  gauge("latchkey_limiter_sources", "Source addresses in memory", anonymous.size);
  gauge("latchkey_use_log_bytes", "Memory of the planner's log of use", useLog.bytes);
  gauge("latchkey_token_standings", "Access tokens whose standing is in memory", standings.principals.size);
  const attempts = "Accounts and addresses with failed attempts to sign in";
  gauge("latchkey_sign_in_throttle_entries", attempts, signInThrottle.size);
  gauge("latchkey_passwords_waiting", "Passwords that wait to be hashed or checked", passwords.waiting);
  gauge("latchkey_log_lines_waiting", "Log lines that are not written yet", () => lines?.waiting() ?? 0);
  const unwritten = "Log lines that were given up because they could not be written";
  counter("latchkey_log_lines_dropped_total", unwritten, () => lines?.dropped() ?? 0);
  gauge("latchkey_sign_on_records_waiting", "Records of sign-ons not yet written", () => recorder.waiting());
  if (valkey) {
    const up = "1 while Valkey answers, 0 while this instance counts alone";
    gauge("latchkey_valkey_up", up, () => Number(!valkey.isAway()), "min");
    gauge("latchkey_instances", "Instances that count together, as last seen", valkey.instances, "max");
    counter("latchkey_valkey_losses_total", "How often Valkey has gone away", () => valkey.counts().losses);
    measureValkey(valkey, registry);
  }
  const lost = "Records of sign-ons that were lost";
  counter("latchkey_sign_on_records_dropped_total", lost, () => recorder.dropped());
  const uncounted = "Redirects to identity providers that the statistics leave out";
  counter("latchkey_sign_on_starts_dropped_total", uncounted, started.dropped);
  const spans = () => traces?.counts() ?? { sent: 0, dropped: 0 };
  counter("latchkey_trace_spans_sent_total", "Spans that the collector has taken", () => spans().sent);
  counter("latchkey_trace_spans_dropped_total", "Spans that were lost", () => spans().dropped);
  gauge("latchkey_event_streams", "Streams of events that are open", () => streams.count());
  const unnumbered = "How long the oldest event waits for its number, as this instance last saw it";
  gauge("latchkey_events_behind_seconds", unnumbered, () => sequencer.behindMs() / 1000, "max");
  const counts = () => deliverer.counts();
  gauge("latchkey_webhook_integrations_served", "Integrations that are served now", () => counts().running);
  gauge("latchkey_webhooks_failing", "Integrations that fail, up to 1,000", () => counts().failing, "max");
  const due = "How long the integration waits that is due for longest, as this instance last saw it";
  gauge("latchkey_webhooks_behind_seconds", due, () => counts().behindMs / 1000, "max");
  // The maximum, because each worker sees the same providers, and a sum would count one provider several times.
  gauge("latchkey_idp_down", "Identity providers that are down", () => calls.count().down, "max");
  const failing = "Identity providers that have just failed";
  gauge("latchkey_idp_degraded", failing, () => calls.count().degraded, "max");
}

function measureValkey(valkey: Valkey, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: "latchkey_valkey_decisions_total",
    help: "Decisions made in Valkey, and decisions made alone because it did not answer in time",
    labelNames: ["by"],
    registers,
    collect() {
      const { answered, alone } = valkey.counts();
      this.reset();
      this.inc({ by: "valkey" }, answered);
      this.inc({ by: "fallback" }, alone);
    },
  });
  const roundTrip = new Histogram({
    name: "latchkey_valkey_round_trip_seconds",
    help: "From a question to Valkey to its answer, however many decisions it carries",
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05],
    registers,
  });
  valkey.onRoundTrip((elapsedMs) => roundTrip.observe(elapsedMs / 1000));
}

/** For PostgreSQL only: SQLite has one connection, and a queue of its own. */
export function measureConnections({ storage, registry }: { storage: Storage; registry: Registry }): void {
  const { pool } = storage;
  if (!pool) return;
  const { gauge, counter } = figuresIn(registry);
  new Gauge({
    name: "latchkey_database_connections",
    help: "Connections to the database that are open, by what they do",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      const { active, idle } = pool();
      this.set({ state: "active" }, active);
      this.set({ state: "idle" }, idle);
    },
  });
  const most = "Connections to the database that may be open";
  gauge("latchkey_database_connections_max", most, () => pool().connections);
  const waiting = "Transactions that wait for a connection to the database";
  gauge("latchkey_database_waiting", waiting, () => pool().waiting);
  const refused = "Transactions refused because every connection to the database was in use";
  counter("latchkey_database_shed_total", refused, () => pool().shed);
}
