import { readCookie } from "../lib/cookie.ts";
import type { Keyring } from "../lib/keyring.ts";
import { withParameters } from "../lib/query-parameters.ts";
import type { Metadata } from "../openid/discovery.ts";
import type { Profile } from "../profiles/profile.ts";
import { issuerOf } from "../realms/issuer.ts";
import {
  browserCookie,
  browserCookieName,
  browserCookies,
  challengeOf,
  digest,
  idpSecretsOf,
  isDigest,
  newBrowserValue,
} from "./attempt.ts";

type Deps = { publicUrl: string; keyring: Keyring };

/** Ties the sign-on to this browser: by the value in its cookie, or by a new value and cookie. */
export function knowBrowser(
  { publicUrl }: Pick<Deps, "publicUrl">,
  cookieHeader: string | undefined,
): { digest: string; answer: { setCookies?: string[] } } {
  const sent = readCookie(cookieHeader, browserCookieName(publicUrl));
  if (isDigest(sent)) return { digest: digest(sent), answer: {} };
  const made = newBrowserValue();
  const madeDigest = digest(made);
  return { digest: madeDigest, answer: { setCookies: browserCookies(publicUrl, made, madeDigest) } };
}

/** Deletes the cookies that tie sign-ons to this browser. Sign-ons that began in it can then no longer be finished. */
export function forgetBrowser(
  { publicUrl }: Pick<Deps, "publicUrl">,
  cookieHeader: string | undefined,
): string[] {
  const shared = browserCookieName(publicUrl);
  const isOwn = new RegExp(`^${shared}(\\.[\\w-])?$`);
  const sent = (cookieHeader ?? "").split(";").map((pair) => pair.split("=")[0]?.trim() ?? "");
  const own = new Set(sent.filter((name) => isOwn.test(name)));
  return [...own].map((name) => browserCookie(publicUrl, name, "", "; Max-Age=0"));
}

/** The URL of the provider's authorization endpoint. The provider sends `idpState` back. */
export function idpRequest(
  deps: Deps,
  profile: Profile,
  metadata: Metadata,
  { idpState, attemptId, scope }: { idpState: string; attemptId: string; scope: string },
): string {
  const { idpNonce, idpVerifier } = idpSecretsOf(deps.keyring, idpState, attemptId);
  return withParameters(metadata.authorizationEndpoint, {
    scope,
    response_type: "code",
    client_id: profile.client_id,
    redirect_uri: callbackUrl(deps, profile),
    state: idpState,
    nonce: idpNonce,
    code_challenge_method: "S256",
    code_challenge: challengeOf(idpVerifier),
  });
}

/** The redirect URI to register at the provider. Each profile has its own, so providers cannot be mixed up. */
export const callbackUrl = (
  deps: { publicUrl: string },
  { store_id: storeId, realm_id: realmId, id }: Pick<Profile, "store_id" | "realm_id" | "id">,
): string => `${issuerOf(deps, storeId, realmId)}/profiles/${id}/callback`;
