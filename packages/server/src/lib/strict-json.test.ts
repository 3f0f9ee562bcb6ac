import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseStrictJson } from "./strict-json.ts";

const DEPTH = 8;
const parse = (text: string, depth = DEPTH) => parseStrictJson(new TextEncoder().encode(text), depth);
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** Plain data up to `DEPTH` deep, of whole texts and without the names that we refuse. */
const wholeText = fc.string({ unit: "grapheme" });
const memberName = fc
  .oneof(wholeText, fc.constantFrom("toString", "hasOwnProperty", "", "a", "'", "{", "proto__"))
  .filter((name) => !["__proto__", "constructor", "prototype"].includes(name) && isWrittenAsItIs(name));
/** Names that need a backslash are refused. */
const isWrittenAsItIs = (name: string): boolean => JSON.stringify(name) === `"${name}"`;
const leaf = fc.oneof(wholeText, fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
const plainData = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: DEPTH }, leaf, tie("array"), tie("object")),
  array: fc.array(tie("any"), { maxLength: 4 }),
  object: fc.dictionary(memberName, tie("any"), { maxKeys: 4 }),
})).any;

describe("accepts", () => {
  test("whatever JSON.stringify makes of plain data, with and without white space", () => {
    fc.assert(
      fc.property(plainData, fc.constantFrom(undefined, 2, "\t\r\n"), (data, space) => {
        const text = JSON.stringify(data, undefined, space);
        expect(parse(text)).toEqual({ value: JSON.parse(text) });
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["a special name as a text", '["__proto__","constructor","prototype"]'],
    ["a special name as a value", '{"name":"__proto__"}'],
    ["names that only resemble special ones", '{"__proto":1,"Constructor":2,"prototype ":3}'],
    ["the same name in two objects", '[{"a":1},{"a":2}]'],
    ["the same name in an object and in one within it", '{"a":{"a":{"a":1}}}'],
    ["the same text as name and as value", '{"a":"a","b":"a"}'],
    ["the same text twice in a list within an object", '{"list":["a","a","a"]}'],
    ["names in two cases", '{"a":1,"A":2}'],
    ["a name after a list, an object and a literal", '{"a":[1,"b"],"b":{"c":1},"c":null,"d":"e"}'],
    ["text that looks like JSON", '{"a":"{\\"a\\":1,\\"a\\":2}","b":"[[[[[[[[[[[[","c":"\\\\"}'],
    ["a whole surrogate pair, escaped", '["\\ud83d\\udd11","🔑"]'],
    ["a mark inside a text", '"\ufeff"'],
    ["a lone value", "1"],
  ])("%s", (_, text) => {
    expect(parse(text)).toEqual({ value: JSON.parse(text) });
  });

  test("as many levels as it is told, and no more", () => {
    for (const depth of [0, 1, 2, 8]) {
      expect(parse(nested(depth, "[", "]") || "1", depth)).toHaveProperty("value");
      expect(parse(nested(depth + 1, "[", "]"), depth)).toEqual({ fault: "too_deep" });
      expect(parse(`${'{"a":'.repeat(depth + 1)}1${"}".repeat(depth + 1)}`, depth)).toEqual({
        fault: "too_deep",
      });
    }
    expect(parse("[[],[],[{}],{}]", 2)).toEqual({ fault: "too_deep" });
    expect(parse("[[],[],[1],{}]", 2)).toHaveProperty("value");
  });
});

describe("refuses", () => {
  test.each([
    ["a member named twice", '{"a":1,"a":1}'],
    ["a member named twice, far apart", '{"a":[{"b":1}],"b":{"a":2},"a":3}'],
    ["a member named twice, deep inside", '[[{"x":{"a":1,"b":2,"a":3}}]]'],
    ["the empty name twice", '{"":1,"":2}'],
    ["a member named twice, with white space", '{ "a" : 1 ,\n "a" : 2 }'],
  ])("%s", (_, text) => {
    expect(parse(text)).toEqual({ fault: "duplicate_member" });
  });

  test.each([
    '{"__proto__":{"admin":true}}',
    '{"constructor":{"prototype":{"admin":true}}}',
    '{"prototype":1}',
    '{"a":[{"b":{"__proto__":1}}]}',
    '{"a":1,"constructor":2}',
  ])("a member with a special name: %s", (text) => {
    expect(parse(text)).toEqual({ fault: "reserved_member" });
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test.each([
    ["the same name, once escaped", '{"a":1,"\\u0061":2}'],
    ["a special name", '{"__pr\\u006fto__":1}'],
    ["half a surrogate pair as a name", '{"\\ud83d":1}'],
    ["with white space before the colon", '{"\\u0061" \n :1}'],
    ["deep inside, and behind other texts", '[{"a":"\\"x"},{"b":{"\\u0063":1}}]'],
    ["in what is not JSON", '{"\\u0061":'],
  ])("a name that is written with a backslash: %s", (_, text) => {
    expect(parse(text)).toEqual({ fault: "escaped_member" });
  });

  test.each([
    ["a first half as a value", '"\\ud83d"'],
    ["a second half as a value", '["\\udd11"]'],
    ["the halves in the wrong order", '"\\udd11\\ud83d"'],
    ["a half between letters", '{"a":"b\\ud83dc"}'],
  ])("half a surrogate pair: %s", (_, text) => {
    expect(parse(text)).toEqual({ fault: "lone_surrogate" });
  });

  test.each([
    ["a byte that UTF-8 does not have", [0x22, 0xff, 0x22]],
    ["a letter cut off", [0x22, 0xc3, 0x22]],
    ["an overlong slash", [0x22, 0xc0, 0xaf, 0x22]],
    ["half a surrogate pair as bytes", [0x22, 0xed, 0xa0, 0xbd, 0x22]],
    ["Latin-1", [0x22, 0xe9, 0x22]],
    ["UTF-16 with its mark", [0xff, 0xfe, 0x31, 0x00]],
  ])("what is not UTF-8: %s", (_, bytes) => {
    expect(parseStrictJson(Uint8Array.from(bytes), DEPTH)).toEqual({ fault: "not_utf8" });
  });

  test.each([
    ["nothing", ""],
    ["white space", " \n"],
    ["a byte-order mark", "\ufeff{}"],
    ["bytes after the end", "{}x"],
    ["a second document", "{}{}"],
    ["a NUL after the end", "{}\0"],
    ["a trailing comma", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["a bare name", "{a:1}"],
    ["a comment", "{}//"],
    ["NaN", "NaN"],
    ["a leading zero", "01"],
    ["a raw line feed in a text", '"\n"'],
    ["an unknown escape", '"\\x41"'],
    ["UTF-16 without its mark", "\0{\0}"],
    ["an open text", '{"a'],
    ["an open object", '{"a":1'],
  ])("what is not JSON: %s", (_, text) => {
    expect(parse(text)).toEqual({ fault: "not_json" });
  });
});

test("a name that is added to plain data a second time is found, wherever it is", () => {
  fc.assert(
    fc.property(plainData, memberName, plainData, (data, name, other) => {
      fc.pre(!JSON.stringify(name).includes("\\"));
      const member = JSON.stringify(name);
      const text = `{${member}:${JSON.stringify(data)},${member}:${JSON.stringify(other)}}`;
      expect(parse(text, DEPTH + 2)).toEqual({ fault: "duplicate_member" });
    }),
  );
});

test("bytes of any kind are a value or a fault, never an exception", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    ":",
    ",",
    "1",
    "a",
    "null",
    "\\u00",
    "\ufeff",
    " ",
  );
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.array(pieces).map((parts) => new TextEncoder().encode(parts.join(""))),
  );
  fc.assert(
    fc.property(bytes, (bytes) => {
      expect(Object.keys(parseStrictJson(bytes, DEPTH))).toHaveLength(1);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["[", "[".repeat(16_384), "not_json"],
  ['{"a":', '{"a":'.repeat(3276), "not_json"],
  ["[ closed", nested(8192, "[", "]"), "too_deep"],
  ['{"a": closed', `${'{"a":'.repeat(2730)}1${"}".repeat(2730)}`, "too_deep"],
  ["[[],[],…", `[${"[],".repeat(5460)}[]]`, undefined],
  ["many names", `{${Array.from({ length: 1800 }, (_, at) => `"${at}":1`).join()}}`, undefined],
  ["many backslashes", `"${"\\\\".repeat(8190)}"`, undefined],
])("16 KB of %s end at once, without running out of stack", (_, text, fault) => {
  expect(text.length).toBeLessThanOrEqual(16_384);
  const result = parse(text);
  expect("fault" in result ? result.fault : undefined).toBe(fault);
  // The best of five: a busy machine may be slow once, but not each time.
  const timesMs = Array.from({ length: 5 }, () => {
    const startedMs = performance.now();
    parse(text);
    return performance.now() - startedMs;
  });
  expect(Math.min(...timesMs)).toBeLessThan(50);
});
