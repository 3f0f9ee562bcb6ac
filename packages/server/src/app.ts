import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createStandings, type Standings } from "./access/authenticate.ts";
import { createGate } from "./access/gate.ts";
import { forgetExpiredRevocations } from "./access/inspect.ts";
import { createObserver, describeCause, gauge } from "./http/observe.ts";
import { serveReference } from "./http/reference.ts";
import { serveRoutes } from "./http/serve.ts";
import type { Clock } from "./lib/clock.ts";
import type { Keyring } from "./lib/keyring.ts";
import { type TrustedProxies, trustedProxies } from "./lib/source-address.ts";
import { createLastUsed, type LastUsed } from "./rate-limit/last-used.ts";
import { createLimiter, type Limiter } from "./rate-limit/limiter.ts";
import { createSourceLimiter } from "./rate-limit/source-limiter.ts";
import { createUseLog, type UseLog } from "./rate-limit/use-log.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { routes } from "./routes.ts";
import type { Storage } from "./storage/storage.ts";

/** Everything that an operation may need. Each function names the few of these that it uses. */
export type Deps = {
  publicUrl: string;
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  standings: Standings;
  limiter: Limiter;
  useLog: UseLog;
  lastUsed: LastUsed;
  readiness: Readiness;
  registry: Registry;
};

export type AppOptions = {
  publicUrl: string;
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  log: Logger;
  proxies?: TrustedProxies;
  random?: () => number;
  /** Stands in for the limiter: benchmarks compare with none. */
  limiter?: Limiter;
};

export type App = {
  fetch(request: Request, env?: object): Response | Promise<Response>;
  readiness: Readiness;
  /** Work that nobody waits for: writes what was noted, forgets what is over. Runs once a second under `start`. */
  tidy(): Promise<void>;
  start(): void;
  /** Writes what is still in memory. The storage is closed by whoever opened it. */
  stop(): Promise<void>;
};

const TIDY_EVERY_MS = 1000;
const FORGET_EVERY_MS = 60_000;

export function createApp(options: AppOptions): App {
  const { publicUrl, storage, clock, keyring, log } = options;
  const observer = createObserver({ log });
  const useLog = createUseLog();
  const limiter = options.limiter ?? createLimiter({ clock, useLog });
  const sourceLimiter = createSourceLimiter({ clock });
  const lastUsed = createLastUsed({ storage, clock });
  const standings = createStandings({ storage });
  const readiness = createReadiness({ storage, clock });
  const { registry } = observer;
  const deps: Deps = {
    publicUrl,
    storage,
    clock,
    keyring,
    standings,
    limiter,
    useLog,
    lastUsed,
    readiness,
    registry,
  };
  const gate = createGate({ ...deps, sourceLimiter, random: options.random ?? Math.random });

  gauge(
    registry,
    "latchkey_limiter_keys",
    "Application keys that the limiter has in memory",
    () => limiter.size().keys,
  );
  gauge(registry, "latchkey_limiter_sources", "Source addresses in memory", () => sourceLimiter.size());
  gauge(registry, "latchkey_use_log_bytes", "Memory of the planner's log of use", () => useLog.bytes());
  gauge(registry, "latchkey_token_standings", "Access tokens whose standing is in memory", () =>
    standings.size(),
  );

  const app = serveRoutes(
    {
      publicUrl,
      proxies: options.proxies ?? trustedProxies([]),
      clock,
      gate,
      onAnswered: observer.onAnswered,
    },
    routes(deps),
  );
  serveReference(app as never);

  let timer: NodeJS.Timeout | undefined;
  let forgotAtMs = clock.monotonicMs();
  let tidying: Promise<void> | undefined;

  async function tidy(): Promise<void> {
    try {
      await lastUsed.flush();
      if (clock.monotonicMs() - forgotAtMs < FORGET_EVERY_MS) return;
      forgotAtMs = clock.monotonicMs();
      limiter.sweep();
      sourceLimiter.sweep();
      await forgetExpiredRevocations({ storage, clock });
    } catch (error) {
      log.warn({ event: "tidy_failed", cause: describeCause(error) });
    }
  }

  return {
    fetch: (request, env) => app.fetch(request, env),
    readiness,
    tidy,
    start() {
      timer = setInterval(() => {
        tidying ??= tidy().finally(() => {
          tidying = undefined;
        });
      }, TIDY_EVERY_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await tidying;
      await tidy();
    },
  };
}
