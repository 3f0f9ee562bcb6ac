import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseStrictJson } from "./strict-json.ts";

const DEPTH = 8;
const parseRequest = (text: string, depth = DEPTH) => parseStrictJson(new TextEncoder().encode(text), depth);
/** Without the place of a fault. */
function parse(text: string, depth = DEPTH): { value: unknown } | { fault: string } {
  const result = parseRequest(text, depth);
  return "fault" in result ? { fault: result.fault } : result;
}
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/**
 * The reference: a document as a tree that the test writes down itself, each character raw or as one of its escapes, so
 * that what it must be read as is known without any parser. Members are pairs, so a name can stand twice.
 */
type Tree = string | number | boolean | null | { items: Tree[] } | { members: [string, Tree][] };

const RESERVED = ["__proto__", "constructor", "prototype"];
const wholeText = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('"', "\\", "/", "\n", "a", "b", "\u007f", "ö", "🔑"),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
    ),
    maxLength: 6,
  })
  .filter((text) => text.isWellFormed());
const memberName = fc.oneof(
  wholeText.filter((name) => !RESERVED.includes(name)),
  fc.constantFrom("toString", "hasOwnProperty", "", "a", "b", '"', "\\", "\n", "'", "{", "0", "proto__"),
);
const leaf = fc.oneof(
  wholeText,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const tree = fc.letrec<{ any: Tree }>((tie) => ({
  any: fc.oneof(
    { maxDepth: DEPTH - 1, depthSize: "small" },
    leaf,
    fc.record({ items: fc.array(tie("any"), { maxLength: 4 }) }),
    fc.record({ members: fc.array(fc.tuple(memberName, tie("any")), { maxLength: 4 }) }),
  ),
})).any;

/** Draws how each character is written, and how much white space stands between tokens. */
const hand = fc.infiniteStream(fc.nat(3));
type Hand = { next(): { value: number } };

function write(node: Tree, hand: Hand): string {
  const gap = () => ["", "", " ", "\t\r\n"][hand.next().value];
  const between = (parts: string[]) => parts.map((part) => `${gap()}${part}${gap()}`).join(",");
  if (typeof node === "string") return writeText(node, hand);
  if (typeof node !== "object" || node === null) return Object.is(node, -0) ? "-0" : JSON.stringify(node);
  if ("items" in node) return `[${gap()}${between(node.items.map((item) => write(item, hand)))}]`;
  const members = node.members.map(
    ([name, value]) => `${writeText(name, hand)}${gap()}:${gap()}${write(value, hand)}`,
  );
  return `{${gap()}${between(members)}}`;
}

const SHORT: Record<string, string> = {
  "\b": "b",
  "\f": "f",
  "\n": "n",
  "\r": "r",
  "\t": "t",
  '"': '"',
  "\\": "\\",
  "/": "/",
};
function writeText(text: string, hand: Hand): string {
  const units = text.split("").map((unit) => {
    const style = hand.next().value;
    const hex = unit.charCodeAt(0).toString(16).padStart(4, "0");
    if (style === 0) return `\\u${hex}`;
    if (style === 1) return `\\u${hex.toUpperCase()}`;
    if (unit in SHORT && (unit !== "/" || style === 2)) return `\\${SHORT[unit]}`;
    return unit < " " ? `\\u${hex}` : unit;
  });
  // Half a pair must not be left raw beside an escaped half: UTF-8 cannot write it.
  const written = `"${units.join("")}"`;
  return written.isWellFormed() ? written : JSON.stringify(text);
}

const hasDuplicate = (node: Tree): boolean => {
  if (typeof node !== "object" || node === null) return false;
  if ("items" in node) return node.items.some(hasDuplicate);
  const names = node.members.map(([name]) => name);
  return new Set(names).size < names.length || node.members.some(([, value]) => hasDuplicate(value));
};

const readAs = (node: Tree): unknown => {
  if (typeof node !== "object" || node === null) return node;
  if ("items" in node) return node.items.map(readAs);
  return Object.fromEntries(node.members.map(([name, value]) => [name, readAs(value)]));
};

test("any document is read as the value that was written, in any notation, and a member named twice is found", () => {
  fc.assert(
    fc.property(tree, hand, (node, hand) => {
      const expected = hasDuplicate(node) ? { fault: "duplicate_member" } : { value: readAs(node) };
      expect(parse(write(node, hand))).toStrictEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

/** What is no name with a backslash JSON.parse reads rightly: there it is the reference for any text. */
test("almost-JSON texts are refused or read as JSON.parse does", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    ":",
    ",",
    "0",
    "1",
    "-",
    ".",
    "e",
    "E",
    "+",
    "true",
    "nul",
    "null",
    " ",
    "\n",
    '"a"',
    '"a":',
    "\\n",
    "\\x",
    "\\",
    "\u0000",
    "\t",
    "\u2028",
    "\ufeff",
  );
  const almost = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
    fc.tuple(tree, hand, fc.nat(), fc.nat(3), pieces).map(([node, hand, place, length, piece]) => {
      const text = write(node, hand);
      const at = place % (text.length + 1);
      return text.slice(0, at) + piece + text.slice(at + length);
    }),
  );
  fc.assert(
    fc.property(almost, (text) => {
      fc.pre(text.isWellFormed());
      const result = parse(text, 64);
      let expected: { value: unknown } | undefined;
      try {
        expected = { value: JSON.parse(text) };
      } catch {
        expected = undefined;
      }
      if (!expected) expect(Object.keys(result)).toEqual(["fault"]);
      else if ("fault" in result) expect(result.fault).not.toBe("not_json");
      else if (!text.includes("\\")) expect(result).toStrictEqual(expected);
    }),
    { numRuns: 5000 },
  );
});

describe("accepts", () => {
  test.each([
    ["letters that need none", String.raw`{"Gr\u00f6\u00dfe":1}`, { Größe: 1 }],
    [
      "a quotation mark, after a backslash was one",
      String.raw`[{"h":[],"\\":0},{"h":1,"\"":2}]`,
      [
        { h: [], "\\": 0 },
        { h: 1, '"': 2 },
      ],
    ],
    [
      "a line feed, after a backslash was one",
      String.raw`[{"h":[],"\\":0},{"h":1,"\n":2}]`,
      [
        { h: [], "\\": 0 },
        { h: 1, "\n": 2 },
      ],
    ],
    ["a whole surrogate pair", String.raw`{"\ud83d\udd11":1}`, { "🔑": 1 }],
    ["with a page of white space before the colon", `{"\\u0061"${" ".repeat(5000)}:1}`, { a: 1 }],
  ])("a name that is written with a backslash: %s (nodejs/node#63785)", (_, text, value) => {
    expect(parse(text)).toEqual({ value });
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

  test("nesting is limited to the given depth", () => {
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
    ["the same name, once escaped", String.raw`{"a":1,"\u0061":2}`, "duplicate_member"],
    ["the same name, escaped in two ways", String.raw`{"\n":1,"\u000A":2}`, "duplicate_member"],
    ["the same name behind 64 spaces", `{"a":1,"\\u0061"${" ".repeat(64)}:2}`, "duplicate_member"],
    ["a special name", String.raw`{"__pr\u006fto__":1}`, "reserved_member"],
    ["a special name behind 64 spaces", `{"__pr\\u006fto__"${" ".repeat(64)}:1}`, "reserved_member"],
    ["half a surrogate pair", String.raw`{"\ud83d":1}`, "lone_surrogate"],
  ])("a name that is written with a backslash: %s", (_, text, fault) => {
    expect(parse(text)).toEqual({ fault });
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
  ])("text that is not UTF-8: %s", (_, bytes) => {
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
    ["a bare word that every object knows", "[constructor]"],
    ["a leading zero", "01"],
    ["a raw line feed in a text", '"\n"'],
    ["an unknown escape", '"\\x41"'],
    ["UTF-16 without its mark", "\0{\0}"],
    ["an open text", '{"a'],
    ["an open object", '{"a":1'],
  ])("text that is not JSON: %s", (_, text) => {
    expect(parse(text)).toEqual({ fault: "not_json" });
  });
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
      expect(["value", "fault"].filter((name) => name in parseStrictJson(bytes, DEPTH))).toHaveLength(1);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["[", "[".repeat(16_384), "too_deep"],
  ['{"a":', '{"a":'.repeat(3276), "too_deep"],
  ["[ closed", nested(8192, "[", "]"), "too_deep"],
  ['{"a": closed', `${'{"a":'.repeat(2730)}1${"}".repeat(2730)}`, "too_deep"],
  ["[[],[],…", `[${"[],".repeat(5460)}[]]`, undefined],
  ["many names", `{${Array.from({ length: 1800 }, (_, at) => `"${at}":1`).join()}}`, undefined],
  ["many backslashes", `"${"\\\\".repeat(8190)}"`, undefined],
  ["open quotation marks", '"'.repeat(16_384), "not_json"],
  ["an open text with backslashes", `"${"\\\\".repeat(8190)}`, "not_json"],
])("16 KB of %s are refused at once, without a stack overflow", (_, text, fault) => {
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

describe("a fault of a request has its place:", () => {
  test.each([
    ["", 1, 1],
    ['{"a": tru}', 1, 7 + 3],
    ['{\n  "a": 1,\n  "b": }', 3, 8],
    ['{\r\n"a": 1,\r\n}', 3, 1],
    ['{"a": 1', 1, 8],
    ['{"a": "open', 1, 7],
    ['{"a": 1, "a"', 1, 13],
    ["[1, 2] 3", 1, 8],
    ["{'a': 1}", 1, 2],
  ])("%j at line %i, column %i", (text, line, column) => {
    expect(parseRequest(text)).toMatchObject({ place: { line, column } });
  });
});

describe("keepsEveryName", () => {
  const keeping = (text: string) =>
    parseStrictJson(new TextEncoder().encode(text), DEPTH, { keepsEveryName: true });
  const read = (text: string) => (keeping(text) as { value: Record<string, unknown> }).value;

  test.each(["__proto__", "constructor", "prototype"])("%s is a member like others", (name) => {
    const object = read(`{"${name}":{"admin":true},"a":[{"${name}":1}]}`);
    expect(Object.keys(object)).toEqual([name, "a"]);
    expect(object[name]).toEqual({ admin: true });
    expect(object.admin).toBeUndefined();
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test("an absent member is undefined, whatever its name", () => {
    for (const name of ["constructor", "__proto__", "toString", "valueOf"])
      expect(read("{}")[name]).toBeUndefined();
  });

  test.each([
    ['{"a":1,"a":2}', { fault: "duplicate_member", member: "a" }],
    ['{"__proto__":1,"__proto__":2}', { fault: "duplicate_member", member: "__proto__" }],
    ['{"a":1,"b":[{"c":1,"c":2}]}', { fault: "duplicate_member", member: "b" }],
    ['{"a":{"b":{}},"c":"\\ud800"}', { fault: "lone_surrogate", member: "c" }],
    [`{"a":${nested(DEPTH, "[", "]")}}`, { fault: "too_deep", member: "a" }],
    ['[{"a":1,"a":2}]', { fault: "duplicate_member" }],
  ])("a fault names the outermost member that contains it: %s", (text, fault) => {
    expect(keeping(text)).toEqual(fault);
  });
});
