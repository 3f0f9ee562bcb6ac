import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readParameters, withParameters } from "./query-parameters.ts";

const anyText = fc.string({ unit: "binary", maxLength: 60 });
/** What a query may be made of, with a liking for what has a meaning there. */
const anyAscii = fc.oneof(
  fc.string({ unit: "binary-ascii", maxLength: 60 }),
  fc
    .array(fc.constantFrom("%", "%2", "%41", "%ff", "%zz", "+", "=", "&", "#", ";", "?", "\r\n", "\0"))
    .map((parts) => parts.join("")),
);
/** And what no query should be made of. */
const anyCharacters = fc.oneof(anyText, anyAscii);
const name = fc.stringMatching(/^[a-z_]{1,8}$/);

/** What a form decoder makes of an encoded value, byte by byte: what the receiver has in the end. */
function decodedBytes(encoded: string): string {
  const bytes: Buffer[] = [];
  for (const [part] of encoded.replaceAll("+", " ").matchAll(/%[0-9A-Fa-f]{2}|[^%]+|%/g))
    bytes.push(
      /^%[0-9A-Fa-f]{2}$/.test(part) ? Buffer.from(part.slice(1), "hex") : Buffer.from(part.toWellFormed()),
    );
  return Buffer.concat(bytes).toString("hex");
}

