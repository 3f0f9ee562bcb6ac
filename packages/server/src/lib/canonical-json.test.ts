import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

describe("canonical JSON", () => {
  test("is what RFC 8785 3.2.2 shows", () => {
    const value = {
      numbers: JSON.parse("[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]"),
      string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test("orders members by their UTF-16 units, as RFC 8785 3.2.3 shows", () => {
    const members = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6"];
    const value = Object.fromEntries(members.map((name) => [name, 0]));
    expect(Object.keys(JSON.parse(canonicalJson(value)))).toHaveLength(members.length);
    expect(
      [...canonicalJson(value).matchAll(/"((?:\\.|[^"])*)":/g)].map(([, name]) => JSON.parse(`"${name}"`)),
    ).toEqual(["\r", "1", "\u0080", "\u00f6", "\u20ac", "\ud83d\ude00", "\ufb33"]);
  });

  test("has the same text for any order of members, and reads back as the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(turned(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  test("leaves out undefined members, and refuses values that JSON does not have", () => {
    expect(canonicalJson({ b: undefined, a: [-0] })).toBe('{"a":[0]}');
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, () => 1, 1n, [undefined]])
      expect(() => canonicalJson(value)).toThrow(TypeError);
  });
});

/** The same value with the members of every object the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, turned(member)]),
  );
}
