import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { colourOf } from "../look/look.ts";
import { accentOf, contrast } from "./accent.ts";

const anyColor = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, "0")}`);

describe("a shop's colour", () => {
  test("every colour has enough contrast on every background, and text on the colour has it, too (AA)", () => {
    fc.assert(
      fc.property(anyColor, (color) => {
        const accent = accentOf(color);
        for (const scheme of ["light", "dark"] as const)
          for (const ground of ["paper", "card", "on-pine"])
            expect(contrast(accent?.[scheme] ?? "", colourOf(scheme, ground))).toBeGreaterThanOrEqual(4.5);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["#000000", { light: "#000000" }],
    ["#ffffff", { dark: "#ffffff" }],
    ["#0b5f52", { light: "#0b5f52" }],
    ["#FFD400", { dark: "#ffd400" }],
  ])("%s stays as it is where its contrast is enough", (color, expected) => {
    expect(accentOf(color)).toMatchObject(expected);
  });

  test.each(["", "red", "#fff", "#12345g", "#0b5f52;", "#0b5f52}*{x:y", " #0b5f52", "#0b5f52\n", "url(x)"])(
    "%j is not a colour",
    (text) => expect(accentOf(text)).toBeUndefined(),
  );

  test.each([
    ["#000000", "#ffffff", 21],
    ["#777777", "#ffffff", 4.48],
    ["#0000ff", "#ffffff", 8.59],
  ])("the contrast of %s and %s is %d by the WCAG formula", (one, other, ratio) => {
    expect(contrast(one, other)).toBeCloseTo(ratio, 2);
    expect(contrast(other, one)).toBeCloseTo(ratio, 2);
  });
});
