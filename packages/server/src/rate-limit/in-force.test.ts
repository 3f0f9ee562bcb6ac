import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { inForceBy } from "./in-force.ts";

test("a change takes effect on every instance within a second", () => {
  expect(inForceBy({ clock: handClock(Date.parse("2026-01-01T00:00:00.000Z")) })).toBe(
    "2026-01-01T00:00:01.000Z",
  );
});
