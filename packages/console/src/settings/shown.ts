import { judgeRedirectUri } from "./redirect-uri.ts";

/** The fault of a URL for the service's pages, shown while it is typed. An empty text is valid. */
export const judgeShownUrl = (typed: string): string | undefined =>
  typed === "" ? undefined : judgeRedirectUri(typed);

export const judgeColor = (typed: string): string | undefined =>
  typed === "" || /^#[0-9a-f]{6}$/i.test(typed) ? undefined : "Enter # and six digits, such as #2f5548.";
