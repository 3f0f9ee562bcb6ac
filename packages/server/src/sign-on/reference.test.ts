import fc from "fast-check";
import { expect, test } from "vitest";
import { referenceOf, spellReference } from "./reference.ts";

test("a reference is found however it is typed", () => {
  const spelling = fc.record({
    isLower: fc.boolean(),
    joint: fc.constantFrom("", "-", " ", " - ", ".", "\u2011"),
    zero: fc.constantFrom("0", "O", "o"),
    one: fc.constantFrom("1", "I", "L", "i", "l"),
    v: fc.constantFrom("V", "U"),
  });
  fc.assert(
    fc.property(fc.uuid(), spelling, (id, { isLower, joint, zero, one, v }) => {
      const reference = referenceOf(id);
      const typed = reference
        .replaceAll("0", zero)
        .replaceAll("1", one)
        .replaceAll("V", v)
        .replace("-", joint);
      expect(spellReference(isLower ? ` ${typed.toLowerCase()} ` : typed)).toBe(reference);
    }),
  );
});

test("what has not eight characters is none, and finds nothing", () => {
  expect(["", "abc", "K7QM-2XHD-1"].map(spellReference)).toEqual(["", "ABC", "K7QM-2XHD-1"]);
});
