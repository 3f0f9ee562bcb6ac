import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createStandings, type Standings } from "./access/authenticate.ts";
import { createGate } from "./access/gate.ts";
import { forgetExpiredRevocations } from "./access/inspect.ts";
import { limits } from "./contract/limits.ts";
import { openapiDocument } from "./contract/openapi.ts";
import { forgetOldAnswers } from "./customers/answer-once.ts";
import { forgetExpiredTokens } from "./customers/customer-token.ts";
import { createPasswords, type Passwords } from "./customers/password.ts";
import { createSigningKeys, type SigningKeys } from "./customers/signing-keys.ts";
import { createSignInThrottle, type SignInThrottle } from "./customers/throttle.ts";
import { createObserver, describeCause, gauge } from "./http/observe.ts";
import { referencePages } from "./http/reference.ts";
import { serveRoutes } from "./http/serve.ts";
import type { OnRefused } from "./http/server.ts";
import { type Calls, createCalls } from "./identity-provider/calls.ts";
import { createDirectory, type Directory } from "./identity-provider/directory.ts";
import { createEgress, type Egress } from "./identity-provider/egress.ts";
import type { Clock } from "./lib/clock.ts";
import { createInFlight, type InFlight } from "./lib/in-flight.ts";
import type { Keyring } from "./lib/keyring.ts";
import { canonicalSource, type TrustedProxies, trustedProxies } from "./lib/source-address.ts";
import { createLastUsed, type LastUsed } from "./rate-limit/last-used.ts";
import { createLimiter, type Limiter } from "./rate-limit/limiter.ts";
import { createSourceLimiter } from "./rate-limit/source-limiter.ts";
import { createUseLog, type UseLog } from "./rate-limit/use-log.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { routes } from "./routes.ts";
import { forgetOldAttempts } from "./sign-on/code.ts";
import { tidyRecords } from "./sign-on/list.ts";
import { createRecorder, type Recorder } from "./sign-on/record.ts";
import { createRecordLimiter, type RecordLimiter } from "./sign-on/record-limiter.ts";
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
  calls: Calls;
  directory: Directory;
  allowedOrigins: readonly string[];
  signingKeys: SigningKeys;
  passwords: Passwords;
  signInThrottle: SignInThrottle;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
  perSource: InFlight;
  customerTokenSeconds: number;
  codeSeconds: number;
  readiness: Readiness;
  registry: Registry;
  /** The document, made when it is first asked for, and then kept. */
  openapiText(): string;
};

export type AppOptions = {
  publicUrl: string;
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  log: Logger;
  /** How many lines the log could not keep. */
  droppedLogLines?: () => number;
  proxies?: TrustedProxies;
  allowedOrigins?: readonly string[];
  egress?: Egress;
  customerTokenSeconds?: number;
  codeSeconds?: number;
  recordDays?: number;
  random?: () => number;
  /** Stands in for the limiter: benchmarks compare with none. */
  limiter?: Limiter;
};

export type App = {
  fetch(request: Request, env?: object): Response | Promise<Response>;
  readiness: Readiness;
  /** For what is refused before there is a request to route. */
  onRefused: OnRefused;
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
  const allowedOrigins = options.allowedOrigins ?? [];
  const calls = createCalls({ egress: options.egress ?? createEgress({ allowedOrigins }), clock });
  const directory = createDirectory({ storage, clock, calls, allowedOrigins });
  const { customerTokenSeconds = 86_400, codeSeconds = 60, recordDays = 30 } = options;
  const signingKeys = createSigningKeys({ storage, clock, keyring, customerTokenSeconds });
  const signInThrottle = createSignInThrottle({ clock });
  const recorder = createRecorder({ storage, clock });
  const recordLimiter = createRecordLimiter({ clock });
  const readiness = createReadiness({ storage, clock, calls });
  const { registry } = observer;
  let openapiText: string | undefined;
  const deps: Deps = {
    publicUrl,
    storage,
    clock,
    keyring,
    standings,
    limiter,
    useLog,
    lastUsed,
    calls,
    directory,
    allowedOrigins,
    signingKeys,
    passwords: createPasswords(),
    signInThrottle,
    recorder,
    recordLimiter,
    perSource: createInFlight(limits.idpInFlightOfSource),
    customerTokenSeconds,
    codeSeconds,
    readiness,
    registry,
    openapiText: () => {
      openapiText ??= JSON.stringify(openapiDocument(publicUrl));
      return openapiText;
    },
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

  gauge(
    registry,
    "latchkey_sign_in_throttle_entries",
    "Accounts and addresses with failed attempts to sign in",
    () => signInThrottle.size(),
  );

  const { droppedLogLines = () => 0 } = options;
  gauge(registry, "latchkey_log_lines_dropped", "Log lines that could not be written", droppedLogLines);
  gauge(
    registry,
    "latchkey_sign_on_records_waiting",
    "Records of sign-ons not yet written",
    recorder.waiting,
  );
  gauge(registry, "latchkey_sign_on_records_dropped", "Records of sign-ons that were lost", recorder.dropped);
  gauge(registry, "latchkey_idp_down", "Identity providers that are down", () => calls.count().down);
  gauge(
    registry,
    "latchkey_idp_degraded",
    "Identity providers that have just failed",
    () => calls.count().degraded,
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
    referencePages,
  );

  let timer: NodeJS.Timeout | undefined;
  let forgotAtMs = clock.monotonicMs();
  let tidying: Promise<void> | undefined;

  /** One chore that fails must not keep the others from being done. */
  async function doAll(chores: Record<string, () => unknown>): Promise<void> {
    for (const [chore, work] of Object.entries(chores)) {
      try {
        await work();
      } catch (error) {
        log.warn({ event: "tidy_failed", chore, cause: describeCause(error) });
      }
    }
  }

  async function tidy(): Promise<void> {
    await doAll({ last_used: lastUsed.flush, records: recorder.flush });
    if (clock.monotonicMs() - forgotAtMs < FORGET_EVERY_MS) return;
    forgotAtMs = clock.monotonicMs();
    await doAll({
      limiter: limiter.sweep,
      sources: sourceLimiter.sweep,
      record_sources: recordLimiter.sweep,
      throttle: signInThrottle.sweep,
      revocations: () => forgetExpiredRevocations({ storage, clock }),
      customer_tokens: () => forgetExpiredTokens({ storage, clock }),
      answers: () => forgetOldAnswers({ storage, clock }),
      attempts: () => forgetOldAttempts({ storage, clock }),
      old_records: () => tidyRecords({ storage, clock }, { codeSeconds, recordDays }),
      signing_keys: signingKeys.maintain,
    });
  }

  return {
    fetch: (request, env) => app.fetch(request, env),
    readiness,
    onRefused: (problem, requestId, peer) =>
      observer.onAnswered({
        requestId,
        method: "other",
        route: "unknown",
        status: problem.status,
        durationMs: 0,
        source: canonicalSource(peer),
        caller: undefined,
        problem,
      }),
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
