import type { ApiError } from "../api-error.ts";
import { codeToTell, type Sentence, sentenceOf } from "../shopper-messages.ts";
import { de } from "./de.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { ja } from "./ja.ts";

/** `@latchkey/sdk/messages`: what a shopper reads, in five languages. Not part of the storefront's bundle. */

/** The sentences of a language, by the English ones. */
const translations: Record<string, Record<Sentence, string>> = { de, es, fr, ja };

/** The languages of Latchkey's own pages, too. */
export const languages: readonly string[] = ["en", ...Object.keys(translations)];

/**
 * The message of an error in the first of `wanted` that is one of `languages`, else in English. `wanted` is a language
 * tag such as `de-AT`, or a list such as `navigator.languages`. An error that only a developer can correct keeps the
 * service's English text.
 */
export function shopperMessage(
  { code, reason, message }: Pick<ApiError, "code" | "message"> & Partial<Pick<ApiError, "reason">>,
  wanted: string | readonly string[],
): string {
  const english = sentenceOf(codeToTell(code, reason));
  if (english === undefined) return message;
  const language = [wanted]
    .flat()
    .map((tag) => tag.toLowerCase().split("-")[0] ?? "")
    .find((one) => languages.includes(one));
  return translations[language ?? ""]?.[english] ?? english;
}
