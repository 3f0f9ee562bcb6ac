import { expect, test } from "vitest";
import { latestMs, seriesOf, totalOf } from "./series.ts";

const entry = (
  from: string,
  profile_id: string,
  outcomes: Record<string, number>,
  p95: number | null = null,
) => ({
  from,
  profile_id,
  outcomes,
  reasons: {},
  idp_ms: { p50: p95, p95 },
});
const statistics = {
  data: [
    entry("2026-01-01T01:00:00.000Z", "a", { exchanged: 3, failed: 1 }, 80),
    entry("2026-01-01T01:00:00.000Z", "b", { exchanged: 2, expired: 1 }),
    entry("2026-01-01T03:00:00.000Z", "a", { code_issued: 1, something_new: 9 }, 120),
  ],
  meta: {
    step: "hour" as const,
    from: "2026-01-01T00:00:00.000Z",
    to: "2026-01-01T04:00:00.000Z",
    kept_from: "2025-01-01T00:00:00.000Z",
  },
};

test("every step has a bucket, even without sign-ons; providers are summed", () => {
  const series = seriesOf(statistics);
  expect(series.map(({ signedIn, unfinished, failed }) => [signedIn, unfinished, failed])).toEqual([
    [0, 0, 0],
    [5, 1, 1],
    [0, 0, 0],
    [0, 1, 0],
  ]);
  expect(totalOf(series)).toEqual({ signedIn: 5, unfinished: 2, failed: 1 });
});

test("latestMs is the value of the last step with sign-ons", () => {
  expect([latestMs(statistics, "a"), latestMs(statistics, "b"), latestMs(statistics, "c")]).toEqual([
    120,
    null,
    null,
  ]);
});
