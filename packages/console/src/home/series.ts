import type { SignOnStatistics } from "@latchkey/sdk/admin";

/** The sign-ons of all providers in a time step. Steps without sign-ons are included. */
type Bucket = { from: number; signedIn: number; unfinished: number; failed: number };

const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

export function seriesOf({ data, meta }: SignOnStatistics): Bucket[] {
  const stepMs = STEP_MS[meta.step];
  const start = Date.parse(meta.from);
  const count = Math.max(0, Math.round((Date.parse(meta.to) - start) / stepMs));
  const buckets = Array.from({ length: count }, (_, at) => ({
    from: start + at * stepMs,
    signedIn: 0,
    unfinished: 0,
    failed: 0,
  }));
  for (const { from, outcomes } of data) {
    const bucket = buckets[Math.floor((Date.parse(from) - start) / stepMs)];
    if (!bucket) continue;
    bucket.signedIn += outcomes.exchanged ?? 0;
    bucket.failed += outcomes.failed ?? 0;
    bucket.unfinished += (outcomes.code_issued ?? 0) + (outcomes.expired ?? 0);
  }
  return buckets;
}

export function totalOf(buckets: readonly Bucket[]): Omit<Bucket, "from"> {
  const sum = (part: "signedIn" | "unfinished" | "failed") =>
    buckets.reduce((total, bucket) => total + bucket[part], 0);
  return { signedIn: sum("signedIn"), unfinished: sum("unfinished"), failed: sum("failed") };
}

/** The provider's 95th percentile in the latest step with sign-ons. */
export const latestMs = ({ data }: SignOnStatistics, profileId: string): number | null =>
  data.findLast(({ profile_id, idp_ms }) => profile_id === profileId && idp_ms.p95 !== null)?.idp_ms.p95 ??
  null;
