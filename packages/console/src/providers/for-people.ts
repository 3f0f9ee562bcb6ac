import { exactly } from "../parts/text/instants.ts";

/** Words of the API in the service's texts, and what a person sees in their place at the console. */
export const SEEN_AT_CONSOLE: readonly [word: string, seen: string][] = [
  ["the profile's `callback-endpoint` link", "this provider’s redirect URI"],
  ["the `backchannel-logout-endpoint` link", "the back-channel logout URL"],
  ["in the profile; with `client_secret_next` that needs no outage", "under “Change the client secret”"],
  ["`idp_answer` has its words", "The sign-on’s record has the provider’s answer"],
  ["`checks` says", "The checks of the sign-on say"],
  ["Run the profile's checks", "Run the checks"],
];

/** A text of the service for a person at the console: instants, which are in UTC, are in the reader's time. */
export const forPeople = (text: string): string =>
  SEEN_AT_CONSOLE.reduce((before, [word, seen]) => before.replaceAll(word, seen), text).replaceAll(
    /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g,
    (instant) => exactly(instant),
  );
