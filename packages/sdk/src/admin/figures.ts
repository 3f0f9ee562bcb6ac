/** Figures of a store as they come over the wire. A type test holds each equal to the service's contract. */

export type StatisticsQuery = {
  /** ISO 8601; without it, 60 steps before `to`. */
  from?: string | undefined;
  /** ISO 8601; without it, now. */
  to?: string | undefined;
  /** Without it, `hour`. At most 1,000 steps are answered. */
  step?: "minute" | "hour" | "day" | undefined;
};
export type SignOnStatistics = {
  data: {
    from: string;
    profile_id: string | null;
    outcomes: Record<string, number>;
    reasons: Record<string, number>;
    idp_ms: { p50: number | null; p95: number | null };
  }[];
  meta: { step: "minute" | "hour" | "day"; from: string; to: string; kept_from: string };
};

type PerSecond = { asked: number[]; refused: number[] };
export type StoreUsage = {
  type: "store-usage";
  from: string;
  to: string;
  rate_limit: number;
  shared_pool: number;
  keys: ({ id: string; name: string; reserved_rate_limit: number } & PerSecond)[];
  other_keys?: ({ count: number } & PerSecond) | undefined;
};
