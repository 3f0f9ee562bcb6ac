import { type Exchange, exchange, type Fetch, type Wire } from "../exchange.ts";
import { wireOf } from "../wire.ts";

export type MemberCode = {
  /** Where Latchkey is: `https://keys.example`. */
  baseUrl: string;
  /** `code` of the redirect. Compare `state` first. */
  code: string;
  /** As in the authorization request. */
  redirectUri: string;
  codeVerifier: string;
  fetch?: Fetch | undefined;
  onExchange?: ((exchange: Exchange) => void) | undefined;
};

/** The client id of the realm for members. */
export const CLIENT_ID = "members";

/** Exchanges a member's code for an access token. Keep the token in memory only. */
export async function redeemMemberCode(
  options: MemberCode,
): Promise<{ accessToken: string; expiresInSeconds: number }> {
  const { code, redirectUri, codeVerifier } = options;
  const wire = wireOf(options, (_, detail) => detail);
  const form = {
    grant_type: "authorization_code",
    client_id: CLIENT_ID,
    code,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  };
  const call = { method: "POST", path: "/oauth/access_token", form, expects: "access_token" } as const;
  const outcome = await exchange(wire, call, undefined);
  if (outcome.error) throw outcome.error;
  const { body } = outcome;
  return { accessToken: String(body.access_token), expiresInSeconds: Number(body.expires_in) };
}

type MemberSignIn = {
  storeId: string;
  realmId: string;
  /** False if you gave no `redirectUri`. */
  isRedirectUriRegistered: boolean;
};

/**
 * Finds the realm where members of the store sign in. Without `storeId`: of the only store that has such a
 * realm. Undefined if there is none.
 */
export async function findMemberSignIn(
  options: Pick<MemberCode, "baseUrl" | "fetch" | "onExchange">,
  { storeId, redirectUri }: { storeId?: string | undefined; redirectUri?: string | undefined },
): Promise<MemberSignIn | undefined> {
  const wire = wireOf(options, (_, detail) => detail);
  const query = new URLSearchParams({
    ...(storeId && { store: storeId }),
    ...(redirectUri && { redirect_uri: redirectUri }),
  });
  const outcome = await exchange(wire, { method: "GET", path: `/sign-on/members?${query}` }, undefined);
  if (outcome.error) throw outcome.error;
  const [found] = outcome.body.data as Record<string, unknown>[];
  return (
    found && {
      storeId: String(found.store_id),
      realmId: String(found.realm_id),
      isRedirectUriRegistered: found.redirect_uri_registered === true,
    }
  );
}

/** Revokes the access token of a member who signs out; otherwise it works until it expires. */
export async function revokeMemberToken(
  options: Pick<MemberCode, "baseUrl" | "fetch" | "onExchange">,
  accessToken: string,
): Promise<void> {
  const wire = wireOf(options, (_, detail) => detail);
  // `keepalive` sends the request even if the page closes immediately.
  const leaving: Wire = { ...wire, fetch: (url, init) => wire.fetch(url, { ...init, keepalive: true }) };
  const form = { client_id: CLIENT_ID, token: accessToken };
  const call = { method: "POST", path: "/oauth/revoke", form, expects: null } as const;
  const outcome = await exchange(leaving, call, undefined);
  if (outcome.error) throw outcome.error;
}
