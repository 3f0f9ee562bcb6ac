import { expect, test } from "vitest";
import { limits } from "../../../contract/limits.ts";
import { LANGUAGES } from "../language.ts";
import { pageWords } from "./all.ts";

const textsOf = (words: object): string[] =>
  Object.values(words).flatMap((value) => (typeof value === "string" ? [value] : textsOf(value)));

test.each(LANGUAGES)(
  "%s: no text is empty or has markup or superfluous spaces, and `{shop}` is where it belongs",
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
  "%s: no text is still in English",
  (language) => {
    const [own, english] = [textsOf(pageWords[language]), textsOf(pageWords.en)];
    // Single words may be the same in two languages.
    const same = own.filter((text, at) => text === english[at] && text.includes(" "));
    expect(same).toEqual([]);
  },
);

test("the ten minutes in the texts are the lifetime of an attempt", () => {
  expect(limits.attemptSeconds).toBe(10 * 60);
});
