import { type Exchange, exchange, type Fetch, type Wire } from "../exchange.ts";
import { wireOf } from "../wire.ts";

export type MemberCode = {
  /** Where Latchkey is: `https://keys.example`. */
  baseUrl: string;
  /** What came back to the redirect URI, after its `state` was compared. */
  code: string;
  /** The same as at authorize. */
  redirectUri: string;
  codeVerifier: string;
  fetch?: Fetch | undefined;
  onExchange?: ((exchange: Exchange) => void) | undefined;
};

/** What the console calls itself at the realm for members. */
export const CLIENT_ID = "members";

/** The access token of a member who has signed in. It is good for so many seconds; keep it in memory alone. */
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

/** Ends the access token of a member who leaves. Without it, the token is good until its time is up. */
export async function revokeMemberToken(
  options: Pick<MemberCode, "baseUrl" | "fetch" | "onExchange">,
  accessToken: string,
): Promise<void> {
  const wire = wireOf(options, (_, detail) => detail);
  // Also when the page is closed at once.
  const leaving: Wire = { ...wire, fetch: (url, init) => wire.fetch(url, { ...init, keepalive: true }) };
  const form = { client_id: CLIENT_ID, token: accessToken };
  const call = { method: "POST", path: "/oauth/revoke", form, expects: null } as const;
  const outcome = await exchange(leaving, call, undefined);
  if (outcome.error) throw outcome.error;
}
