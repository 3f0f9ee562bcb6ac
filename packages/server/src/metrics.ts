import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import type { Standings } from "./access/authenticate.ts";
import type { Passwords } from "./customers/password.ts";
import type { SignInThrottle } from "./customers/throttle.ts";
import type { Calls } from "./identity-provider/calls.ts";
import type { Clock } from "./lib/clock.ts";
import type { Limiter } from "./rate-limit/limiter.ts";
import type { SourceLimiter } from "./rate-limit/source-limiter.ts";
import type { UseLog } from "./rate-limit/use-log.ts";
import type { Recorder } from "./sign-on/record.ts";
import type { Storage } from "./storage/storage.ts";
import type { Gathered, Workers } from "./workers.ts";

const REMEMBER_MS = 1000;

/** The text for Prometheus, made at most once a second: anybody may ask, and making it costs milliseconds. */
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

/** Counters, histograms and memory are added up; each metric says itself where that would be wrong (`aggregator`). */
async function textOfAll({ answers, workers, lost }: Gathered): Promise<string> {
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
  const help = "Worker processes that have ended and were replaced";
  new Counter({ name: "latchkey_workers_lost_total", help, registers }).inc(lost);
  return AggregatorRegistry.aggregate([...answers, await registry.getMetricsAsJSON()] as object[]).metrics();
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
};

/** What is in memory, and what was lost. Requests are counted by http/observe.ts. */
export function measureMemory(of: Measured, droppedLogLines: () => number): void {
  const gauge = (name: string, help: string, read: () => number, aggregator: "sum" | "max" = "sum") =>
    new Gauge({
      name,
      help,
      aggregator,
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
  // Each worker sees them for itself: added up, one provider would be several.
  gauge("latchkey_idp_down", "Identity providers that are down", () => of.calls.count().down, "max");
  gauge(
    "latchkey_idp_degraded",
    "Identity providers that have just failed",
    () => of.calls.count().degraded,
    "max",
  );
}

/** Where there are any: SQLite has one connection, and a queue of its own. */
export function measureConnections({ storage, registry }: { storage: Storage; registry: Registry }): void {
  const { pool } = storage;
  if (!pool) return;
  const registers = [registry];
  new Gauge({
    name: "latchkey_database_connections",
    help: "Connections to the database that are open, by what they do",
    labelNames: ["state"],
    registers,
    collect() {
      const { active, idle } = pool();
      this.set({ state: "active" }, active);
      this.set({ state: "idle" }, idle);
    },
  });
  new Gauge({
    name: "latchkey_database_connections_max",
    help: "Connections to the database that may be open",
    registers,
    collect() {
      this.set(pool().connections);
    },
  });
  new Gauge({
    name: "latchkey_database_waiting",
    help: "Who waits for a connection to the database",
    registers,
    collect() {
      this.set(pool().waiting);
    },
  });
  new Counter({
    name: "latchkey_database_shed_total",
    help: "Who was refused because every connection to the database was in use",
    registers,
    collect() {
      this.reset();
      this.inc(pool().shed);
    },
  });
}
