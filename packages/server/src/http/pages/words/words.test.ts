import { expect, test } from "vitest";
import { limits } from "../../../contract/limits.ts";
import { LANGUAGES } from "../language.ts";
import { pageWords } from "./all.ts";

const textsOf = (words: object): string[] =>
  Object.values(words).flatMap((value) => (typeof value === "string" ? [value] : textsOf(value)));

test.each(LANGUAGES)(
  "%s: nothing is empty, has spaces too many or markup, and the shop's name has its place",
  (language) => {
    const words = pageWords[language];
    for (const text of textsOf(words)) {
      expect(text).toMatch(/^\S(.*\S)?$/);
      expect(text).not.toMatch(/[<>&`]| {2}|'/);
    }
    for (const text of [words.backTo, words.signOut.heading]) expect(text.split("{shop}")).toHaveLength(2);
  },
);

test.each(LANGUAGES.filter((language) => language !== "en"))(
  "%s: nothing was left in English",
  (language) => {
    const [own, english] = [textsOf(pageWords[language]), textsOf(pageWords.en)];
    // Names of things are the same in several languages.
    const same = own.filter((text, at) => text === english[at] && text.includes(" "));
    expect(same).toEqual([]);
  },
);

test("the ten minutes that the pages speak of are those of an attempt", () => {
  expect(limits.attemptSeconds).toBe(10 * 60);
});
