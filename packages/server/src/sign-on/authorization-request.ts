import { limits } from "../contract/limits.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { Parameters } from "../lib/query-parameters.ts";
import { grantedScope } from "../realms/scopes.ts";
import { isDigest, NO_CHALLENGE, type SignOnAttempt } from "./attempt.ts";
import { signOnProblem } from "./refuse.ts";

/** The parameters of authorize that are read, beside `client_id` and `redirect_uri`. */
const READ = [
  "profile",
  "scope",
  "response_type",
  "state",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "max_age",
  "display",
  "prompt",
  "ui_locales",
  "login_hint",
  "id_token_hint",
];

/** The longest values that are passed on to the identity provider unchanged. */
const MOST_CHARACTERS = {
  display: limits.displayLength,
  prompt: limits.promptLength,
  ui_locales: limits.uiLocalesLength,
  login_hint: limits.loginHintLength,
};

/** OpenID Connect Core 6 and 7.2.1: they could contradict the others, so they are refused and not ignored. */
const REFUSED = {
  request: "request_not_supported",
  request_uri: "request_uri_not_supported",
  registration: "registration_not_supported",
} as const satisfies Record<string, SignOnReason>;

export type SignOnRequest = Pick<
  SignOnAttempt,
  "clientNonce" | "codeChallenge" | "clientState" | "maxAge"
> & {
  clientScope: string;
};

export function readSignOnRequest(asked: Parameters, { isStandard }: { isStandard: boolean }): SignOnRequest {
  for (const [name, reason] of Object.entries(REFUSED))
    if (asked.get(name) !== undefined) throw signOnProblem(reason);
  if (asked.isRepeated(...READ)) throw signOnProblem("parameter_repeated");
  for (const [name, most] of Object.entries(MOST_CHARACTERS))
    if ((asked.get(name)?.length ?? 0) > most) throw signOnProblem("parameter_too_long");
  const clientState = asked.get("state");
  if (clientState === undefined || clientState.length > limits.clientStateLength)
    throw signOnProblem("state_missing");
  const responseType = asked.get("response_type");
  if (responseType === undefined) throw signOnProblem("response_type_missing");
  if (responseType !== "code") throw signOnProblem("response_type_unsupported");
  const scopes = asked.get("scope")?.split(" ") ?? [];
  if (!scopes.includes("openid") || !(isStandard || scopes.includes("email")))
    throw signOnProblem("scope_incomplete");
  const clientNonce = asked.get("nonce") ?? null;
  const codeChallenge = readChallenge(asked, isStandard && clientNonce !== null);
  if (clientNonce !== null && (clientNonce.length > limits.clientNonceLength || /\p{Cc}/u.test(clientNonce)))
    throw signOnProblem("nonce_invalid");
  const maxAge = asked.get("max_age");
  if (maxAge !== undefined && !/^\d{1,10}$/.test(maxAge)) throw signOnProblem("max_age_invalid");
  return {
    clientState,
    clientNonce,
    codeChallenge,
    clientScope: grantedScope(scopes),
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
  };
}

/** A client that may do without PKCE leaves out both method and challenge. If it sends either, both are checked. */
function readChallenge(asked: Parameters, mayBeAbsent: boolean): string {
  const [method, challenge] = [asked.get("code_challenge_method"), asked.get("code_challenge")];
  if (method === undefined && challenge === undefined && mayBeAbsent) return NO_CHALLENGE;
  if (challenge === undefined || challenge === "") throw signOnProblem("challenge_missing");
  if (method !== "S256") throw signOnProblem("challenge_method_unsupported");
  if (!isDigest(challenge)) throw signOnProblem("challenge_invalid");
  return challenge;
}

/** The storefront's parameters that go to the identity provider, byte for byte. */
const PASSED_ON = ["display", "prompt", "ui_locales", "max_age", "login_hint"];

export const passedOn = (asked: Parameters): string =>
  PASSED_ON.map((name) => {
    const sent = asked.asSent(name);
    return sent === undefined ? "" : `&${name}=${sent}`;
  }).join("");

/** The parameters that the page of providers repeats. Its buttons name the profile. */
export const REPEATED = ["client_id", "redirect_uri", ...READ.filter((name) => name !== "profile")];
