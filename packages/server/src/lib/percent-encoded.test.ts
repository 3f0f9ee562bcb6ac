import fc from "fast-check";
import { expect, test } from "vitest";
import { readPercentEncoded } from "./percent-encoded.ts";

test("any names and values without NUL are read as URLSearchParams has written them", () => {
  const text = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed() && !text.includes("\0"));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
      const encoded = new URLSearchParams(pairs).toString();
      expect([...(readPercentEncoded(encoded) ?? [])]).toEqual(pairs);
    }),
  );
});

test.each([
  ["a=100%&b=%zz", "100%", "%zz"],
  ["a=%25&b=%2", "%", "%2"],
  ["a=x+y&b=%EF%BF%BD", "x y", "\ufffd"],
  ["a=1&a=2&b=3", "1", "3"],
])("%s is read unchanged", (encoded, a, b) => {
  const read = readPercentEncoded(encoded);
  expect([read?.get("a"), read?.get("b")]).toEqual([a, b]);
});

test.each([
  ["a NUL", "a=%00"],
  ["a NUL in a name", "a%00=1"],
  ["a raw NUL", "a=\0"],
  ["half a surrogate pair", "a=%ED%A0%BD"],
  ["a surrogate pair, each half by itself", "a=%ED%A0%BD%ED%B4%91"],
  ["half a surrogate pair that is not encoded", "a=\ud83d"],
  ["a byte that UTF-8 does not have", "a=%FF"],
  ["a letter cut off", "a=%C3&b=1"],
  ["an overlong NUL", "a=%C0%80"],
])("%s is not text", (_, encoded) => {
  expect(readPercentEncoded(encoded)).toBeUndefined();
});
