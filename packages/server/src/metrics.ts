import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import build from "../package.json" with { type: "json" };
import type { Standings } from "./access/authenticate.ts";
import type { Traces } from "./contract/traces.ts";
import type { Valkey } from "./counters/valkey.ts";
import type { Passwords } from "./customers/password.ts";
import type { SignInThrottle } from "./customers/throttle.ts";
import type { Calls, OnCall } from "./identity-provider/calls.ts";
import type { Clock } from "./lib/clock.ts";
import type { LineWriter } from "./lib/line-writer.ts";
import type { Limiter } from "./rate-limit/limiter.ts";
import type { SourceLimiter } from "./rate-limit/source-limiter.ts";
import type { UseLog } from "./rate-limit/use-log.ts";
import type { CountSignOn, Recorder } from "./sign-on/record.ts";
import type { Storage } from "./storage/storage.ts";

const REMEMBER_MS = 1000;

/** The text for Prometheus, made at most once a second: anybody may ask, and making it costs milliseconds. */
export function createMetricsText(deps: { clock: Clock; registry: Registry }): () => Promise<string> {
  let last: { atMs: number; text: Promise<string> } | undefined;
  return () => {
    const atMs = deps.clock.monotonicMs();
    if (!last || atMs - last.atMs >= REMEMBER_MS) last = { atMs, text: deps.registry.metrics() };
    return last.text;
  };
}

/** Which release runs here, on what: a rollout is seen in it, and joined to every other figure by its instance. */
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
 * By step and reason, of which there is one table. Not by store, realm or provider: ten thousand stores would be as many
 * series of each; whose sign-ons fail is in their records.
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

/** By what was asked for; how long each provider took is in the records of its sign-ons. */
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

type Measured = {
  registry: Registry;
  limiter: Limiter;
  sourceLimiter: SourceLimiter;
  useLog: UseLog;
  standings: Standings;
  passwords: Passwords;
  signInThrottle: SignInThrottle;
  recorder: Recorder;
  calls: Calls;
  valkey: Valkey | undefined;
  lines: Pick<LineWriter, "waiting" | "dropped"> | undefined;
  traces: Traces | undefined;
};

/** What is in memory, and what was lost. Requests are counted by http/observe.ts. */
export function measureMemory(of: Measured): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [of.registry],
      collect() {
        this.set(read());
      },
    });
  /** Kept by whoever loses something; it only grows, which makes it a counter. */
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [of.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  gauge(
    "latchkey_limiter_keys",
    "Application keys that the limiter has in memory",
    () => of.limiter.size().keys,
  );
  gauge("latchkey_limiter_sources", "Source addresses in memory", of.sourceLimiter.size);
  gauge("latchkey_use_log_bytes", "Memory of the planner's log of use", of.useLog.bytes);
  gauge(
    "latchkey_token_standings",
    "Access tokens whose standing is in memory",
    of.standings.principals.size,
  );
  gauge(
    "latchkey_sign_in_throttle_entries",
    "Accounts and addresses with failed attempts to sign in",
    of.signInThrottle.size,
  );
  gauge("latchkey_passwords_waiting", "Passwords that wait to be hashed or checked", of.passwords.waiting);
  gauge("latchkey_log_lines_waiting", "Log lines that are not written yet", () => of.lines?.waiting() ?? 0);
  counter(
    "latchkey_log_lines_dropped_total",
    "Log lines that were given up because they could not be written",
    () => of.lines?.dropped() ?? 0,
  );
  gauge("latchkey_sign_on_records_waiting", "Records of sign-ons not yet written", of.recorder.waiting);
  const { valkey } = of;
  if (valkey) {
    gauge("latchkey_valkey_away", "1 while Valkey does not answer and this instance counts alone", () =>
      Number(valkey.isAway()),
    );
    gauge("latchkey_instances", "Instances that count together, as last seen", valkey.instances);
    counter("latchkey_valkey_losses_total", "How often Valkey has gone away", valkey.losses);
  }
  counter(
    "latchkey_sign_on_records_dropped_total",
    "Records of sign-ons that were lost",
    of.recorder.dropped,
  );
  const spans = () => of.traces?.counts() ?? { sent: 0, dropped: 0 };
  counter("latchkey_trace_spans_sent_total", "Spans that the collector has taken", () => spans().sent);
  counter("latchkey_trace_spans_dropped_total", "Spans that were lost", () => spans().dropped);
  gauge("latchkey_idp_down", "Identity providers that are down", () => of.calls.count().down);
  gauge("latchkey_idp_degraded", "Identity providers that have just failed", () => of.calls.count().degraded);
}
