import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createStandings, type Standings } from "./access/authenticate.ts";
import { limits } from "./contract/limits.ts";
import { openapiDocument } from "./contract/openapi.ts";
import { createPasswords, type Passwords } from "./customers/password.ts";
import { createSigningKeys, type SigningKeys } from "./customers/signing-keys.ts";
import { createSignInThrottle, type SignInThrottle } from "./customers/throttle.ts";
import { createSequencer, type Sequencer } from "./events/sequencer.ts";
import { createStreams, type Streams } from "./events/stream.ts";
import { type Calls, createCalls } from "./identity-provider/calls.ts";
import { createDirectory, type Directory } from "./identity-provider/directory.ts";
import { createDiscoveryTries, type DiscoveryTries } from "./identity-provider/discovery-tries.ts";
import { createEgress, type Egress } from "./identity-provider/egress.ts";
import type { Clock } from "./lib/clock.ts";
import { createFairPlaces, type FairPlaces } from "./lib/fair-places.ts";
import type { Keyring } from "./lib/keyring.ts";
import type { TrustedProxies } from "./lib/source-address.ts";
import { createMetricsText } from "./metrics.ts";
import { createLastUsed, type LastUsed } from "./rate-limit/last-used.ts";
import { createLimiter, type Limiter } from "./rate-limit/limiter.ts";
import { createSourceLimiter, type SourceLimiter } from "./rate-limit/source-limiter.ts";
import { createUseLog, type UseLog } from "./rate-limit/use-log.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { createRecorder, type Recorder } from "./sign-on/record.ts";
import { createRecordLimiter, type RecordLimiter } from "./sign-on/record-limiter.ts";
import type { Storage } from "./storage/storage.ts";

/** What the process edge decides: the configuration, and what a test replaces. */
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
  eventDays?: number;
  /** Health and metrics are served by `operations` alone. */
  operationsApart?: boolean;
  random?: () => number;
  /** Stands in for the places at identity providers: tests wait as long as they need. */
  places?: FairPlaces;
  /** Stands in for the queue of passwords: tests hold it up. */
  passwords?: Passwords;
  /** Stands in for the limiter: benchmarks compare with none. */
  limiter?: Limiter;
};

/** Everything that an operation may need. Each function names the few of these that it uses. */
export type Deps = {
  publicUrl: string;
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  random: () => number;
  standings: Standings;
  limiter: Limiter;
  sourceLimiter: SourceLimiter;
  useLog: UseLog;
  lastUsed: LastUsed;
  calls: Calls;
  directory: Directory;
  discoveryTries: DiscoveryTries;
  allowedOrigins: readonly string[];
  signingKeys: SigningKeys;
  passwords: Passwords;
  signInThrottle: SignInThrottle;
  sequencer: Sequencer;
  streams: Streams;
  eventDays: number;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
  recordDays: number;
  places: FairPlaces;
  customerTokenSeconds: number;
  codeSeconds: number;
  readiness: Readiness;
  metricsText(): Promise<string>;
  /** The document, made when it is first asked for, and then kept. */
  openapiText(): string;
};

const PLACES = { places: limits.idpInFlight, waiting: limits.idpWaiting, waitMs: limits.idpWaitMs };

/** Builds each of them once. */
export function createDeps(options: AppOptions, registry: Registry): Deps {
  const { publicUrl, storage, clock, keyring, allowedOrigins = [], random = Math.random } = options;
  const { customerTokenSeconds = 86_400, codeSeconds = 60, recordDays = 30, eventDays = 90 } = options;
  const streams = createStreams({ storage, clock });
  const useLog = createUseLog();
  const calls = createCalls({ egress: options.egress ?? createEgress({ allowedOrigins }), clock });
  let openapiText: string | undefined;
  return {
    publicUrl,
    storage,
    clock,
    keyring,
    random,
    standings: createStandings({ storage }),
    limiter: options.limiter ?? createLimiter({ clock, useLog }),
    sourceLimiter: createSourceLimiter({ clock }),
    useLog,
    lastUsed: createLastUsed({ storage, clock }),
    calls,
    directory: createDirectory({ storage, clock, calls, allowedOrigins }),
    discoveryTries: createDiscoveryTries({ clock }),
    allowedOrigins,
    signingKeys: createSigningKeys({ storage, clock, keyring, customerTokenSeconds }),
    passwords: options.passwords ?? createPasswords({ clock }),
    signInThrottle: createSignInThrottle({ clock }),
    sequencer: createSequencer({ storage, clock, publicUrl, onNumbered: streams.onNumbered }),
    streams,
    eventDays,
    recorder: createRecorder({ storage, clock }),
    recordLimiter: createRecordLimiter({ clock }),
    recordDays,
    places: options.places ?? createFairPlaces(PLACES),
    customerTokenSeconds,
    codeSeconds,
    readiness: createReadiness({ storage, clock, calls }),
    metricsText: createMetricsText({ clock, registry }),
    openapiText() {
      openapiText ??= JSON.stringify(openapiDocument(publicUrl));
      return openapiText;
    },
  };
}
