import { ApiError } from "../api-error.ts";
import type { Fetch } from "../exchange.ts";
import { challengeOf, randomText } from "../pkce.ts";
import { openSlots } from "../slots.ts";
import type { BegunSignOn, StorageLike } from "../types.ts";
import { clockOf, wireOf } from "../wire.ts";
import { CLIENT_ID, redeemMemberCode } from "./member.ts";

/**
 * Signs a member in through an identity provider of the realm for members, with PKCE, and exchanges the code
 * for an access token. The caller gets the token; the SDK does not store it.
 */
export type MemberSignOnOptions = {
  /** Where Latchkey is: `https://keys.example`. */
  baseUrl: string;
  /** Keeps the state of an open sign-on: `sessionStorage` in a browser. */
  storage: StorageLike;
  fetch?: Fetch | undefined;
  now?: (() => number) | undefined;
};

export type MemberSignOn = {
  storeId: string;
  /** The store's realm whose `purpose` is `members`. */
  realmId: string;
  /** Exactly as in the realm's `redirect_uris`. */
  redirectUri: string;
  /**
   * `none`: the provider shows no page; a person without a session there comes back with `login_required`.
   */
  prompt?: string | undefined;
};

/** For `createAdmin({ baseUrl, accessToken: () => accessToken })`. */
export type MemberToken = {
  accessToken: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
};

/** Send the person to `url`. */
export async function beginMemberSignOn(
  options: MemberSignOnOptions,
  { storeId, realmId, redirectUri, prompt }: MemberSignOn,
): Promise<BegunSignOn> {
  const { now } = clockOf(options);
  const { baseUrl } = wireOf(options, (_, detail) => detail);
  const issuer = `${baseUrl}/sign-on/stores/${encodeURIComponent(storeId)}/realms/${encodeURIComponent(realmId)}`;
  const verifier = randomText();
  const state = randomText();
  openSlots(options.storage, now).keep(state, {
    verifier,
    redirectUri,
    issuer,
    namesIssuer: true,
    idempotencyKey: "",
    begunAt: now(),
  });
  const parameters = new URLSearchParams({
    scope: "openid email",
    response_type: "code",
    client_id: CLIENT_ID,
    redirect_uri: redirectUri,
    state,
    code_challenge_method: "S256",
    code_challenge: await challengeOf(verifier),
    ...(prompt && { prompt }),
  });
  return { url: `${issuer}/authorize?${parameters}`, state };
}

/** `url`: the address to which the person came back. Each answer works once. */
export async function completeMemberSignOn(options: MemberSignOnOptions, url: string): Promise<MemberToken> {
  const { now } = clockOf(options);
  const answer = new URL(url).searchParams;
  const slots = openSlots(options.storage, now);
  const slot = slots.find(answer.get("state") ?? "");
  const reference = /^[\w-]{1,32}$/.exec(answer.get("reference") ?? "")?.[0];
  if (!slot) throw new ApiError("state_unknown", "This browser has no such sign-on open.", { reference });
  slots.remove(answer.get("state") ?? "");
  if (answer.get("iss") !== slot.issuer)
    throw new ApiError("issuer_mismatch", "The answer names another issuer than the one that was asked.");
  const error = answer.get("error");
  if (error)
    throw new ApiError(error as ApiError["code"], answer.get("error_description") ?? error, { reference });
  const { accessToken, expiresInSeconds } = await redeemMemberCode({
    ...options,
    code: answer.get("code") ?? "",
    redirectUri: slot.redirectUri,
    codeVerifier: slot.verifier,
  });
  return { accessToken, expiresAt: now() + expiresInSeconds * 1000 };
}
