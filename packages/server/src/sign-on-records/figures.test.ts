import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bucketOf, type Counted, createTallies, dropNegative, percentile } from "./figures.ts";

const row = (changes: Partial<Counted> = {}): Counted => ({
  store_id: "store",
  profile_id: "profile",
  key_id: null,
  of_members: null,
  started_at: 60_000,
  outcome: "exchanged",
  reason: null,
  timings: "{}",
  counted: 1,
  test: null,
  ...changes,
});

describe("percentiles", () => {
  test("are within 5 % of the exact ones, or half a millisecond", () => {
    const took = fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(took, fc.constantFrom(0.5, 0.95), (times, share) => {
        const counts: Record<string, number> = {};
        for (const ms of times) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
        const exact = times.toSorted((a, b) => a - b)[Math.ceil(times.length * share) - 1] as number;
        const found = percentile(counts, share) as number;
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.05 + 0.5);
      }),
    );
  });

  test("without times are null", () => {
    expect(percentile({}, 0.5)).toBeNull();
  });
});

describe("tallies", () => {
  const tally = (before: Counted | undefined, after: Counted) => {
    const tallies = createTallies();
    tallies.note(before, after);
    return tallies.all();
  };

  test("count a new record by outcome, reason and time at the provider, without the time in the queue", () => {
    const timings = JSON.stringify({ discovery: 5, wait: 900, token: 40, identify: 55, write: 3 });
    expect(tally(undefined, row({ outcome: "failed", reason: "id_token.aud", timings }))).toEqual([
      {
        store_id: "store",
        profile_id: "profile",
        key_id: "",
        of_members: 0,
        minute: 60_000,
        figures: {
          outcomes: { failed: 1 },
          reasons: { "id_token.aud": 1 },
          idpMs: { [bucketOf(100)]: 1 },
        },
      },
    ]);
  });

  test("subtract the old values of a record, if it was counted", () => {
    const before = row({ outcome: "code_issued" });
    expect(tally(before, row())[0]?.figures.outcomes).toEqual({ code_issued: -1, exchanged: 1 });
    expect(tally({ ...before, counted: null }, row())[0]?.figures.outcomes).toEqual({ exchanged: 1 });
  });

  test("move a record to its minute when its beginning becomes known", () => {
    const moved = tally(row({ started_at: 125_000 }), row({ started_at: 119_999 }));
    expect(moved.map(({ minute, figures }) => [minute, figures.outcomes])).toEqual([
      [120_000, { exchanged: -1 }],
      [60_000, { exchanged: 1 }],
    ]);
  });

  test("move a record to the key whose token has redeemed the code", () => {
    const moved = tally(row({ outcome: "code_issued" }), row({ key_id: "key" }));
    expect(moved.map(({ key_id, figures }) => [key_id, figures.outcomes])).toEqual([
      ["", { code_issued: -1 }],
      ["key", { exchanged: 1 }],
    ]);
  });

  test("keep members and shoppers apart", () => {
    expect(tally(undefined, row({ of_members: 1 })).map(({ of_members }) => of_members)).toEqual([1]);
    expect(tally(undefined, row()).map(({ of_members }) => of_members)).toEqual([0]);
  });

  test("leave out a test sign-on", () => {
    expect(tally(undefined, row({ outcome: "tested", test: 1 }))).toEqual([]);
  });

  test("are empty for a record without a change", () => {
    expect(tally(row(), row())).toEqual([]);
  });
});

test("a count below zero is dropped from what is shown, and the others stay", () => {
  const figures = { outcomes: { code_issued: -1, exchanged: 2 }, reasons: { code_expired: -1 }, idpMs: {} };
  expect(dropNegative(figures)).toEqual({ outcomes: { exchanged: 2 }, reasons: {}, idpMs: {} });
});
