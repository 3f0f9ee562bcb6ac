/** The languages that our pages for shoppers speak; the first is for everybody else. */
export const LANGUAGES = ["en", "de", "fr", "es", "ja"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * What the storefront asks for goes before what the browser prefers: `ui_locales` (OpenID Connect Core 3.1.2.1) has tags in
 * the order of wish, Accept-Language (RFC 9110 12.5.4) tags with weights.
 */
export function languageOf({ uiLocales = "", acceptLanguage = "" }: Wishes): Language {
  for (const tag of [...uiLocales.slice(0, MAX_LENGTH).split(" "), ...byWeight(acceptLanguage)]) {
    const known = LANGUAGES.find((language) => language === tag.toLowerCase().split("-")[0]);
    if (known) return known;
  }
  return LANGUAGES[0];
}

/** Longer than any that browsers send. What is beyond is not read: anybody may send 16 KB of commas. */
const MAX_LENGTH = 1024;

type Wishes = { uiLocales?: string | undefined; acceptLanguage?: string | undefined };

/** The most wanted first, and of equals the one that stands first; what has no weight above zero is not wanted. */
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

/** RFC 9110 12.4.2: from 0 to 1 with at most three decimals. Anything else is no weight, and the value not wanted. */
function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((text) => /^q=/i.test(text))?.slice(2);
  if (given === undefined) return 1;
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(given) ? Number(given) : 0;
}

/** What a request's query or form asks for. */
export const uiLocalesOf = (search: string): string | undefined =>
  new URLSearchParams(search).get("ui_locales") ?? undefined;
