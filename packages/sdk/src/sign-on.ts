import type { Api } from "./access.ts";
import { ApiError } from "./api-error.ts";
import type { ErrorCode } from "./error-codes.ts";
import { challengeOf, randomText } from "./pkce.ts";
import type { Providers } from "./providers.ts";
import { codeToTell, readSignOnError, tellShopper } from "./shopper-messages.ts";
import { SLOT_MS, type Slots } from "./slots.ts";
import type { BegunSignOn, CustomerToken, SignOnOptions } from "./types.ts";

/**
 * A sign-on through an identity provider: builds the authorization request and redeems the code of its
 * answer.
 */

type Deps = { api: Api; slots: Slots; now: () => number };

export async function beginSignOn(
  { providers, slots, now }: Omit<Deps, "api"> & { providers: Providers },
  providerId: string | undefined,
  { redirectUri, scope = "openid email", prompt, display, uiLocales, nonce }: SignOnOptions,
): Promise<BegunSignOn> {
  const [{ client_id }, { endpoint, issuer, namesIssuer }] = await Promise.all([
    providers.settings(),
    providers.destinationOf(providerId),
  ]);
  if (!endpoint) throw failure("temporarily_unavailable");
  const verifier = randomText();
  const state = randomText();
  const parameters = {
    scope,
    response_type: "code",
    client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge_method: "S256",
    code_challenge: await challengeOf(verifier),
    ...(prompt && { prompt }),
    ...(display && { display }),
    ...(uiLocales && { ui_locales: uiLocales }),
    ...(nonce && { nonce }),
  };
  slots.keep(state, {
    verifier,
    redirectUri,
    issuer,
    namesIssuer,
    idempotencyKey: randomText(),
    begunAt: now(),
  });
  const joint = endpoint.includes("?") ? "&" : "?";
  return { url: endpoint + joint + new URLSearchParams(parameters), state };
}

/** The parameters of a redirect, without the path and the fragment. */
const readAnswer = (url: string) => new URLSearchParams(/^[^#?]*\?([^#]*)/.exec(url)?.[1]);

export function isSignOnAnswer(url: string): boolean {
  const answer = readAnswer(url);
  return !!answer.get("state") && !!(answer.get("code") || answer.get("error"));
}

/** Completes each sign-on once, because pages run effects twice and shoppers press buttons twice. */
export function openReturns(deps: Deps) {
  const returns = new Map<string, { token: Promise<CustomerToken>; at: number }>();

  return (url: string): Promise<CustomerToken> => {
    const { now } = deps;
    for (const [answer, { at }] of returns) if (at + SLOT_MS <= now()) returns.delete(answer);
    const answer = readAnswer(url);
    const name = `${answer}`;
    const known = returns.get(name);
    if (known) return known.token;
    const token = complete(deps, answer);
    returns.set(name, { token, at: now() });
    // Forgets a failure that a retry may repair: the slot still exists, so the retry sends the same Idempotency-Key.
    token.catch((error: ApiError) => isOver(error) || returns.delete(name));
    return token;
  };
}

/**
 * No retry can repair an error in the redirect, a failed check in this file, or a 400 or 422 of the service.
 */
const isOver = ({ code, status }: ApiError): boolean =>
  status === undefined ? code !== "network_failed" : status === 400 || status === 422;

async function complete({ api, slots }: Deps, answer: URLSearchParams): Promise<CustomerToken> {
  const state = answer.get("state") ?? "";
  const code = answer.get("code");
  const error = answer.get("error");
  // Pages show the reference, and anyone can write a URL: only text in the form of a reference passes.
  const reference = /^[\w-]{1,32}$/.exec(answer.get("reference") ?? "")?.[0];
  const slot = slots.find(state);
  // A shopper who goes back to a finished sign-on has no slot any more; `callback_replay` tells them that it is over.
  if (!slot) throw failure(error === "callback_replay" ? error : "state_unknown", reference);
  const iss = answer.get("iss");
  const isForeign = slot.namesIssuer ? iss !== slot.issuer : iss && slot.issuer && iss !== slot.issuer;
  if (isForeign) throw failure("issuer_mismatch");
  if (error) {
    slots.remove(state);
    const reason = /^[a-z_.]{1,64}$/.exec(answer.get("reason") ?? "")?.[0];
    throw failure(readSignOnError(error), reference, reason);
  }
  if (!code) throw failure("answer_unreadable");
  try {
    const token = await requestToken(api, slot.idempotencyKey, {
      authentication_mechanism: "oidc",
      oauth_authorization_code: code,
      oauth_redirect_uri: slot.redirectUri,
      oauth_code_verifier: slot.verifier,
    });
    slots.remove(state);
    return token;
  } catch (error) {
    if (isOver(error as ApiError)) slots.remove(state);
    throw error;
  }
}

type WireToken = { id: string; customer_id: string; token: string; expires: number };

/**
 * The service answers the same `Idempotency-Key` with the same token, so a request whose answer was lost can
 * be repeated.
 */
export async function requestToken(api: Api, idempotencyKey: string, grant: object): Promise<CustomerToken> {
  const { data } = await api<{ data: WireToken }>({
    method: "POST",
    path: "/v2/customers/tokens",
    step: "customer_token",
    data: { type: "token", ...grant },
    idempotencyKey,
  });
  const { id, customer_id, token, expires } = data;
  return { id, customerId: customer_id, token, expiresAt: expires * 1000 };
}

const failure = (code: ErrorCode, reference?: string, reason?: string): ApiError =>
  new ApiError(code, tellShopper(codeToTell(code, reason), code), { reference, reason });
