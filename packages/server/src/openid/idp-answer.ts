import type { IdpAnswer, SignOnReason } from "../contract/sign-on-reasons.ts";
import { show } from "../lib/show.ts";
import { type JsonObject, textOf } from "./discovery.ts";

/** Errors of a provider: stored as evidence, and matched with the few causes that an administrator can remove. */

const MAX_DESCRIPTION_LENGTH = 500;
const MAX_ERROR_LENGTH = 100;
/** Texts as long as tokens, codes and secrets, and longer than any word or id. */
const SECRET = /[A-Za-z0-9_~+/=.-]{40,}/g;

/** Some providers repeat a token in an error. `sent`: the secrets of Latchkey's request. */
const safely = (text: string, sent: readonly string[], maxLength: number): string => {
  const own = sent.filter((secret) => secret.length >= 4);
  const without = own.reduce((rest, secret) => rest.replaceAll(secret, "(left out)"), text);
  return show(without.replace(SECRET, "(left out)"), maxLength);
};

type IdpError = { error: string | undefined; description: string | undefined };

export const errorIn = (document: JsonObject | undefined): IdpError => ({
  error: document && textOf(document, "error"),
  description: document && textOf(document, "error_description"),
});

export const toIdpAnswer = (
  call: IdpAnswer["call"],
  { status = null, fault = null }: { status?: number | null; fault?: string | null },
  { error, description }: Partial<IdpError> = {},
  sent: readonly string[] = [],
): IdpAnswer => ({
  call,
  status,
  fault,
  error: error === undefined ? null : safely(error, sent, MAX_ERROR_LENGTH),
  error_description: description === undefined ? null : safely(description, sent, MAX_DESCRIPTION_LENGTH),
});

const ABOUT_REDIRECT_URI = /redirect[_ ]?ur[il]|callback ur[il]/i;

/** The sign-on reason for an error in the redirect, if its words are known. */
export function reasonOfRedirect({ error, description = "" }: IdpError): SignOnReason {
  // In capitals only: "par" is French for "by".
  if (/pushed authorization|request_uri|request object/i.test(description) || /\bPAR\b/.test(description))
    return "idp_error.par_required";
  if (ABOUT_REDIRECT_URI.test(description)) return "idp_error.redirect_uri";
  if (error === "invalid_scope" || /invalid[ _]scope/i.test(description)) return "idp_error.scope";
  if (/acr_values/i.test(description)) return "idp_error.acr_required";
  const isFlow = error === "unsupported_response_type" || error === "unauthorized_client";
  if (isFlow || /(standard|authorization code) flow/i.test(description)) return "idp_error.flow_off";
  return "idp_error";
}

type TokenRefusal =
  | "client_refused"
  | "method_refused"
  | "encryption_refused"
  | "redirect_uri"
  | "flow_off"
  | "scope"
  | "refused";

/**
 * The sign-on reason for an error of the token endpoint. For an unknown client or a wrong secret some providers send
 * `invalid_client` with 400, others `unauthorized_client` with 401 or 403; with 400 that error is about the grant (RFC
 * 6749 5.2).
 */
export function refusalOf(status: number, { error, description = "" }: IdpError): TokenRefusal | undefined {
  const isClient =
    status === 401 || error === "invalid_client" || (status === 403 && error === "unauthorized_client");
  if (isClient) return wantsAnotherMethod(description) ? "method_refused" : "client_refused";
  if (error === undefined) return undefined;
  if (/encrypt|\bKEK\b|\bJWE\b/i.test(description)) return "encryption_refused";
  if (ABOUT_REDIRECT_URI.test(description)) return "redirect_uri";
  if (error === "unauthorized_client" || error === "unsupported_grant_type") return "flow_off";
  return error === "invalid_scope" ? "scope" : "refused";
}

/** Matches descriptions that name the method as the cause, not as one of several possible causes. */
const wantsAnotherMethod = (description: string): boolean =>
  /client_assertion_type is missing|supports client authentication method|token_endpoint_auth_method/i.test(
    description,
  );
