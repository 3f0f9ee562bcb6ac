import fc from "fast-check";
import { expect, test } from "vitest";
import { readCookie } from "./cookie.ts";

const NAME = "__Host-latchkey";

test.each<[string, string | undefined, string | undefined]>([
  ["alone", `${NAME}=abc`, "abc"],
  ["among others", `a=1; ${NAME}=abc; b=2`, "abc"],
  ["without a space after the semicolon", `a=1;${NAME}=abc;b=2`, "abc"],
  ["with spaces and tabs around it", ` \t${NAME}=abc \t; b=2`, "abc"],
  ["with an equals sign in its value", `${NAME}=a=b==`, "a=b=="],
  ["with quotes, which are part of it", `${NAME}="abc"`, '"abc"'],
  ["with an empty value", `${NAME}=; b=2`, ""],
])("a cookie is found %s", (_, header, value) => {
  expect(readCookie(header, NAME)).toBe(value);
});

test.each<[string, string | undefined]>([
  ["no header", undefined],
  ["an empty header", ""],
  ["other cookies only", "a=1; b=2"],
  ["a name in another case", `${NAME.toLowerCase()}=abc`],
  ["a longer name", `x${NAME}=abc; ${NAME}x=abc`],
  ["the name without a value", NAME],
  ["a space before the equals sign", `${NAME} =abc`],
  ["the name inside another's value", `a=${NAME}=abc`],
])("there is none in %s", (_, header) => {
  expect(readCookie(header, NAME)).toBeUndefined();
});

test.each([
  [`${NAME}=ours; ${NAME}=planted`],
  [`${NAME}=planted; a=1; ${NAME}=ours`],
  [`${NAME}=same; ${NAME}=same`],
  [`${NAME}=ours; ${NAME}=`],
  [`${NAME}=1; ${NAME}=2; ${NAME}=3`],
])("two of one name count as none, whichever comes first: %s (N96, A22)", (header) => {
  expect(readCookie(header, NAME)).toBeUndefined();
});

test("no header makes it throw; two cookies with the name count as none", () => {
  fc.assert(
    fc.property(fc.string(), fc.stringMatching(/^[A-Za-z0-9_-]{1,43}$/), (header, value) => {
      readCookie(header, NAME);
      expect(readCookie(`${NAME}=${value}; ${header.replaceAll(NAME, "")}`, NAME)).toBe(value);
      expect(readCookie(`${NAME}=${value};${header};${NAME}=${value}`, NAME)).toBeUndefined();
    }),
  );
});
