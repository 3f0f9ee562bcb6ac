import type { IdpAnswer, SignOnCheck } from "../contract/sign-on-reasons.ts";
import type { Traces } from "../contract/traces.ts";
import type { Clock } from "../lib/clock.ts";
import { subnetOf } from "../lib/source-address.ts";
import { describeUserAgent } from "../lib/user-agent.ts";
import type { RecordLimiter } from "./record-limiter.ts";
import { isSigned, type RequestFacts } from "./recorder.ts";
import { referenceOf } from "./reference.ts";

/** Facts of one sign-on, collected for its record: checks, timings, and what the provider answered. */
export type Trail = {
  id: string;
  storeId: string;
  realmId: string;
  isOfMembers: boolean;
  /** The application key that is the client, or whose token brought the code. */
  keyId: string | null;
  /** The source address of the request. */
  source: string;
  requestId: string | null;
  facts: RequestFacts;
  startedAt: number;
  profile: { id: string; name: string } | undefined;
  checks: SignOnCheck[];
  timings: Record<string, number>;
  /** The identity provider's answer, if it is the cause of the failure. */
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
  { storeId, realmId, isOfMembers }: { storeId: string; realmId: string; isOfMembers: boolean },
  { startedAt, source, userAgent, requestId = null }: Begun,
): Trail => ({
  id: attemptId,
  storeId,
  realmId,
  isOfMembers,
  keyId: null,
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

/** Measures a step in milliseconds. */
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

/** The members of a record that the trail has. */
export const recordOf = (trail: Trail) => ({
  id: trail.id,
  storeId: trail.storeId,
  realmId: trail.realmId,
  isOfMembers: trail.isOfMembers,
  keyId: trail.keyId,
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

/**
 * Signed answers of a provider are always recorded. Anyone can cause the others, so these are recorded within limits.
 */
export const isRecorded = async (
  { recordLimiter }: { recordLimiter: RecordLimiter },
  trail: Trail,
): Promise<boolean> => isSigned(trail) || (await recordLimiter.take(trail.storeId, trail.source));