describe("a parameter is read", () => {
  test.each([
    ["state=abc", "abc"],
    ["a=1&state=abc&b=2", "abc"],
    ["state=a%20b+c", "a b c"],
    ["state=a=b=c", "a=b=c"],
    ["state=%26%3D%23", "&=#"],
    ["state=%E2%82%AC", "€"],
    ["state=%zz", "%zz"],
    ["state=100%", "100%"],
    ["%73tate=abc", "abc"],
    ["&&state=abc&", "abc"],
    ["state=%00", "\0"],
    ["state=?x", "?x"],
  ])("%s", (search, value) => {
    expect(readParameters(search).get("state")).toBe(value);
    expect(readParameters(search).isRepeated("state")).toBe(false);
  });

  test("as any other reader of forms reads it", () => {
    const search = fc
      .array(fc.tuple(fc.oneof(name, anyAscii), anyAscii), { maxLength: 6 })
      .map((pairs) => pairs.map(([key, value]) => `${key}=${value}`).join("&"));
    fc.assert(
      fc.property(search, (text) => {
        const parameters = readParameters(text);
        // A question mark in front is taken off by the constructor, and was taken off by the server before.
        const others = [...new URLSearchParams(`?${text}`)].filter(([, value]) => value !== "");
        for (const [key, value] of others) {
          const [first, ...more] = others.filter(([other]) => other === key);
          expect(parameters.get(key)).toBe(first?.[1]);
          expect(parameters.isRepeated(key)).toBe(more.length > 0);
          expect(typeof value).toBe("string");
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("only among the first five hundred, because anyone can send thousands (T38)", () => {
    const first = readParameters(`${"a=1&".repeat(499)}state=abc`);
    expect([first.get("state"), first.isRepeated("a")]).toEqual(["abc", true]);
    const beyond = readParameters(`${"a=1&".repeat(500)}state=abc`);
    expect([beyond.get("state"), beyond.asSent("state")]).toEqual([undefined, undefined]);
  });

  test("a name that begins with a question mark is an unknown parameter (R5)", () => {
    const parameters = readParameters("state=abc&?state=evil");
    expect(parameters.get("state")).toBe("abc");
    expect(parameters.isRepeated("state")).toBe(false);
    expect(readParameters("a=1&?redirect_uri=x").get("redirect_uri")).toBeUndefined();
  });
});

describe("a parameter is absent", () => {
  test.each([
    "",
    "state",
    "state=",
    "state=&state=",
    "STATE=x",
    "state%3Dx",
    "state+=x",
    " state=x",
    "=x",
    "&",
  ])("in %j (R5)", (search) => {
    const parameters = readParameters(search);
    expect(parameters.get("state")).toBeUndefined();
    expect(parameters.asSent("state")).toBeUndefined();
    expect(parameters.isRepeated("state")).toBe(false);
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "when it is called %s (A64)",
    (key) => {
      expect(readParameters("a=1").get(key)).toBeUndefined();
      expect(readParameters("a=1").isRepeated(key)).toBe(false);
      expect(readParameters(`${key}=x`).get(key)).toBe("x");
    },
  );
});

describe("a parameter is given twice", () => {
  test.each([
    ["state=a&state=b"],
    ["state=a&state=a"],
    ["state=a&x=1&state=b"],
    ["state=a&%73tate=b"],
    ["state=a&state=&state=b"],
    ["state=a&state=b&state=c"],
  ])("in %s (R5)", (search) => {
    expect(readParameters(search).isRepeated("state")).toBe(true);
    expect(readParameters(search).isRepeated("nonce", "state")).toBe(true);
    expect(readParameters(search).isRepeated("nonce")).toBe(false);
  });

  test("not when all but one are empty, or differ in their name", () => {
    for (const search of ["state=&state=a", "state=a&state=", "state=a&State=b", "state=a&state%20=b"])
      expect(readParameters(search).isRepeated("state")).toBe(false);
  });
});

describe("a parameter that is passed on", () => {
  test.each([
    "de-CH%20fr+en",
    "de-CH+fr%20en",
    "%64%65",
    "%c3%a9%C3%A9",
    "%FF%fe",
    "a%00b",
    "%26client_id%3Devil",
    "%23fragment",
    "%0D%0ASet-Cookie:%20a=b",
    "a/b?c=d:e@f,g!$()*~_.-",
    "=",
    "none",
  ])("is %s, byte for byte as sent (R19)", (sent) => {
    expect(readParameters(`a=1&ui_locales=${sent}&b=2`).asSent("ui_locales")).toBe(sent);
  });

  test.each([
    ["a#b", "a%23b"],
    ["a b", "a%20b"],
    ["a\r\nb", "a%0D%0Ab"],
    ["<script>", "%3Cscript%3E"],
    ['"', "%22"],
    ["a\\b", "a%5Cb"],
    ["é", "%C3%A9"],
    ["100%", "100%25"],
    ["%zz", "%25zz"],
    ["%", "%25"],
    ["a|b", "a%7Cb"],
    ["[x]{y}", "%5Bx%5D%7By%7D"],
  ])("is encoded if a query cannot contain it: %j", (sent, passed) => {
    expect(readParameters(`ui_locales=${sent}`).asSent("ui_locales")).toBe(passed);
  });

  test("has no character that ends a parameter, a query or a header line (T07)", () => {
    fc.assert(
      fc.property(anyCharacters, anyCharacters, (sent, more) => {
        const passed = readParameters(`prompt=${sent}&x=${more}`).asSent("prompt") ?? "";
        expect(passed).toMatch(/^[\x21-\x7e]*$/);
        expect(passed).not.toMatch(/[&#"<>\\]/);
        expect([...new URLSearchParams(`client_id=ours&prompt=${passed}`).keys()]).toEqual([
          "client_id",
          "prompt",
        ]);
      }),
      { numRuns: 2000 },
    );
  });

  test("has no semicolon: some providers read it as an ampersand, and would read a second client_id (T07)", () => {
    const passed = readParameters("prompt=login;client_id=evil").asSent("prompt") ?? "";
    expect(decodedBytes(passed)).toBe(decodedBytes("login;client_id=evil"));
    expect(passed).not.toContain(";");
  });

  test("decodes to the same value", () => {
    fc.assert(
      fc.property(anyAscii, (sent) => {
        const parameters = readParameters(`prompt=${sent}`);
        const passed = parameters.asSent("prompt") ?? "";
        expect(new URLSearchParams(`prompt=${passed}`).get("prompt")).toBe(parameters.get("prompt") ?? "");
      }),
      { numRuns: 2000 },
    );
  });

  test("decodes to the same bytes, even if a part had to be encoded (R19)", () => {
    const sent = fc
      .array(fc.constantFrom("%FF", "%C3%A9", "%41", "a", "+", "|", '"', "é", "[", "%zz"), { minLength: 1 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(sent, (text) => {
        const passed = readParameters(`prompt=${text}`).asSent("prompt") ?? "";
        expect(decodedBytes(passed)).toBe(decodedBytes(text));
      }),
      { numRuns: 500 },
    );
  });
});

describe("parameters are appended", () => {
  test.each([
    ["https://shop.example/cb", "https://shop.example/cb?code=c"],
    ["https://shop.example", "https://shop.example?code=c"],
    ["https://shop.example/cb?", "https://shop.example/cb?code=c"],
    ["https://shop.example/cb?shop=1", "https://shop.example/cb?shop=1&code=c"],
    ["https://shop.example/cb?shop=1&", "https://shop.example/cb?shop=1&code=c"],
    ["https://shop.example/cb?shop=a%20b+c", "https://shop.example/cb?shop=a%20b+c&code=c"],
    ["https://shop.example/cb?shop", "https://shop.example/cb?shop&code=c"],
    // A question mark inside a query is a character like any other.
    ["https://shop.example/cb?a=?", "https://shop.example/cb?a=?&code=c"],
    ["https://shop.example/cb??", "https://shop.example/cb??&code=c"],
  ])("to %s", (uri, expected) => {
    expect(withParameters(uri, { code: "c" })).toBe(expected);
  });

  test("except those without a value", () => {
    expect(withParameters("https://a.example", { code: "c", state: undefined, iss: "i" })).toBe(
      "https://a.example?code=c&iss=i",
    );
  });

  const uri = fc
    .tuple(fc.webUrl({ withQueryParameters: true }), fc.constantFrom("", "?", "?a=1", "?a=1&", "?a=%20+&b"))
    .map(([url, query]) => (url.includes("?") ? url : `${url}${query}`));
  const values = fc.dictionary(name, fc.oneof(anyText, fc.string({ unit: "binary", minLength: 200 })), {
    maxKeys: 6,
    noNullPrototype: true,
  });

  test("after the existing query, which stays byte for byte, and are read back as the same values (R8)", () => {
    fc.assert(
      fc.property(uri, values, (before, parameters) => {
        const after = withParameters(before, parameters);
        expect(after.startsWith(before)).toBe(true);
        const added = after.slice(before.length);
        expect(added).toMatch(/^[\x21-\x7e]*$/);
        expect(added).not.toMatch(/[#"<>\\;]/);
        expect(Object.fromEntries(new URLSearchParams(added.replace(/^[?&]/, "")))).toEqual(parameters);
        const known = [...new URL(before).searchParams];
        expect([...new URL(after).searchParams]).toEqual([...known, ...Object.entries(parameters)]);
        expect(new URL(after).origin).toBe(new URL(before).origin);
      }),
      { numRuns: 1000 },
    );
  });

  test("half a surrogate pair is not text, and breaks nothing", () => {
    expect(withParameters("https://a.example", { state: "a\ud800b" })).toBe(
      "https://a.example?state=a%EF%BF%BDb",
    );
  });
});
