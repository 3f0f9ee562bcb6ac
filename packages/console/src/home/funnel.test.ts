import { describe, expect, test } from "vitest";
import type { Entry } from "./figures.ts";
import { funnelOf, shareInWords } from "./funnel.ts";
import { signOnsPath } from "./links.ts";

const entry = (at: number, id: string | null, outcomes: Record<string, number>, p95?: number): Entry => ({
  at,
  id,
  outcomes,
  idpMs: { p50: p95 === undefined ? null : p95 / 2, p95: p95 ?? null },
});
const rowsOf = (...entries: Entry[]) => funnelOf({ entries, from: 10, to: 20 });

describe("the funnel", () => {
  test("has what started, returned and ended, and what never came back", () => {
    const [row] = rowsOf(
      entry(10, "a", { started: 9, exchanged: 3, failed: 1 }, 80),
      entry(19, "a", { started: 1, code_issued: 1, expired: 1 }, 120),
    );
    expect(row).toEqual({
      id: "a",
      started: 10,
      returned: 6,
      neverBack: 4,
      signedIn: 3,
      unfinished: 2,
      failed: 1,
      latest: { at: 19, p50: 60, p95: 120 },
    });
  });

  test("more returned than counted redirects: as many started, and none never came back", () => {
    expect(rowsOf(entry(10, "a", { started: 1, exchanged: 3 }))[0]).toMatchObject({
      started: 3,
      neverBack: 0,
    });
    expect(rowsOf(entry(10, "a", { exchanged: 3 }))[0]).toMatchObject({ started: 3, neverBack: 0 });
  });

  test("leaves the time before out", () => {
    expect(rowsOf(entry(9, "a", { exchanged: 1 }), entry(20, "a", { exchanged: 1 }))).toEqual([]);
  });

  test("the most sign-ons come first, those without a provider last, those without sign-ons not at all", () => {
    const rows = rowsOf(
      entry(11, null, { failed: 9 }),
      entry(11, "few", { exchanged: 1 }),
      entry(11, "many", { started: 5 }),
      entry(11, "none", {}),
    );
    expect(rows.map(({ id }) => id)).toEqual(["many", "few", null]);
  });

  test("the times are those of the latest step in which the provider was called", () => {
    const [row] = rowsOf(entry(11, "a", { exchanged: 1 }, 80), entry(12, "a", { failed: 1 }));
    expect(row?.latest).toEqual({ at: 11, p50: 40, p95: 80 });
    expect(rowsOf(entry(11, "a", { failed: 1 }))[0]?.latest).toBeUndefined();
  });
});

test.each([
  [0, 0, "–"],
  [0, 5, "0 %"],
  [5, 5, "100 %"],
  [2, 3, "67 %"],
  [1, 1000, "< 1 %"],
  [999, 1000, "> 99 %"],
])("%d of %d is %s", (part, whole, words) => expect(shareInWords(part, whole)).toBe(words));

test("the address of a list has only what narrows it", () => {
  const at = { from: Date.parse("2026-01-01T00:00Z"), to: Date.parse("2026-01-01T01:00Z") };
  const times = "from=2026-01-01T00%3A00%3A00.000Z&to=2026-01-01T01%3A00%3A00.000Z";
  expect(signOnsPath(at)).toBe(`/sign-ons?${times}`);
  expect(signOnsPath({ ...at, outcome: "not_finished", only: { by: "provider", id: "p" } })).toBe(
    `/sign-ons?outcome=not_finished&provider=p&${times}`,
  );
});
