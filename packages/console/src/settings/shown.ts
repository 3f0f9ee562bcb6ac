import { judgeRedirectUri } from "./redirect-uri.ts";

/** What is wrong with what the service's own pages should show, told while it is typed. Nothing is nothing wrong. */
export const judgeShownUrl = (typed: string): string | undefined =>
  typed === "" ? undefined : judgeRedirectUri(typed);

export const judgeColor = (typed: string): string | undefined =>
  typed === "" || /^#[0-9a-f]{6}$/i.test(typed) ? undefined : "Six digits after a #: #0b5f52.";
