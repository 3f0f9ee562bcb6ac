import type { Registry } from "prom-client";
import { createStandings } from "./access/authenticate.ts";
import { limits } from "./contract/limits.ts";
import { openapiDocument } from "./contract/openapi.ts";
import type { Traces } from "./contract/traces.ts";
import type { Valkey } from "./counters/valkey.ts";
import { createEmailDigests } from "./customers/email-digest.ts";
import { createPublicWrites } from "./customers/public-write-limits.ts";
import { createEgress, type Egress } from "./egress/egress.ts";
import { createSequencer } from "./events/sequencer.ts";
import { Streams } from "./events/stream.ts";
import { Deliverer } from "./integrations/deliverer.ts";
import type { Clock } from "./lib/clock.ts";
import { createFairPlaces, type FairPlaces } from "./lib/fair-places.ts";
import type { Keyring } from "./lib/keyring.ts";
import type { LineWriter } from "./lib/line-writer.ts";
import type { Log } from "./lib/log.ts";
import type { TrustedProxies } from "./lib/source-address.ts";
import { countSignOns, measureCalls, measureDeliveries } from "./observe/metrics.ts";
import { createMetricsText } from "./observe/metrics-text.ts";
import { createPasswords, type Passwords } from "./passwords/password.ts";
import { createSignInThrottle } from "./passwords/sign-in-throttle.ts";
import { type Calls, createCalls, type OnCall } from "./profiles/calls.ts";
import { Directory } from "./profiles/directory.ts";
import { createDiscoveryTries } from "./profiles/discovery-tries.ts";
import type { ProfileList } from "./profiles/resource.ts";
import { SetupEvidence } from "./profiles/setup-links/setup-checks.ts";
import { ANONYMOUS, createCap } from "./rate-limit/cap.ts";
import { createExports } from "./rate-limit/exports.ts";
import { createLastUsed } from "./rate-limit/last-used.ts";
import { createLimiter, type Limiter } from "./rate-limit/limiter.ts";
import { createSharedLimiter } from "./rate-limit/shared-limiter.ts";
import { createSharedUseLog } from "./rate-limit/shared-use-log.ts";
import { createUseLog } from "./rate-limit/use-log.ts";
import { createReadiness } from "./readiness.ts";
import type { AuthenticationSettings } from "./realms/settings.ts";
import { createPathCache } from "./sign-on/sign-on-path.ts";
import { createRecordLimiter } from "./sign-on-records/record-limiter.ts";
import { Recorder } from "./sign-on-records/recorder.ts";
import { createStartedCounts } from "./sign-on-records/started.ts";
import type { newKey } from "./signing-keys/key-rows.ts";
import { SigningKeys } from "./signing-keys/signing-keys.ts";
import type { Storage, Trx } from "./storage/storage.ts";
import { createStoreCache } from "./storage/store-cache.ts";
import { createSignUpLimits } from "./stores/sign-up-limits.ts";
import type { Workers } from "./workers.ts";

/** The configuration, and the parts that tests and benchmarks replace. */
export type AppOptions = {
  publicUrl: string;
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  log: Log;
  /** The counters that instances share. Without a Valkey each instance counts for itself. */
  valkey?: Valkey | undefined;
  /** The writer of log lines: how many lines wait, how many it has dropped. */
  lines?: Pick<LineWriter, "waiting" | "dropped">;
  proxies?: TrustedProxies;
  allowedOrigins?: readonly string[];
  egress?: Egress;
  customerTokenSeconds?: number;
  codeSeconds?: number;
  recordDays?: number;
  /** The other processes behind the same address. */
  workers?: Workers | undefined;
  eventDays?: number;
  /** Health and metrics are served by `operations` alone. */
  operationsApart?: boolean;
  random?: () => number;
  /** Sends spans to the operator's collector. */
  traces?: Traces | undefined;
  /** Replaces the places at identity providers, so that tests can set the waiting time. */
  places?: FairPlaces;
  /** Replaces the password queue, so that tests can block it. */
  passwords?: Passwords;
  /** Replaces the generation of signing keys, because an RSA key per test takes too long. */
  makeKey?: typeof newKey;
  /** Replaces the limiter, so that benchmarks can measure a service without one. */
  limiter?: Limiter;
};

const PLACES = { places: limits.idpInFlight, waiting: limits.idpWaiting, waitMs: limits.idpWaitMs };

const MAX_SHOWN = 5000;

/** The dependencies of all operations. Each function declares the few that it uses. */
export type Deps = ReturnType<typeof createDeps>;

