import { expect, test } from "vitest";
import { LANGUAGES } from "../language.ts";
import { testWords } from "./all.ts";

const textsOf = (words: object): [path: string, text: string][] =>
  Object.entries(words).flatMap(([name, value]) =>
    typeof value === "string"
      ? [[name, value] as [string, string]]
      : textsOf(value).map(([path, text]): [string, string] => [`${name}.${path}`, text]),
  );

const english = new Map(textsOf(testWords.en));

test.each(LANGUAGES)("%s has every text, none is empty or has markup or superfluous spaces", (language) => {
  const texts = textsOf(testWords[language]);
  expect(texts.map(([path]) => path)).toEqual([...english.keys()]);
  for (const [path, text] of texts) {
    expect(text).toMatch(/^\S(.*\S)?$/);
    expect(text).not.toMatch(/[<>&`]| {2}|'/);
    expect([path, text.match(/\{\w+\}/g)]).toEqual([path, english.get(path)?.match(/\{\w+\}/g) ?? null]);
  }
});

test.each(LANGUAGES.filter((language) => language !== "en"))(
  "%s: no text is still in English",
  (language) => {
    // Single words may be the same in two languages.
    const same = textsOf(testWords[language]).filter(
      ([path, text]) => text === english.get(path) && text.includes(" "),
    );
    expect(same).toEqual([]);
  },
);
