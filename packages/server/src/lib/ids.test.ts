import fc from "fast-check";
import { expect, test } from "vitest";
import { idFromBytes, idToBytes, isId, newId, timeOfId } from "./ids.ts";

const ID = "0190f3b2-7c1a-7def-8123-456789abcdef";

test("a new id is a valid id, of the version that sorts by time", () => {
  const id = newId();
  expect(isId(id)).toBe(true);
  expect(id[14]).toBe("7");
});

test("ids sort in the order in which they were made, also within a millisecond", () => {
  const ids = Array.from({ length: 2000 }, newId);
  expect(new Set(ids.map(timeOfId)).size).toBeLessThan(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test("no id is made twice", () => {
  expect(new Set(Array.from({ length: 1000 }, newId)).size).toBe(1000);
});

test("an id converted to bytes and back is the same", () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      expect(idToBytes(id)).toHaveLength(16);
      expect(idFromBytes(idToBytes(id))).toBe(id);
    }),
  );
});

test("ids sort as their bytes do", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (left, right) => {
      expect(Math.sign(idToBytes(left).compare(idToBytes(right)))).toBe(
        left < right ? -1 : left > right ? 1 : 0,
      );
    }),
  );
});

test.each([
  ["nothing", ""],
  ["upper case", ID.toUpperCase()],
  ["one letter in upper case", ID.replace("b", "B")],
  ["one character less", ID.slice(1)],
  ["one character more", `${ID}0`],
  ["braces", `{${ID.slice(1, -1)}}`],
  ["no hyphens", ID.replaceAll("-", "")],
  ["hyphens elsewhere", "0190f3b27-c1a-7def-8123-456789abcdef"],
  ["a letter past f", ID.replace("a", "g")],
  ["a NUL at the end", `${ID.slice(0, -1)}\0`],
  ["a NUL after it", `${ID}\0`],
  ["a line feed after it", `${ID}\n`],
  ["a line feed in it", ID.replace("7", "\n")],
  ["white space around it", ` ${ID} `],
  ["an emoji", ID.replace("01", "🔑")],
  ["full-width digits", ID.replace("0", "０")],
  ["10 KB", "a".repeat(10_240)],
  ["10 KB that begin with an id", ID.padEnd(10_240, "0")],
  ["a path", "../../../../etc/passwd/../../../etc/"],
  ["a quote", ID.replace("0", "'")],
  ["a percent escape", ID.replace("019", "%00")],
  ["__proto__", "__proto__"],
])("%s is no id", (_, text) => {
  expect(isId(text)).toBe(false);
});

test("only 32 hexadecimal digits with four hyphens are an id", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat(35), fc.string({ minLength: 1, maxLength: 1 }), (id, at, character) => {
      const changed = id.slice(0, at) + character + id.slice(at + 1);
      const fits = [8, 13, 18, 23].includes(at) ? character === "-" : "0123456789abcdef".includes(character);
      expect(isId(changed)).toBe(fits);
    }),
  );
});
