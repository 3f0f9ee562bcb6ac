import { describe, expect, test } from "vitest";
import { languageOf } from "./language.ts";

describe("the language of a page", () => {
  test.each([
    [undefined, "en"],
    ["", "en"],
    ["it,nl;q=0.9", "en"],
    ["de-AT,en;q=0.8", "de"],
    ["en;q=0.5, ja", "ja"],
    ["fr;q=0.1,es;q=0.7", "es"],
    ["it, fr;q=0.8, de;q=0.8", "fr"],
    ["de;q=0, fr", "fr"],
    ["de;Q=0.2, fr;q=0.3", "fr"],
    ["de;q=x, fr;q=0.001", "fr"],
    ["de;q=2, fr;q=0.5", "fr"],
    ["de;q=-1, fr;q=0.5", "fr"],
    ["de;q=Infinity, fr;q=0.5", "fr"],
    ["*", "en"],
    ["*;q=0.5, de", "de"],
    ["DE", "de"],
    ["den, de-1996-x-y", "de"],
    [" , ;;q=1,\t;", "en"],
    ["__proto__,constructor", "en"],
  ])("Accept-Language %j gives %s", (acceptLanguage, language) => {
    expect(languageOf({ acceptLanguage })).toBe(language);
  });

  test.each([
    ["fr-CA fr en", "de", "fr"],
    ["it es", "de", "es"],
    ["en", "de", "en"],
    ["it", "de", "de"],
    ["", "de", "de"],
    ["de;q=0", undefined, "en"],
    ["\u0000 \ufffd", undefined, "en"],
    ["JA-jp", "fr", "ja"],
  ])("ui_locales %j has priority over Accept-Language %j: %s", (uiLocales, acceptLanguage, language) => {
    expect(languageOf({ uiLocales, acceptLanguage })).toBe(language);
  });

  test("is looked for in as much as a browser would send, and no further (T38)", () => {
    const others = Array<string>(300).fill("it");
    expect(languageOf({ acceptLanguage: [...others, "de"].join(",") })).toBe("de");
    expect(languageOf({ uiLocales: [...others, "de"].join(" ") })).toBe("de");
    const tooMany = [...others, ...others, "de"];
    expect(languageOf({ acceptLanguage: tooMany.join(",") })).toBe("en");
    expect(languageOf({ uiLocales: tooMany.join(" ") })).toBe("en");
  });
});
