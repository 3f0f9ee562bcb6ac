/** The languages of the pages for shoppers. Readers of any other language get the first. */
export const LANGUAGES = ["en", "de", "fr", "es", "ja"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * `ui_locales` of the storefront (OpenID Connect Core 3.1.2.1, tags in order of preference) goes before the browser's
 * Accept-Language (RFC 9110 12.5.4, tags with weights).
 */
export function languageOf({ uiLocales = "", acceptLanguage = "" }: LanguageRequest): Language {
  for (const tag of [...uiLocales.slice(0, MAX_LENGTH).split(" "), ...byWeight(acceptLanguage)]) {
    const known = LANGUAGES.find((language) => language === tag.toLowerCase().split("-")[0]);
    if (known) return known;
  }
  return LANGUAGES[0];
}

/** Longer than any header of a browser. The rest is not read, because anyone can send 16 KB of commas. */
const MAX_LENGTH = 1024;

type LanguageRequest = { uiLocales?: string | undefined; acceptLanguage?: string | undefined };

/** The values in falling order of weight; equal weights keep their order. Values with weight zero are left out. */
export const byWeight = (field: string): string[] =>
  field
    .slice(0, MAX_LENGTH)
    .split(",")
    .map((part) => {
      const [value = "", ...parameters] = part.split(";").map((text) => text.trim());
      return { value, weight: weightOf(parameters) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ value }) => value);

/** RFC 9110 12.4.2: from 0 to 1 with at most three decimals. Any other text counts as zero. */
function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((text) => /^q=/i.test(text))?.slice(2);
  if (given === undefined) return 1;
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 0;
}

/** `ui_locales` of a query or a form. */
export const uiLocalesOf = (search: string): string | undefined =>
  new URLSearchParams(search).get("ui_locales") ?? undefined;
