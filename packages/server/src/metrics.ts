import { Gauge, type Registry } from "prom-client";
import type { Standings } from "./access/authenticate.ts";
import type { Passwords } from "./customers/password.ts";
import type { SignInThrottle } from "./customers/throttle.ts";
import type { Sequencer } from "./events/sequencer.ts";
import type { Streams } from "./events/stream.ts";
import type { Calls } from "./identity-provider/calls.ts";
import type { Clock } from "./lib/clock.ts";
import type { Limiter } from "./rate-limit/limiter.ts";
import type { SourceLimiter } from "./rate-limit/source-limiter.ts";
import type { UseLog } from "./rate-limit/use-log.ts";
import type { Recorder } from "./sign-on/record.ts";

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
  sequencer: Sequencer;
  streams: Streams;
};

/** What is in memory, and what was lost. Requests are counted by http/observe.ts. */
export function measureMemory(of: Measured, droppedLogLines: () => number): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [of.registry],
      collect() {
        this.set(read());
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
  gauge("latchkey_log_lines_dropped", "Log lines that could not be written", droppedLogLines);
  gauge("latchkey_sign_on_records_waiting", "Records of sign-ons not yet written", of.recorder.waiting);
  gauge("latchkey_sign_on_records_dropped", "Records of sign-ons that were lost", of.recorder.dropped);
  gauge("latchkey_event_streams", "Streams of events that are open", of.streams.count);
  gauge(
    "latchkey_events_behind_seconds",
    "How long the oldest event waits for its number, as this instance last saw it",
    () => of.sequencer.behindMs() / 1000,
  );
  gauge("latchkey_idp_down", "Identity providers that are down", () => of.calls.count().down);
  gauge("latchkey_idp_degraded", "Identity providers that have just failed", () => of.calls.count().degraded);
}
