import type { BrowserAnswer } from "../contract/browser.ts";
import { Problem } from "../contract/problem.ts";
import {
  type IdpAnswer,
  type SignOnCheck,
  type SignOnReason,
  signOnReasonEntry,
  signOnReasons,
} from "../contract/sign-on-reasons.ts";
import type { Traces } from "../contract/traces.ts";
import type { Clock } from "../lib/clock.ts";
import { withParameters } from "../lib/query-parameters.ts";
import { subnetOf } from "../lib/source-address.ts";
import { describeUserAgent } from "../lib/user-agent.ts";
import type { Profile } from "../profiles/profile.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import { type Facts, isSigned, type Recorder } from "../sign-on-records/recorder.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import { isUnavailable } from "../storage/storage.ts";

/**
 * A failure picks its exit by where it happens. Before client and redirect URI are trusted it is a page; after that,
 * whatever goes wrong inside `redirectProblemsTo` becomes a redirect to the storefront.
 */

/** What is noted on the way, for the record: what was looked at, and how long each step took. */
export type Trail = {
  id: string;
  storeId: string;
  realmId: string;
  /** The address that it came from. */
  source: string;
  /** The request that it is noted in. */
  requestId: string | null;
  facts: Facts;
  startedAt: number;
  profile: Pick<Profile, "id" | "name"> | undefined;
  checks: SignOnCheck[];
  timings: Record<string, number>;
  /** What the identity provider answered, where that is why it failed. */
  idpAnswer: IdpAnswer | undefined;
};

type Begun = {
  startedAt: number;
  source: string;
  userAgent?: string | undefined;
  requestId?: string | null;
};

export const startTrail = (
  attemptId: string,
  { storeId, realmId }: { storeId: string; realmId: string },
  { startedAt, source, userAgent, requestId = null }: Begun,
): Trail => ({
  id: attemptId,
  storeId,
  realmId,
  source,
  requestId,
  facts: {
    redirectUri: null,
    emailDigest: null,
    network: subnetOf(source),
    ...describeUserAgent(userAgent),
  },
  startedAt,
  profile: undefined,
  checks: [],
  timings: {},
  idpAnswer: undefined,
});

/** Measures a step. */
export async function timed<T>(
  { clock, traces }: { clock: Clock; traces: Traces | undefined },
  trail: Trail,
  step: string,
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = clock.monotonicMs();
  try {
    return await (traces ? traces.step(step, work) : work());
  } finally {
    trail.timings[step] = Math.round(clock.monotonicMs() - startedMs);
  }
}

/** A sign-on that cannot go on. `error`: the identity provider's own code, where it is one that storefronts know. */
export const signOnProblem = (
  reason: SignOnReason,
  more: { error?: string; reference?: string } = {},
): Problem =>
  new Problem("sign_on_refused", { detail: signOnReasonEntry(reason).means, meta: { reason, ...more } });

export function reasonOf(error: unknown): SignOnReason {
  const reason = error instanceof Problem ? error.faults[0].meta?.reason : undefined;
  if (typeof reason === "string" && Object.hasOwn(signOnReasons, reason)) return reason as SignOnReason;
  return isUnavailable(error) ? "storage_unavailable" : "internal_error";
}

/** What a record takes from the trail. */
export const recordOf = (trail: Trail) => ({
  id: trail.id,
  storeId: trail.storeId,
  realmId: trail.realmId,
  profileId: trail.profile?.id ?? null,
  profileName: trail.profile?.name ?? null,
  reference: referenceOf(trail.id),
  startedAt: trail.startedAt,
  facts: trail.facts,
  idpAnswer: trail.idpAnswer,
  requestId: trail.requestId,
  checks: trail.checks,
  timings: trail.timings,
});

type ExitDeps = { publicUrl: string; recorder: Recorder; recordLimiter: RecordLimiter };
type Client = { clientRedirectUri: string; clientState: string | undefined };

export const redirectToClient = (
  deps: { publicUrl: string },
  { storeId, realmId }: { storeId: string; realmId: string },
  { clientRedirectUri, clientState }: Client,
  parameters: Record<string, string>,
): string =>
  withParameters(clientRedirectUri, {
    ...parameters,
    state: clientState,
    iss: issuerOf(deps, storeId, realmId),
  });

export async function redirectProblemsTo(
  deps: ExitDeps,
  client: Client,
  trail: Trail,
  work: () => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  try {
    return await work();
  } catch (cause) {
    const reason = reasonOf(cause);
    const entry = signOnReasonEntry(reason);
    const meta = cause instanceof Problem ? cause.faults[0].meta : undefined;
    const error = typeof meta?.error === "string" ? meta.error : entry.error;
    const reference = referenceOf(trail.id);
    deps.recorder.count("failed", reason);
    const isNoted = reason !== "callback_replay" && (await isRecorded(deps, trail));
    if (isNoted) deps.recorder.note({ ...recordOf(trail), outcome: "failed", reason, error });
    const location = redirectToClient(deps, trail, client, {
      error,
      error_description: entry.means,
      reason,
      // Only one that finds something.
      ...((isNoted || meta?.reference !== undefined) && { reference }),
    });
    return { location, failure: { reference, reason, ...(cause instanceof Problem ? {} : { cause }) } };
  }
}

/** What a provider has signed is always recorded; anything else, which anybody can cause, within bounds. */
export const isRecorded = async (
  { recordLimiter }: Pick<ExitDeps, "recordLimiter">,
  trail: Trail,
): Promise<boolean> => isSigned(trail) || (await recordLimiter.take(trail.storeId, trail.source));

/** Why a callback ends on a page: there is no storefront that it could go back to. */
export type PageCode = "attempt_expired" | "browser_changed" | "redirect_uri_unregistered";

/** A page, with the reference of its record on it. */
export async function refuseWithPage(
  deps: Pick<ExitDeps, "recorder" | "recordLimiter">,
  trail: Trail,
  problem: Problem,
): Promise<never> {
  const { code } = problem;
  deps.recorder.count("failed", code);
  const isNoted = await isRecorded(deps, trail);
  if (isNoted) deps.recorder.note({ ...recordOf(trail), outcome: "failed", reason: code, error: null });
  // Only a reference that finds something is shown.
  throw new Problem(code, {
    ...(isNoted && { meta: { reference: referenceOf(trail.id) } }),
    cause: problem.cause,
  });
}
