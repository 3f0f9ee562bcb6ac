import type { Value } from "./wire-log.ts";

/** Cuts values for the panel: long enough to tell two apart, too short to use. */

const SHOWN_CHARACTERS = 6;

export const cut = (text: string, characters = SHOWN_CHARACTERS): string =>
  text.length > characters ? `${text.slice(0, characters)}…` : text;

type Entry = { why: string; isPublic?: true };

/** The parameters of both redirects. A value is cut unless its parameter is marked public. */
const PARAMETERS: Record<string, Entry> = {
  profile: { why: "which provider" },
  scope: { why: "what is asked for: openid and email always, the name too", isPublic: true },
  response_type: {
    why: "a code, not a token: nothing of worth passes through the address bar",
    isPublic: true,
  },
  client_id: { why: "which store's customers" },
  redirect_uri: { why: "where to come back to; registered, and compared byte for byte", isPublic: true },
  code_challenge_method: { why: "how the challenge was made: SHA-256", isPublic: true },
  code_challenge: {
    why: "the hash of a verifier that stays in this browser (PKCE): a stolen code is of no use",
  },
  nonce: { why: "comes back in the ID token, so that it cannot be another's" },
  display: { why: "passed on to the provider unchanged: it may show a small page", isPublic: true },
  prompt: { why: "passed on to the provider unchanged", isPublic: true },
  ui_locales: { why: "passed on to the provider unchanged", isPublic: true },
  state: { why: "ties the answer to the question: one for each sign-on, so tabs do not mix" },
  code: { why: "works once, for a minute, and only together with the verifier" },
  iss: { why: "who answers; must be the one that was asked (RFC 9207)", isPublic: true },
  error: { why: "why not, in one word", isPublic: true },
  error_description: { why: "the same for developers", isPublic: true },
  reason: { why: "the same in the word that the record has", isPublic: true },
  reference: { why: "what a shopper can tell support; it finds the record", isPublic: true },
};

const MAX_PUBLIC_CHARACTERS = 120;

export function parameterValues(parameters: URLSearchParams): Value[] {
  return [...parameters].map(([name, value]) => {
    const known = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    return {
      name: cut(name, 40),
      value: known?.isPublic ? cut(shortIds(value), MAX_PUBLIC_CHARACTERS) : cut(value),
      why: known?.why ?? "not one that this page knows",
    };
  });
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const shortIds = (text: string): string => text.replaceAll(UUID, (id) => cut(id));

/** A URL without its query and with its ids cut, so that it fits on a line. */
export function shortUrl(url: string, form: "path" | "whole"): string {
  const { origin, pathname } = new URL(url);
  return shortIds(form === "path" ? pathname : `${origin}${pathname}`);
}