/** Builds each dependency once. */
export function createDeps(options: AppOptions, registry: Registry) {
  const { publicUrl, clock, keyring, log, traces, valkey, workers } = options;
  const {
    allowedOrigins = [],
    random = Math.random,
    customerTokenSeconds = 86_400,
    codeSeconds = 60,
  } = options;
  const { recordDays = 30, eventDays = 90, makeKey } = options;
  const storage = traces ? tracedStorage(traces, options.storage) : options.storage;
  const calls = createOwnCalls(options, registry);
  let openapiText: string | undefined;
  return {
    publicUrl,
    storage,
    clock,
    keyring,
    log,
    random,
    allowedOrigins,
    customerTokenSeconds,
    codeSeconds,
    recordDays,
    eventDays,
    traces,
    valkey,
    ...createLimits(options),
    ...createEventParts({ ...options, storage, allowedOrigins, random }, registry),
    standings: createStandings({ storage }),
    /** Settings and provider lists for public tokens, from memory. */
    shownSettings: createStoreCache<AuthenticationSettings>({ storage }, MAX_SHOWN),
    shownProfiles: createStoreCache<ProfileList>({ storage }, MAX_SHOWN),
    /** Realm and profile of each sign-on path, from memory. */
    signOnPaths: createPathCache({ storage }),
    lastUsed: createLastUsed({ storage, clock }),
    calls,
    setupEvidence: new SetupEvidence({ storage, clock }),
    directory: new Directory({ storage, clock, calls, allowedOrigins }),
    discoveryTries: createDiscoveryTries({ clock, valkey }),
    signingKeys: new SigningKeys({ storage, clock, keyring, customerTokenSeconds, makeKey }),
    passwords: options.passwords ?? createPasswords({ clock }),
    signInThrottle: createSignInThrottle({ clock, valkey }),
    publicWrites: createPublicWrites({ clock, valkey, signUpLimitsOf: createSignUpLimits({ storage }) }),
    exports: createExports({ clock, valkey }),
    recorder: new Recorder({ storage, clock, count: countSignOns(registry) }),
    started: createStartedCounts({ storage, clock }),
    emailDigests: createEmailDigests({ storage, keyring }),
    recordLimiter: createRecordLimiter({ clock, valkey }),
    places: options.places ?? createFairPlaces(PLACES),
    readiness: createReadiness({ storage, clock, calls, valkey, workers }),
    metricsText: createMetricsText({ clock, registry, workers }),
    /** The OpenAPI document as JSON, made at the first request. */
    openapiText() {
      openapiText ??= JSON.stringify(openapiDocument(publicUrl));
      return openapiText;
    },
  };
}

/** The calls to identity providers. */
function createOwnCalls(options: AppOptions, registry: Registry): Calls {
  const { allowedOrigins = [], clock, valkey, traces, log } = options;
  return createCalls({
    egress: options.egress ?? createEgress({ allowedOrigins, purpose: "idp" }),
    clock,
    valkey,
    onCall: tracedCalls(traces, measureCalls(registry)),
    onHealthChanged: (profileId, status) =>
      log.info({ event: "idp_health_changed", profile_id: profileId, status }),
  });
}

/** The limiters of requests, and the log of use that they write. */
function createLimits({ clock, valkey, limiter }: AppOptions) {
  const own = createUseLog();
  const useLog = valkey ? createSharedUseLog({ valkey, clock, own }) : own;
  const made = () =>
    valkey ? createSharedLimiter({ valkey, clock, useLog }) : createLimiter({ clock, useLog });
  return { useLog, limiter: limiter ?? made(), anonymous: createCap({ clock, valkey }, ANONYMOUS) };
}

/** The event log's readers: open streams and webhooks. The sequencer calls both when it has numbered events. */
function createEventParts(
  options: AppOptions & { allowedOrigins: readonly string[]; random: () => number },
  registry: Registry,
) {
  const { storage, clock, keyring, publicUrl, log, random, allowedOrigins } = options;
  /** The egress guard with the time limit of webhook receivers. */
  const webhookEgress =
    options.egress ?? createEgress({ allowedOrigins, purpose: "webhook", callMs: limits.webhookCallMs });
  const onAttempt = measureDeliveries(registry);
  const deliverer = new Deliverer({ storage, clock, keyring, random, webhookEgress, log, onAttempt });
  const streams = new Streams({ storage, clock });
  const sequencer = createSequencer({
    storage,
    clock,
    publicUrl,
    mark: (trx, numberedOf) => deliverer.mark(trx, numberedOf),
    onNumbered(lastByStore) {
      streams.onNumbered(lastByStore);
      deliverer.onNumbered();
    },
  });
  /** The number of webhook tests under way, by store. */
  const testsUnderWay = new Map<string, number>();
  return { sequencer, streams, deliverer, webhookEgress, testsUnderWay };
}

/** The storage with `transact` inside a span. All other members come from the prototype. */
const tracedStorage = (traces: Traces, storage: Storage): Storage =>
  Object.assign(Object.create(storage) as Storage, {
    transact: <T>(work: (trx: Trx) => Promise<T>, row?: string) =>
      traces.step("database transaction", () => storage.transact(work, row)),
  });

const tracedCalls = (traces: Traces | undefined, onCall: OnCall): OnCall =>
  traces
    ? (kind, outcome, elapsedMs) => {
        onCall(kind, outcome, elapsedMs);
        traces.note(`identity provider: ${kind}`, elapsedMs, outcome !== "ok");
      }
    : onCall;
