import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LANGUAGES } from "../../server/src/http/pages/language.ts";
import { ApiError, type ErrorCode } from "../src/index.ts";
import { de } from "../src/messages/de.ts";
import { es } from "../src/messages/es.ts";
import { fr } from "../src/messages/fr.ts";
import { languages, shopperMessage } from "../src/messages/index.ts";
import { ja } from "../src/messages/ja.ts";
import { tellShopper } from "../src/shopper-messages.ts";

const page = readFileSync(new URL("../../../docs/troubleshooting.md", import.meta.url), "utf8");
const [, table = ""] = /## The shopper reads a sentence[\s\S]*?\n\n([\s\S]*?)\n## /.exec(page) ?? [];
/** The rows of docs/troubleshooting.md: what the shopper reads, its codes, and its explanation. */
const rows = [...table.matchAll(/^\| “([^”]+)” ((?:`\w+`(?:, )?)+) \| ([^|]+) \|/gm)].map(
  ([, sentence = "", codes = "", means = ""]) => ({
    sentence,
    codes: [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code as ErrorCode),
    means,
  }),
);

const others = { de, es, fr, ja };
/** As the pages for shoppers say it, too. */
const USELESS: Record<string, RegExp> = {
  en: /Trying again won't help/,
  de: /Ein neuer Versuch hilft nicht/,
  es: /Intentarlo de nuevo no servirá de nada/,
  fr: /Réessayer ne changera rien/,
  ja: /やり直しても解決しません/,
};

const failed = (code: ErrorCode) => new ApiError(code, "For developers.");

describe("the messages of @latchkey/sdk/messages", () => {
  test("are in the languages of the service's pages", () => {
    expect([...languages].sort()).toEqual([...LANGUAGES].sort());
  });

  test.each(Object.entries(others))(
    "%s: every code has a message of its own language",
    (language, sentences) => {
      for (const { codes } of rows)
        for (const code of codes) {
          const message = shopperMessage(failed(code), language);
          expect(message, code).not.toBe("For developers.");
          expect(message, code).not.toBe(tellShopper(code, ""));
        }
      for (const [english, message] of Object.entries(sentences)) {
        expect(message, english).toMatch(/^\S(.*\S)?[.。]$/);
        // Typographic apostrophes, no markup, no double spaces.
        expect(message, english).not.toMatch(/[<>&`']| {2}/);
        expect(message.length, english).toBeLessThanOrEqual(150);
      }
      expect(new Set(Object.values(sentences)).size).toBe(Object.keys(sentences).length);
    },
  );

  test("docs/troubleshooting.md quotes the English ones", () => {
    expect(rows.length).toBeGreaterThan(10);
    for (const { sentence, codes } of rows)
      for (const code of codes) expect(shopperMessage(failed(code), "en"), code).toBe(sentence);
  });

  test.each(Object.entries(USELESS))(
    "%s: say that trying again does not help where docs/troubleshooting.md says so",
    (language, useless) => {
      expect(rows.some(({ means }) => means.includes("Trying again does not help"))).toBe(true);
      for (const { codes, means } of rows)
        for (const code of codes)
          expect(useless.test(shopperMessage(failed(code), language)), code).toBe(
            means.includes("Trying again does not help"),
          );
    },
  );
});

describe("shopperMessage", () => {
  test.each<[string | readonly string[], string]>([
    ["de", "E-Mail-Adresse oder Passwort ist falsch."],
    ["de-AT", "E-Mail-Adresse oder Passwort ist falsch."],
    ["JA", "メールアドレスまたはパスワードが正しくありません。"],
    [["it", "fr-CA", "de"], "L’adresse e-mail ou le mot de passe est incorrect."],
    [["en-GB", "de"], "Wrong e-mail or password."],
    ["it", "Wrong e-mail or password."],
    [[], "Wrong e-mail or password."],
    ["constructor", "Wrong e-mail or password."],
  ])("takes the first known language of %j, else English", (wanted, message) => {
    expect(shopperMessage(failed("credentials_wrong"), wanted)).toBe(message);
  });

  test("says that trying again helps after a failure of Latchkey itself, which a redirect calls server_error", () => {
    const error = new ApiError("server_error", "", { reason: "internal_error" });
    expect(shopperMessage(error, "en")).toBe("Something went wrong on our side. Please try again.");
  });

  test("keeps the service's text of an error that only a developer can correct", () => {
    expect(shopperMessage(failed("redirect_uri_unregistered"), "de")).toBe("For developers.");
  });
});
