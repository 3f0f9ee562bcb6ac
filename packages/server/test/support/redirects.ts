import type { Answer } from "./call.ts";
import type { Browser } from "./federation.ts";

/** Answers to a browser: where a redirect leads, and the reference on a page. */

export const newBrowser = (): Browser => ({ cookie: undefined });

export const locationOf = (answer: Answer): string => answer.headers.get("location") ?? "";

/** The target and the parameters of a redirect. */
export function redirectOf(answer: Answer): Record<string, string> {
  const location = locationOf(answer);
  const end = location.indexOf("?");
  return {
    target: location.slice(0, end),
    ...Object.fromEntries(new URLSearchParams(location.slice(end + 1))),
  };
}

export const REFERENCE = /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/;

export const referenceOnPage = (answer: Answer): string =>
  /<strong>([^<]+)<\/strong>/.exec(answer.body)?.[1] ?? "";
