import type { IdpAnswer, SignOnCheck } from "../contract/sign-on-reasons.ts";
import type { Traces } from "../contract/traces.ts";
import type { Clock } from "../lib/clock.ts";
import { subnetOf } from "../lib/source-address.ts";
import { describeUserAgent } from "../lib/user-agent.ts";
import type { RecordLimiter } from "./record-limiter.ts";
import type { RecordRow } from "./write-records.ts";

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
  /** Facts that support would ask the shopper for. Address and e-mail are kept only as a subnet and a digest. */
  facts: Pick<RecordRow, "redirect_uri" | "browser" | "operating_system" | "network" | "email_digest">;
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
  profile?: Trail["profile"];
  keyId?: string | null | undefined;
};

export function startTrail(
  id: string,
  { storeId, realmId, isOfMembers }: Pick<Trail, "storeId" | "realmId" | "isOfMembers">,
  { startedAt, source, userAgent, requestId = null, profile, keyId = null }: Begun,
): Trail {
  const { browser, operatingSystem: operating_system } = describeUserAgent(userAgent);
  const network = subnetOf(source);
  const facts = { redirect_uri: null, browser, operating_system, network, email_digest: null };
  const found = { profile, checks: [], timings: {}, idpAnswer: undefined };
  return { id, storeId, realmId, isOfMembers, keyId, source, requestId, startedAt, facts, ...found };
}

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

/** Whether a provider has signed an answer of this sign-on. Anyone can cause the others, with a made-up code. */
export const isSigned = ({ checks }: Pick<Trail, "checks">): boolean =>
  checks.some(
    ({ check, passed }) => passed && (check === "id_token.signature" || check === "logout_token.signature"),
  );

/** Signed answers are always recorded. Anyone can cause the others, so these are recorded within limits. */
export const isRecorded = async (
  { recordLimiter }: { recordLimiter: RecordLimiter },
  trail: Trail,
): Promise<boolean> => isSigned(trail) || (await recordLimiter.take(trail.storeId, trail.source));
